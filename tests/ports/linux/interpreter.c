/* Makes an interpreter of a program that contains CPython and is no interpreter: linked to it, this library runs Python
 * with the program's arguments in place of its main(), if its file is named python*. The program has CPython's API, but
 * not the main() of python. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Main(int count, char **words, char **environment);

/* As in CPython's headers. */
typedef struct {
  int type; /* 0: no error */
  const char *function, *message;
  int exit_status;
} PyStatus;
static union {
  char bytes[16384]; /* more than PyConfig has */
  max_align_t aligned;
} config;

static void *function(const char *name) {
  void *found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL) {
    fprintf(stderr, "this program has no %s\n", name);
    exit(2);
  }
  return found;
}

/* Does what python does for -c, -m and a file, after the options that CPython's configuration has read. */
static const char *const run =
    "def _run():\n"
    "    import os, runpy, sys\n"
    "    words = sys.orig_argv[1:]\n"
    "    while words and words[0][:2] in ('-B', '-E', '-I', '-O', '-P', '-S', '-W', '-X', '-i', '-q', '-s', '-u'):\n"
    "        words = words[2 if words[0] in ('-W', '-X') else 1:]\n"
    "    kind = words[0] if words and words[0] != '-' else ''\n"
    "    beside = '' if kind in ('', '-c') else os.getcwd() if kind == '-m' else "
    "os.path.dirname(os.path.abspath(kind))\n"
    "    if not sys.flags.safe_path:\n"
    "        sys.path.insert(0, beside)\n"
    "    if kind in ('', '-c'):\n"
    "        sys.argv = ['-c'] + words[2:]\n"
    "        code = words[1] if kind else sys.stdin.read()\n"
    "        exec(compile(code, '<string>', 'exec'), sys.modules['__main__'].__dict__)\n"
    "    elif kind == '-m':\n"
    "        sys.argv = words[1:]\n"
    "        runpy.run_module(words[1], run_name='__main__', alter_sys=True)\n"
    "    else:\n"
    "        sys.argv = words\n"
    "        with open(kind, 'rb') as file:\n"
    "            sys.modules['__main__'].__file__ = kind\n"
    "            exec(compile(file.read(), kind, 'exec'), sys.modules['__main__'].__dict__)\n"
    "_run()\n";

static int python_main(int count, char **words, char **environment) {
  (void)environment;
  ((void (*)(void *))function("PyConfig_InitPythonConfig"))(config.bytes);
  PyStatus (*set_arguments)(void *, intptr_t, char **) = function("PyConfig_SetBytesArgv");
  PyStatus status = set_arguments(config.bytes, count, words);
  PyStatus (*initialise)(void *) = function("Py_InitializeFromConfig");
  if (status.type == 0) status = initialise(config.bytes);
  if (status.type != 0) {
    if (status.message != NULL) fprintf(stderr, "%s\n", status.message);
    return status.message != NULL ? 2 : status.exit_status;
  }
  const int failed = ((int (*)(const char *, void *))function("PyRun_SimpleStringFlags"))(run, NULL);
  const int unwritten = ((int (*)(void))function("Py_FinalizeEx"))();
  return failed != 0 ? 1 : unwritten != 0 ? 120 : 0;
}

int __libc_start_main(Main *own_main, int count, char **words, void (*start)(void), void (*end)(void),
                      void (*end_of_loader)(void), void *stack_end) {
  int (*real)(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *) =
      dlsym(RTLD_NEXT, "__libc_start_main");
  const char *slash = strrchr(words[0], '/');
  const char *name = slash != NULL ? slash + 1 : words[0];
  return real(strncmp(name, "python", 6) == 0 ? python_main : own_main, count, words, start, end, end_of_loader,
              stack_end);
}
