// The common part of the emulated libraries beside the runtime (NVRTC, cuBLASLt), which are not linked with the
// runtime.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#define FERRULE_EXPORTED extern "C" [[gnu::visibility("default")]]

namespace emulation {

// An environment variable; empty if it is not set.
inline std::string variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

// Writes the name of a function that is called into FERRULE_EMULATION_LOG, as a line, as the emulated runtime does.
inline void log_call(const char* function) {
  const std::string file = variable("FERRULE_EMULATION_LOG"), line = std::string(function) + "\n";
  if (file.empty()) return;
  const int descriptor = ::open(file.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return;
  static_cast<void>(!::write(descriptor, line.data(), line.size()));
  ::close(descriptor);
}

}  // namespace emulation
