#include "emulation/environment.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <system_error>

namespace emulation {

void refuse(const char* variable, const char* text, const char* wanted) {
  std::fprintf(stderr, "%s=%s: %s is needed\n", variable, text, wanted);
  std::_Exit(1);
}

namespace {

std::chrono::seconds read_block_limit() {
  constexpr const char* variable = "FERRULE_EMULATION_BLOCK_SECONDS";
  constexpr unsigned usual = 60, most = 1'000'000;
  const char* const text = std::getenv(variable);
  if (text == nullptr) return std::chrono::seconds(usual);
  const std::string_view digits = text;
  unsigned seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  if (error != std::errc() || end != digits.data() + digits.size()) refuse(variable, text, "a number");
  if (seconds > most) refuse(variable, text, "0 to 1000000");
  return std::chrono::seconds(seconds);
}

}  // namespace

std::chrono::seconds block_limit() {
  static const std::chrono::seconds limit = read_block_limit();
  return limit;
}

}  // namespace emulation
