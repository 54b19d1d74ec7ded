// ferrule-probe: opens one module in its own process and prints a verdict as one line of JSON.
#include "probe/supervisor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <csignal>
#endif

namespace {

constexpr const char* usage =
    "usage: ferrule-probe [--milliseconds N] [--mebibytes N] [--life] FILE\n"
    "Opens a ferrule module in a process of its own: lists its devices, computes on each, and prints a verdict as "
    "JSON.\n"
    "With --life it ends everything when its standard input is closed.\n";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

struct Arguments {
  ferrule::probe::Limits limits;
  std::string module;
  int life = -1;
};

std::optional<Arguments> parse(int count, char** texts) {
  Arguments arguments;
  for (int i = 1; i < count; ++i) {
    const std::string_view text = texts[i];
    const auto value = i + 1 < count ? number(texts[i + 1]) : std::nullopt;
    if (text == "--life") {
      arguments.life = STDIN_FILENO;
    } else if (text == "--milliseconds" && value && *value <= 86'400'000) {
      arguments.limits.seconds = static_cast<double>(*value) / 1000, ++i;
    } else if (text == "--mebibytes" && value && *value < (uint64_t{1} << 40)) {
      arguments.limits.bytes = *value << 20, ++i;
    } else if (arguments.module.empty() && !text.starts_with("--")) {
      arguments.module = text;
    } else {
      return std::nullopt;
    }
  }
  return arguments.module.empty() ? std::nullopt : std::optional(arguments);
}

// Closes descriptors that were inherited from the program that started the probe.
void close_the_rest() {
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) == 0) return;
#endif
  for (int descriptor = STDERR_FILENO + 1; descriptor < 1024; ++descriptor) close(descriptor);
}

}  // namespace

int main(int count, char** texts) {
  const auto arguments = parse(count, texts);
  if (!arguments) {
    std::fputs(usage, stderr);
    return 2;
  }
  close_the_rest();
  // Ctrl-C is meant for the program that waits for the probe; when that ends, the probe's standard input is closed.
  setsid();
  const nlohmann::json verdict = ferrule::probe::supervise(arguments->module, arguments->limits, arguments->life);
  const std::string line = verdict.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
