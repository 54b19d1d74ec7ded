/* The emulator's functions that compiled kernels call. Included by the emulator (C++) and by the part in C that is
   compiled with each library (stub.c). */
#pragma once

struct ferrule_place { /* of a call in the text */
  const char* function;
  unsigned line, column;
};

struct ferrule_host {
  void (*threadgroup_barrier)(const struct ferrule_place* at);
  /* All lanes of the SIMD-group give `bytes` bytes, up to 32; `all` gets 32 values. Returns who took part. */
  unsigned (*meet)(const struct ferrule_place* at, const void* value, unsigned bytes, void* all);
  void (*poll)(const struct ferrule_place* at);
  void* (*threadgroup_memory)(unsigned declaration, unsigned long bytes);
  void (*fail)(const struct ferrule_place* at, const char* what);
  unsigned (*lane)(void);
};

/* The version of this structure and of ferrule_call (msl/ferrule/entries.h): a program that was built before they
   changed cannot run libraries of the new headers. */
#define FERRULE_HOST_VERSION 2u
