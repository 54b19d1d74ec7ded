// Loads modules: finds candidates, reads them, refuses those that cannot run, probes, opens, registers, reports.
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

// Loads the best runnable module of each name. Backends that are loaded already stay as they are. Thread-safe.
LoadReport load_all(const LoadOptions& options = {});

// Throws not_found, with the rows of the missing backends, unless everything in options.require is loaded.
void check_required(const LoadOptions& options, const LoadReport& report);

// Loads one file of any name through the same steps. When this file is loaded already under the name, returns that
// backend. A nonempty `as_name` is the backend's name; with it a file can be loaded several times, each with its own
// static variables. Throws not_found (no such file), io, abi_mismatch, unsupported (not for this machine, disabled, no
// device), invalid_argument (not a module, or its name is taken), or the error of the module's init.
std::shared_ptr<Backend> load(const std::filesystem::path& path, const Policy& policy = default_policy(),
                              const std::string& as_name = "");

// Unloads a backend and loads the file that is at its path now. The new file is read and checked first; when it is
// refused, the old backend stays loaded. Throws like load and unload; unsupported when the old module stays mapped or
// its file was rewritten in place. `by_force`: also when the old backend is in use (Registry::unload_or_abandon).
std::shared_ptr<Backend> reload(std::string_view name, bool by_force = false);

}  // namespace ferrule
