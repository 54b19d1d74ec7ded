// What a load looked at, and what became of it.
#pragma once

#include "core/loader/options/load_policy.h"
#include "core/registry/leftover_modules.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {

enum class LoadState {
  loaded,
  outranked,     // another module of its name is better, or came first
  disabled,      // by FERRULE_DISABLE, FERRULE_ONLY or only=
  incompatible,  // right, but not for this core or this machine
  unsafe,
  not_probed,
  probe_failed,
  no_device,
  error,
};
const char* name_of(LoadState state) noexcept;

// Where the time of a load, or of one module, went: milliseconds.
struct LoadTimes {
  double find = 0;   // looking into the roots; of a report only
  double read = 0;   // manifests, headers and owners of files
  double hash = 0;   // of the file's bytes
  double probe = 0;  // in a process of its own
  double open = 0;   // mapping it and asking its score
  double init = 0;   // its init, and listing its devices

  double sum() const { return find + read + hash + probe + open + init; }
};

// A module that was found: one row.
struct LoadRow {
  std::string path;  // "static" when it is linked into the program
  std::string root;
  std::string name, variant;
  std::string version;  // "" when it tells none
  LoadState state = LoadState::outranked;
  std::string reason;        // "" when there is nothing to say
  std::optional<int> rank;   // the manifest's
  std::optional<int> score;  // the module's own
  std::vector<std::string> devices;
  std::string probed = "no";       // "yes": now; "cached": before, with the verdict that still holds
  std::vector<std::string> notes;  // sentences about what is odd and did not keep it from being loaded
  std::string output;              // what it printed in its probe; bounded
  std::vector<std::string> files;  // what opening it mapped: real paths, its own first
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

// A text of others (a module, its manifest, the system's loader) as a part of a report: one line of bounded length,
// without control characters, so that no escape sequence reaches a terminal.
std::string as_report_text(std::string text);

// JSON.
std::string to_json(const LoadReport& report);
// A table for people.
std::string to_text(const LoadReport& report);

}  // namespace ferrule
