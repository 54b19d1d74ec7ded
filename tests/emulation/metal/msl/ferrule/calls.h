// The emulator's functions that MSL code calls (library/host.h, library/stub.c), in C.
#pragma once

// The place of a call in the text: the last parameters of functions that may meet other threads.
#define ferrule_place unsigned ferrule_line = __builtin_LINE(), unsigned ferrule_column = __builtin_COLUMN()
#define ferrule_at ferrule_line, ferrule_column

extern "C" {
void ferrule_host_barrier(const __constant char* function, unsigned line, unsigned column);
unsigned ferrule_host_meet(const __constant char* function, unsigned line, unsigned column, const thread void* value,
                           unsigned bytes, thread void* all);
void ferrule_host_poll(const __constant char* function, unsigned line, unsigned column);
threadgroup void* ferrule_host_threadgroup(unsigned declaration, unsigned long bytes);
void ferrule_host_fail(const __constant char* function, unsigned line, unsigned column, const __constant char* what);
unsigned ferrule_host_lane(void);
}

ferrule_inline threadgroup void* ferrule_metal_threadgroup(unsigned declaration, unsigned long bytes) {
  return ferrule_host_threadgroup(declaration, bytes);
}
