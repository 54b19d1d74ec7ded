// Runs ferrule-probe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

struct ProbeLimits {
  uint64_t milliseconds = 20'000;
  uint64_t mebibytes = 4096;
};
// FERRULE_PROBE_TIMEOUT in seconds, FERRULE_PROBE_MEMORY in MiB. Throws invalid_argument when one is no number above 0.
ProbeLimits probe_limits();

// The executable that belongs to this libferrule; nothing where there is none, as on systems that it does not run on.
std::optional<std::filesystem::path> find_probe();

// What it printed: one line of JSON. Throws io, as a part of a sentence about the module, when it cannot be started or
// does not answer; nothing of it is left then.
std::string run_probe(const std::filesystem::path& probe, const std::filesystem::path& module,
                      const ProbeLimits& limits);

}  // namespace ferrule
