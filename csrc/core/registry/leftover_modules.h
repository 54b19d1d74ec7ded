// What stays of modules that were unloaded.
#pragma once

#include <string>
#include <vector>

namespace ferrule {

struct ModuleSource;

// The file of an unloaded module that stays mapped.
struct Remnant {
  std::string path;
  std::string reason;
};

// Unmaps a closed module. Where that cannot be, or would be the end of the process, it is remembered as a remnant, and
// a warning says so.
void let_go_of(ModuleSource& source);

// Those that are mapped still.
std::vector<Remnant> remnants();
// Why the file at the path is one of them; "" when it is none.
std::string remnant_reason(const std::string& path);

}  // namespace ferrule
