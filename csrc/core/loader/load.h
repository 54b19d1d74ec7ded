// Loading: find, read, judge, open, register, report.
#pragma once

#include "core/loader/policy.h"
#include "core/loader/report.h"
#include "core/registry/backend.h"

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

struct LoadOptions {
  // Replaces the default roots. A folder that does not exist is not_found.
  std::optional<std::vector<std::filesystem::path>> dirs;
  // Names that must be loaded in the end: what check_required looks at.
  std::vector<std::string> require;
  // Other names are left out, when this is not empty.
  std::vector<std::string> only;
  Policy policy = default_policy();
  // Default roots that the caller knows of, after our own.
  std::vector<std::filesystem::path> extra_roots;
};

// Loads the best runnable module of each name. What is loaded stays as it is. Any number of threads may call it.
LoadReport load_all(const LoadOptions& options = {});

// Throws not_found, with the rows of what is missing, unless all that the options require is loaded.
void check_required(const LoadOptions& options, const LoadReport& report);

// One file of any name, through the same steps. Returns the backend that is there when this very file is loaded under
// the name. `as_name`, unless empty, is what the backend is called, so that a file may be loaded more than once: each
// time with static variables of its own. Throws not_found (no such file), io, abi_mismatch, unsupported (not for this
// machine, disabled, no device), invalid_argument (no module, or its name is taken), or the error of the module's init.
std::shared_ptr<Backend> load(const std::filesystem::path& path, const Policy& policy = default_policy(),
                              const std::string& as_name = "");

// Unloads a backend and loads what lies at its path now. The new file is read and judged first: when it is no good, the
// old one stays. Throws as load and unload do; unsupported when the old one cannot be let go of.
std::shared_ptr<Backend> reload(std::string_view name);

// The folders that are searched without `dirs`: FERRULE_BACKEND_DIR, the compiled-in root, backends/ beside libferrule.
std::vector<std::filesystem::path> default_roots();
// Where the program lies; libferrule itself, which is the program when it is linked in, and where it lies.
std::filesystem::path executable_dir();
std::filesystem::path library_file();
std::filesystem::path library_dir();

}  // namespace ferrule
