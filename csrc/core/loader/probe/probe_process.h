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
// The limits in FERRULE_PROBE_TIMEOUT (seconds) and FERRULE_PROBE_MEMORY (MiB), else the defaults. One that is not a
// number above 0 and up to a million causes a warning.
ProbeLimits probe_limits();

// The executable that belongs to this libferrule; nullopt when it is not installed.
std::optional<std::filesystem::path> find_probe();

// Runs the probe and returns its output, one line of JSON. Throws io when it cannot be started or gives no usable
// answer, and timeout when it does not answer in time; the message completes a sentence about the module. No process is
// left running.
std::string run_probe(const std::filesystem::path& probe, const std::filesystem::path& module,
                      const ProbeLimits& limits);

}  // namespace ferrule
