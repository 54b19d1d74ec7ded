// The report of a load: the roots searched, and the outcome of each candidate.
#pragma once

#include "core/loader/options/load_policy.h"
#include "core/registry/leftover_modules.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

enum class LoadState {
  loaded,        // its backend is in the registry
  outranked,     // another module of its name is preferred or loaded already
  disabled,      // by FERRULE_DISABLE, FERRULE_ONLY or only=
  incompatible,  // a valid module, but not for this core or this machine
  unsafe,        // an untrusted user can write its files, or its libraries would come from the current directory
  not_probed,    // it must be probed before it is opened, and ferrule-probe is not installed
  probe_failed,  // it crashed, timed out or broke a rule in its probe, or the probe could not be started
  no_device,     // it works, and lists no device on this machine
  error,         // it is not a module, is damaged, or failed while it was opened
};
const char* name_of(LoadState state) noexcept;

// The time that each step of a load, or of one module, took, in milliseconds.
struct LoadTimes {
  double find = 0;   // searching the roots; 0 in the times of one module
  double read = 0;   // reading manifests, headers and owners of files
  double hash = 0;   // hashing the file
  double probe = 0;  // the trial in another process
  double open = 0;   // mapping the file and calling its score
  double init = 0;   // initialising the module and listing its devices

  double sum() const { return find + read + hash + probe + open + init; }
};

// The row of one module.
struct LoadRow {
  std::string path;  // "static" when it is linked into the program
  std::string root;
  std::string name, variant;
  std::string version;                    // "" when it has none
  std::vector<std::string> device_kinds;  // as its manifest lists them; empty when that is unknown
  LoadState state = LoadState::outranked;
  std::string reason;        // a sentence, or ""
  std::optional<int> rank;   // the manifest's
  std::optional<int> score;  // the module's own
  std::vector<std::string> devices;
  std::string probed = "no";       // "yes": in this load; "cached": earlier, and the verdict still holds
  std::vector<std::string> notes;  // sentences about problems that did not keep it from being loaded
  std::string output;              // what the module printed in its probe; of limited length
  std::vector<std::string> files;  // the real paths of the files that opening it mapped, its own first
  LoadTimes times;
};

// A folder, or a list of files, that was searched.
struct LoadRoot {
  std::string path;
  std::string origin;  // "FERRULE_BACKEND_DIR", "dirs", "beside libferrule"
  std::size_t candidates = 0;
  std::string problem;  // "" when it could be read
};

struct LoadReport {
  std::vector<LoadRoot> roots;
  std::vector<LoadRow> rows;
  std::vector<LeftoverModule> remaining;
  Policy policy;
  LoadTimes times;
  double milliseconds = 0;

  // The row that is loaded under a name, or null.
  const LoadRow* loaded(std::string_view name) const;
};

// Makes foreign text (of a module, its manifest, the system's loader) fit for a report: one line of limited length,
// without control characters, so that no escape sequence reaches a terminal.
std::string as_report_text(std::string text);

std::string to_json(const LoadReport& report);
// A table to be read in a terminal.
std::string to_text(const LoadReport& report);

}  // namespace ferrule
