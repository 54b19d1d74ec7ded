/* Hides Vulkan's loader library from the process, by LD_AUDIT. */
#define _GNU_SOURCE
#include <link.h>
#include <string.h>

unsigned la_version(unsigned version) { return version; }

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned flag) {
  (void)cookie, (void)flag;
  return strstr(name, "libvulkan.so") != NULL ? NULL : (char *)name;
}
