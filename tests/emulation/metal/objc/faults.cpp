#include "metal/objc/faults.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>

namespace objc {

namespace {

constinit std::mutex mutex;
std::string& recorded() {
  static auto& text = *new std::string();
  return text;
}

}  // namespace

void report_fault(const std::string& text) {
  const char* const choice = std::getenv("FERRULE_EMULATION_METAL_FAULTS");
  const std::scoped_lock lock(mutex);
  if (choice == nullptr || std::string_view(choice) != "collect") {
    std::fprintf(stderr, "simulated Metal: %s\n", text.c_str());
    std::abort();
  }
  std::string line = text;
  std::replace(line.begin(), line.end(), '\n', ' ');
  recorded() += line + '\n';
}

std::string recorded_faults() {
  const std::scoped_lock lock(mutex);
  return recorded();
}

void forget_faults() {
  const std::scoped_lock lock(mutex);
  recorded().clear();
}

}  // namespace objc
