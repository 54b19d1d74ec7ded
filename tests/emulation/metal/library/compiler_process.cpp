#include "metal/library/compiler_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <stdexcept>

namespace emulation::metal {
namespace {

[[noreturn]] void fail(const char* what) { throw std::runtime_error(std::string("clang: ") + what); }

class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) fail("no pipe can be made");
  }
  ~Pipe() {
    close_writer();
    ::close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  int reader() const { return ends_[0]; }
  int writer() const { return ends_[1]; }
  void close_writer() {
    if (ends_[1] >= 0) ::close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// Reads what there is; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 8192> bytes;
  const ssize_t count = ::read(descriptor, bytes.data(), bytes.size());
  if (count > 0) text.append(bytes.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && errno == EINTR);
}

// The server ends when the last process that has this end of the socket ends; forks of this process share it.
int start_server(const char* clang) {
  std::array<int, 2> ends;
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) fail("no socket can be made");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
  // The library that makes it a server, without the sanitizers that this process may preload.
  std::string preload = "LD_PRELOAD=" FERRULE_EMULATION_METAL_SERVER;
  std::vector<char*> environment;
  for (char** one = environ; *one != nullptr; ++one)
    if (std::strncmp(*one, "LD_PRELOAD=", 11) != 0) environment.push_back(*one);
  environment.push_back(preload.data());
  environment.push_back(nullptr);
  std::array<char*, 2> arguments = {const_cast<char*>(clang), nullptr};
  pid_t process = 0;
  const int failed = ::posix_spawn(&process, clang, &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  if (failed == 0) return ends[0];
  ::close(ends[0]);
  fail("it cannot be started");
}

// False if the server has ended.
bool send_request(int socket, std::string& bytes, const std::array<int, 3>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof descriptors)> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof descriptors);
  std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof descriptors);
  while (::sendmsg(socket, &message, MSG_NOSIGNAL) < 0)
    if (errno != EINTR) return false;
  return true;
}

void request(std::string bytes, const std::array<int, 3>& descriptors) {
  static std::mutex mutex;
  static int socket = -1;
  const std::lock_guard lock(mutex);
  if (socket >= 0 && send_request(socket, bytes, descriptors)) return;
  if (socket >= 0) ::close(socket);
  socket = -1;
  socket = start_server(bytes.c_str());
  if (!send_request(socket, bytes, descriptors)) fail("it takes no requests");
}

}  // namespace

CompilerResult run_compiler(const std::vector<std::string>& arguments) {
  std::string bytes;
  for (const std::string& one : arguments) bytes += one + '\0';
  Pipe output, errors, status;
  request(std::move(bytes), {output.writer(), errors.writer(), status.writer()});
  CompilerResult result;
  std::string end;
  const std::array<Pipe*, 3> pipes = {&output, &errors, &status};
  const std::array<std::string*, 3> texts = {&result.output, &result.errors, &end};
  std::array<pollfd, 3> open{};
  for (std::size_t i = 0; i < open.size(); ++i) {
    pipes[i]->close_writer();
    open[i] = {pipes[i]->reader(), POLLIN, 0};
  }
  const auto is_open = [](const pollfd& one) { return one.fd >= 0; };
  while (std::any_of(open.begin(), open.end(), is_open)) {
    if (::poll(open.data(), open.size(), -1) < 0 && errno != EINTR) break;
    for (std::size_t i = 0; i < open.size(); ++i)
      if (open[i].revents != 0 && !read_some(open[i].fd, *texts[i])) open[i].fd = -1;
  }
  int code = -1;  // without a status the run has crashed
  if (end.size() == sizeof code) std::memcpy(&code, end.data(), sizeof code);
  result.succeeded = code == 0;
  return result;
}

}  // namespace emulation::metal
