// A backend: an initialised module and its devices.
#pragma once

#include "core/registry/device.h"
#include "core/registry/manifest.h"
#include "module_file/file_bytes.h"

#include <ferrule/backend.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

using module_file::FileIdentity;

// A module that is ready to be initialised.
struct ModuleSource {
  std::string name, variant;     // without a name both are what its init says
  std::filesystem::path path;    // the real path; empty when it is linked into the program
  std::filesystem::path mapped;  // what is mapped: the same, or a copy of it that is gone
  FileIdentity identity;
  std::shared_ptr<void> code;  // keeps the module mapped; null when it is linked in
  std::optional<Manifest> manifest;
  module_file::AbiVersion abi;
  std::optional<int> score;  // its own, when it has one
  int preference = 0;        // without a manifest
  std::function<fe_error*(const fe_host*, fe_backend*)> init;
  bool is_renamed = false;  // by whom has loaded it: its init calls itself otherwise
  // It is known to leave threads behind: its code stays mapped when it is closed.
  bool leaves_threads = false;
};

class Backend : public std::enable_shared_from_this<Backend> {
 public:
  // Initialises the module and enumerates its devices. Throws the module's error, or says what is wrong with its table.
  static std::shared_ptr<Backend> start(ModuleSource source);
  explicit Backend(ModuleSource source);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  const std::string& name() const noexcept { return source_.name; }
  const std::string& variant() const noexcept { return source_.variant; }
  const std::string& version() const noexcept { return version_; }
  // "cpu-haswell"
  std::string full_name() const;
  bool is_static() const noexcept { return source_.path.empty(); }
  // The module's file, "static" when it is linked in.
  std::string file() const;
  const ModuleSource& source() const noexcept { return source_; }
  const std::optional<Manifest>& manifest() const noexcept { return source_.manifest; }
  int preference() const noexcept { return source_.manifest ? source_.manifest->preference : source_.preference; }
  const fe_backend& table() const noexcept { return table_; }
  bool is_closed() const noexcept { return closed_.load(std::memory_order_acquire); }

  // In the module's order. Asks the module again after it announced a new device.
  std::vector<std::shared_ptr<Device>> devices();
  void announce_devices() noexcept { stale_.store(true, std::memory_order_release); }
  // Asks the module again, and makes a new device of each that was lost. Devices that it does not list any more, or at
  // another place, are retired: the first kind is lost, the second kind serves what lives of it. Returns whether there
  // was one.
  bool refresh();

  // What the module offers by name, null when it offers none of that name; and what keeps the backend from being closed
  // meanwhile. Throws not_found when it is closed.
  struct Proc {
    void* address = nullptr;
    std::shared_ptr<void> hold;
  };
  Proc proc(const char* name);
  // Names and values of FE_FEATURES; none when it offers no such list, or is closed.
  std::vector<std::pair<std::string, std::string>> features();

  // Closes its devices, the module's backend, and lets go of the code; see unmap_module. Throws invalid_argument,
  // naming what lives, when something of it does, a function given by proc() included; not_found when it is closed
  // already; unsupported in the child of a fork when a device of it belongs to the parent.
  void close();

 private:
  void initialise();
  void take_name_of_table();
  void check_table() const;
  bool enumerate(bool renews_lost);
  void* ask_for(const char* name) const;
  std::vector<DeviceProperties> read_devices() const;
  bool belongs_to_parent() const;
  std::vector<std::shared_ptr<Device>> all_devices() const;  // the retired, too

  ModuleSource source_;
  std::string version_;
  fe_backend table_{};
  std::atomic<bool> closed_{false};
  std::atomic<bool> stale_{true};
  std::atomic<uint32_t> holds_{0};  // grows under changing_ only
  LongMutex changing_;        // held while its devices are listed, while it is asked for more, and while it is closed
  mutable BriefMutex mutex_;  // of what follows
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::shared_ptr<Device>> retired_;
};

}  // namespace ferrule
