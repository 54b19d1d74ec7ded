// What a load looked at, and what became of it.
#pragma once

#include <nlohmann/json_fwd.hpp>

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

// A module that was found: one row.
struct LoadRow {
  std::string path;  // "static" when it is linked into the program
  std::string root;
  std::string name, variant;
  LoadState state = LoadState::outranked;
  std::string reason;        // "" when there is nothing to say
  std::optional<int> rank;   // the manifest's
  std::optional<int> score;  // the module's own
  std::vector<std::string> devices;
  double milliseconds = 0;  // of opening and initialising
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
  double milliseconds = 0;

  // The row that is loaded under a name, or null.
  const LoadRow* loaded(std::string_view name) const;
};

nlohmann::json to_json(const LoadReport& report);
// A table for people.
// The other way; throws invalid_argument for what is no report.
LoadReport report_from_json(const nlohmann::json& json);
std::string to_text(const LoadReport& report);

}  // namespace ferrule
