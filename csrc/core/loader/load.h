// Loading modules: find candidates, read them, refuse what cannot run, probe, open, register, report.
#pragma once

#include "core/loader/options/load_options.h"
#include "core/loader/options/load_policy.h"
#include "core/loader/report/load_report.h"
#include "core/registry/backend.h"

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace ferrule {

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

}  // namespace ferrule
