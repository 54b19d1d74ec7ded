// The origin of a module, and the facts that are known before it is initialised.
#pragma once

#include "core/registry/manifest.h"
#include "module_file/file_bytes.h"

#include <ferrule/backend.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace ferrule {

using module_file::FileIdentity;

// A module that is ready to be initialised.
struct ModuleSource {
  std::string name, variant;     // without a name, its init provides both
  std::filesystem::path path;    // the real path; empty when it is linked into the program
  std::filesystem::path mapped;  // the path that was mapped: the same, or that of a removed copy
  FileIdentity identity;
  std::shared_ptr<void> code;  // keeps the module mapped; null when it is linked in
  std::optional<Manifest> manifest;
  module_file::AbiVersion abi;
  std::optional<int> score;  // the module's own, if it has one
  int preference = 0;        // used without a manifest
  std::function<fe_error*(const fe_host*, fe_backend*)> init;
  bool is_renamed = false;  // the caller chose the name; its init may use another
  // Its threads go on after close, so its code stays mapped then.
  bool leaves_threads = false;
};

}  // namespace ferrule
