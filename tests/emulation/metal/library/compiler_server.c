// Loaded into clang by LD_PRELOAD, this makes it a server: clang starts once (20 ms, most of which the dynamic linker
// takes) and a fork of it serves each request. A request is one message on descriptor 3: the arguments, each with its
// NUL, and three descriptors: standard output, standard error, and a pipe for the exit status (an int).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

typedef int Main(int, char**, char**);
typedef int StartMain(Main*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

enum { requests = 3, most_bytes = 1 << 16, most_arguments = 1024 };
static Main* clang_main;
static char bytes[most_bytes];

static void report(int status, void* pipe) {
  if (write((int)(long)pipe, &status, sizeof status) < 0) _exit(1);
}

static int serve_one(const int* descriptors, long length, char** environment) {
  static char* arguments[most_arguments + 1];
  int count = 0;
  for (long at = 0; at < length && count < most_arguments; at += (long)strlen(bytes + at) + 1)
    arguments[count++] = bytes + at;
  close(requests);
  signal(SIGCHLD, SIG_DFL);
  dup2(descriptors[0], STDOUT_FILENO);
  dup2(descriptors[1], STDERR_FILENO);
  on_exit(report, (void*)(long)descriptors[2]);
  return clang_main(count, arguments, environment);
}

static int serve(int argc, char** argv, char** environment) {
  (void)argc, (void)argv;
  unsetenv("LD_PRELOAD");    // the linker is no server
  signal(SIGCHLD, SIG_IGN);  // no zombies
  for (;;) {
    union {
      struct cmsghdr alignment;
      char bytes[CMSG_SPACE(3 * sizeof(int))];
    } control;
    struct iovec part = {bytes, sizeof bytes - 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const long length = recvmsg(requests, &message, MSG_CMSG_CLOEXEC);
    if (length <= 0) return 0;  // the client has ended
    bytes[length] = 0;
    const struct cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (head == NULL || head->cmsg_len != CMSG_LEN(3 * sizeof(int))) return 1;
    int descriptors[3];
    memcpy(descriptors, CMSG_DATA(head), sizeof descriptors);
    if (fork() == 0) return serve_one(descriptors, length, environment);
    for (int i = 0; i < 3; ++i) close(descriptors[i]);
  }
}

__attribute__((visibility("default"))) int __libc_start_main(Main* main, int argc, char** argv, void (*init)(void),
                                                             void (*fini)(void), void (*rtld_fini)(void),
                                                             void* stack_end) {
  StartMain* const start = (StartMain*)dlsym(RTLD_NEXT, "__libc_start_main");
  clang_main = main;
  return start(serve, argc, argv, init, fini, rtld_fini, stack_end);
}
