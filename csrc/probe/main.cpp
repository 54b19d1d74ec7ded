// ferrule-probe: opens one module in its own process and prints a verdict as one line of JSON.
#include "module_file/program_arguments.h"
#include "probe/supervisor.h"
#include "probe/worker.h"
#include "probe/worker_system.h"

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
    "usage: ferrule-probe [--milliseconds N] [--mebibytes N] [--life] [--library-folder FOLDER] FILE\n"
    "Opens a ferrule module in a process of its own: lists its devices, computes on each, and prints a verdict as "
    "JSON.\n"
    "With --life it ends everything when its standard input is closed. Windows also searches FOLDER for the "
    "libraries that the module needs.\n";

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc() && end == text.data() + text.size() && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<ferrule::probe::Trial> parse(const std::vector<std::string>& texts) {
  ferrule::probe::Trial trial;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string_view text = texts[i];
    const auto value = i + 1 < texts.size() ? number(texts[i + 1]) : std::nullopt;
    if (text == "--life") {
      trial.life = 0;  // the standard input
    } else if (text == "--milliseconds" && value && *value <= 86'400'000) {
      trial.limits.seconds = static_cast<double>(*value) / 1000, ++i;
    } else if (text == "--mebibytes" && value && *value < (uint64_t{1} << 40)) {
      trial.limits.bytes = *value << 20, ++i;
    } else if (text == "--library-folder" && i + 1 < texts.size()) {
      trial.library_folder = texts[++i];
    } else if (trial.module.empty() && !text.starts_with("--")) {
      trial.module = text;
    } else {
      return std::nullopt;
    }
  }
  return trial.module.empty() ? std::nullopt : std::optional(trial);
}

}  // namespace

int main(int count, char** words) {
  const std::vector<std::string> texts = ferrule::program_arguments(count, words);
  // Windows has no fork: the supervisor starts this program a second time, as the worker.
  if (texts.size() == 5 && texts[0] == ferrule::probe::worker_option) {
    ferrule::probe::search_for_libraries_in(texts[4]);
    ferrule::probe::work(texts[3], static_cast<intptr_t>(number(texts[1]).value_or(0)), texts[2]);
  }
  const auto trial = parse(texts);
  if (!trial) {
    std::fputs(usage, stderr);
    return 2;
  }
  ferrule::probe::leave_caller();
  const nlohmann::json verdict = ferrule::probe::supervise(*trial);
  const std::string line = verdict.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  std::fwrite(line.data(), 1, line.size(), stdout);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
