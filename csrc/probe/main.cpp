// ferrule-probe: opens one module in its own process and prints a verdict as one line of JSON.
#include "module_file/program_arguments.h"
#include "probe/supervisor.h"
#include "probe/worker.h"

#include <fmt/format.h>
#include <charconv>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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

std::optional<Arguments> parse(const std::vector<std::string>& texts) {
  Arguments arguments;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    const auto value = i + 1 < texts.size() ? number(texts[i + 1]) : std::nullopt;
    if (text == "--life") {
      arguments.life = 0;  // the standard input
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

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> texts = ferrule::program_arguments(count, words);
  // Windows has no fork: the supervisor starts this program a second time, as the worker.
  if (texts.size() == 4 && texts[0] == ferrule::probe::worker_option)
    ferrule::probe::work(texts[3], static_cast<intptr_t>(number(texts[1]).value_or(0)), texts[2]);
  const auto arguments = parse(texts);
  if (!arguments) {
    std::fputs(usage, stderr);
    return 2;
  }
  ferrule::probe::leave_caller();
  const nlohmann::json verdict = ferrule::probe::supervise(arguments->module, arguments->limits, arguments->life);
  const std::string line = verdict.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
