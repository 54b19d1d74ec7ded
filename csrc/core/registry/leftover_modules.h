// What stays of modules that were unloaded.
#pragma once

#include <string>
#include <vector>

namespace ferrule {

struct ModuleSource;

// The file of an unloaded module that stays mapped.
struct LeftoverModule {
  std::string path;
  std::string reason;
};

// Unmaps a closed module. Where that cannot be, or would be the end of the process, it is recorded as left over, and a
// warning says so.
void unmap_module(ModuleSource& source);

// Those that are mapped still.
std::vector<LeftoverModule> leftover_modules();
// Why the file at the path is one of them; "" when it is none.
std::string reason_left_mapped(const std::string& path);

}  // namespace ferrule
