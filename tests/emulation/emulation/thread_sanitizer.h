// The scheduler's calls of ThreadSanitizer. Only files of the scheduler include this; they are compiled without
// ThreadSanitizer.
#pragma once

#if defined(FERRULE_EMULATION_TSAN)
#include <sanitizer/tsan_interface.h>
extern "C" void AnnotateIgnoreReadsBegin(const char* file, int line);
extern "C" void AnnotateIgnoreReadsEnd(const char* file, int line);
extern "C" void AnnotateIgnoreWritesBegin(const char* file, int line);
extern "C" void AnnotateIgnoreWritesEnd(const char* file, int line);
#endif

namespace emulation {

// Orders what threads did before they arrived before what others do after they went on, for ThreadSanitizer.
inline void release(void* token) {
#if defined(FERRULE_EMULATION_TSAN)
  __tsan_release(token);
#endif
  static_cast<void>(token);
}
inline void acquire(void* token) {
#if defined(FERRULE_EMULATION_TSAN)
  __tsan_acquire(token);
#endif
  static_cast<void>(token);
}

// Hides the emulator's own accesses, such as those of memcpy and malloc, from ThreadSanitizer: they are made by
// whichever GPU thread calls it.
struct Unseen {
#if defined(FERRULE_EMULATION_TSAN)
  Unseen() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~Unseen() {
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  }
#else
  Unseen() {}
  ~Unseen() {}
#endif
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;
};

}  // namespace emulation
