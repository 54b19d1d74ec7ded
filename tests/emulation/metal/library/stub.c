/* Compiled with each library: passes calls on to the emulator that has loaded it. */
#include "metal/library/host.h"

#include <string.h>

__attribute__((visibility("default"))) const struct ferrule_host* ferrule_host;
__attribute__((visibility("default"))) const unsigned ferrule_version = FERRULE_HOST_VERSION;

void ferrule_host_barrier(const char* function, unsigned line, unsigned column) {
  const struct ferrule_place at = {function, line, column};
  ferrule_host->threadgroup_barrier(&at);
}
unsigned ferrule_host_meet(const char* function, unsigned line, unsigned column, const void* value, unsigned bytes,
                           void* all) {
  const struct ferrule_place at = {function, line, column};
  return ferrule_host->meet(&at, value, bytes, all);
}
void ferrule_host_poll(const char* function, unsigned line, unsigned column) {
  const struct ferrule_place at = {function, line, column};
  ferrule_host->poll(&at);
}
void* ferrule_host_threadgroup(unsigned declaration, unsigned long bytes) {
  return ferrule_host->threadgroup_memory(declaration, bytes);
}
void ferrule_host_fail(const char* function, unsigned line, unsigned column, const char* what) {
  const struct ferrule_place at = {function, line, column};
  ferrule_host->fail(&at, what);
}
unsigned ferrule_host_lane(void) { return ferrule_host->lane(); }

/* Rounds a number to the nearest bfloat, to even, as clang's code asks for where a processor cannot. The result is the
   lower half of the register of a float. */
float __truncsfbf2(float value) {
  union {
    float value;
    unsigned bits;
  } both = {value};
  if ((both.bits & 0x7fffffffU) > 0x7f800000U)
    both.bits = both.bits >> 16 | 0x40U; /* a quiet NaN */
  else
    both.bits = (both.bits + 0x7fffU + (both.bits >> 16 & 1U)) >> 16;
  return both.value;
}

/* clang's ThreadSanitizer calls these. g++'s runtime, which runs it, has no such names, and sees those of C. */
void* __tsan_memcpy(void* to, const void* from, size_t bytes) { return memcpy(to, from, bytes); }
void* __tsan_memmove(void* to, const void* from, size_t bytes) { return memmove(to, from, bytes); }
void* __tsan_memset(void* to, int value, size_t bytes) { return memset(to, value, bytes); }
