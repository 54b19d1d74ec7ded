/* A library needed by a module or by another such library. It records when it is opened and sets the time of the file
 * named by FERRULE_TEST_TOUCHES. */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#if defined(_WIN32)
#include <sys/utime.h>
#define TEST_EXPORT __declspec(dllexport)
#else
#include <fcntl.h>
#include <sys/stat.h>
#define TEST_EXPORT __attribute__((visibility("default")))
#endif

__attribute__((constructor)) static void opened(void) {
  const char *touched = getenv("FERRULE_TEST_TOUCHES");
#if defined(_WIN32)
  if (touched != NULL) _utime(touched, NULL);
#else
  if (touched != NULL) utimensat(AT_FDCWD, touched, NULL, 0);
#endif
  const char *path = getenv("FERRULE_TEST_NOTES");
  FILE *file = path != NULL ? fopen(path, "ab") : NULL;
  if (file == NULL) return;
  fputs("opened " TEST_NAME "\n", file);
  fclose(file);
}

TEST_EXPORT extern int TEST_SYMBOL;
#ifdef TEST_NEEDS
extern int TEST_NEEDS;
int *needed_by_library = &TEST_NEEDS;
#endif
int TEST_SYMBOL = 1;
