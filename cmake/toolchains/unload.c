/* What crtbeginS.o does in files that GCC links, and zig leaves out: an unloaded library first runs what it gave to
   atexit(), and the destructors of its static objects. Otherwise the process runs them when it ends, and crashes. */
extern void __cxa_finalize(void *library);

__attribute__((visibility("hidden"))) void *__dso_handle = &__dso_handle;

__attribute__((destructor)) static void finalize(void) { __cxa_finalize(&__dso_handle); }
