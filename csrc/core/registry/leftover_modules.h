// Modules that stay mapped after they were unloaded.
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

// Unmaps a closed module. When that is impossible, or would crash the process, records the module as left over and logs
// a warning.
void unmap_module(ModuleSource& source);

// The unloaded modules that are still mapped.
std::vector<LeftoverModule> leftover_modules();
// The reason why the file at the path is still mapped; "" when it is not one of them.
std::string reason_left_mapped(const std::string& path);

}  // namespace ferrule
