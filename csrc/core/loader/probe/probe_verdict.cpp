#include "core/loader/probe/probe_verdict.h"

#include "core/cache/disk_cache.h"
#include "core/environment.h"
#include "core/error.h"
#include "core/json_object.h"
#include "core/loader/probe/probe_process.h"
#include "core/platform/libraries/library_paths.h"
#include "core/platform/machine/system_state.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>

namespace ferrule {
namespace {

constexpr const char* cache_kind = "verdict";
constexpr std::array kind_words = {"passed", "refused", "failed", "timeout"};
constexpr int64_t seconds_that_a_passing_fault_holds = 600;

int64_t seconds_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

VerdictKind kind_of(const std::string& word) {
  const auto found = std::find(kind_words.begin(), kind_words.end(), word);
  if (found == kind_words.end()) fail(FE_IO, "its probe answered '{}', which is not a verdict", word);
  return static_cast<VerdictKind>(found - kind_words.begin());
}

JsonDocument answer_in(const std::string& line) {
  try {
    return parse_json(line);
  } catch (const Error& error) {
    fail(FE_IO, "the answer of its probe cannot be read: {}", error.what());
  }
}

// Windows searches the folder of the program for libraries that a module opens; elsewhere the environment says where.
std::string folder_of_program() {
#if defined(_WIN32)
  return path_to_text(executable_dir());
#else
  return "";
#endif
}

}  // namespace

Verdict verdict_from(const std::string& line) {
  const JsonDocument document = answer_in(line);
  try {
    const nlohmann::json& object = *document;
    Verdict verdict;
    verdict.kind = kind_of(object.at("verdict").get<std::string>());
    verdict.reason = object.at("reason").get<std::string>();
    verdict.code = static_cast<fe_code>(object.value("code", static_cast<int>(FE_OK)));
    verdict.notes = object.value("notes", std::vector<std::string>());
    verdict.output = object.value("output", "");
    verdict.leaves_threads = object.value("threads", uint64_t{0}) > 0;
    verdict.may_pass =
        verdict.kind == VerdictKind::timeout || verdict.kind == VerdictKind::refused || object.value("may_pass", false);
    return verdict;
  } catch (const nlohmann::json::exception& error) {
    fail(FE_IO, "the answer of its probe cannot be read: {}", error.what());
  }
}

std::string verdict_key(const std::string& hash, const std::string& driver) {
  const ProbeLimits limits = probe_limits();
  // The variables of the system's loader, and those whose names speak of devices or drivers (X_VISIBLE_DEVICES,
  // X_ICD_FILENAMES): a driver that no manifest declares may read them.
  const std::vector<std::string> variables = {"LD_*", "*DEVICE*", "*DRIVER*", "*ICD*", "*LAYER*", "*GPU*", "*DISPLAY*"};
  return fmt::format("{}\nferrule {}\ndriver {}{}{}\nboot {}\nlimits {} {}\n{}", hash, FERRULE_VERSION, driver,
                     display_drivers(), folder_of_program(), boot_id(), limits.milliseconds, limits.mebibytes,
                     joined(environment_entries(variables), "\n"));
}

std::optional<Verdict> remembered_verdict(const std::string& key) {
  const auto entry = disk_cache::get(cache_kind, key);
  if (!entry) return std::nullopt;
  try {
    const std::size_t end = entry->find('\n');
    int64_t written = 0;
    const auto [digits_end, problem] = std::from_chars(entry->data(), entry->data() + entry->size(), written);
    if (problem != std::errc() || digits_end != entry->data() + end) return std::nullopt;  // another ferrule's format
    Verdict verdict = verdict_from(entry->substr(end + 1));
    const int64_t age = seconds_now() - written;
    if (verdict.may_pass && (age < 0 || age > seconds_that_a_passing_fault_holds)) return std::nullopt;
    return verdict;
  } catch (const std::exception&) {
    return std::nullopt;  // a damaged entry: the module is probed again
  }
}

// Writes the time in seconds since 1970 and the probe's line, separated by a newline.
void remember_verdict(const std::string& key, const std::string& line) {
  disk_cache::put(cache_kind, key, fmt::format("{}\n{}", seconds_now(), line));
}

}  // namespace ferrule
