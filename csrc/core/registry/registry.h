// The backends and devices of this process.
#pragma once

#include "core/registry/backend.h"
#include "core/registry/leftover_modules.h"
#include "core/registry/missing_device.h"
#include "core/registry/physical_devices.h"
#include "core/sync/mutexes.h"

#include <ferrule/ferrule.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A module that is linked into the program and could not be initialised, or is disabled.
struct StaticRefusal {
  std::string name, variant;
  bool disabled = false;
  std::string reason;
  fe_code code = FE_OK;  // the code of its error
};

class Registry {
 public:
  // The first access initialises the modules that are linked in.
  static Registry& instance();

  // Initialises a module that is linked into the program. Throws invalid_argument for null, or when its name is taken;
  // unsupported when FERRULE_DISABLE or FERRULE_ONLY excludes it, or when its score is 0 or less.
  std::shared_ptr<Backend> add(const fe_static_module* module);
  // Initialises a backend that the program implements. Throws like the former; invalid_argument also for an invalid
  // name.
  std::shared_ptr<Backend> add(const fe_program_backend* program);
  // Throws invalid_argument when its name is taken. Call name_devices() after the last add().
  void add(std::shared_ptr<Backend> backend);
  // Gives each device the name by which by_name() finds it now. listing() does this, too.
  void name_devices() const { static_cast<void>(listing()); }
  // Initialises the linked-in modules that are not loaded. static_refusals() tells why some could not be.
  void add_static_modules();
  std::vector<StaticRefusal> static_refusals() const;

  // Snapshots without closed backends. Backends are in the order of their first device. Devices are ordered by kind,
  // FERRULE_PREFER, the manifest's preference (the highest first), name, index; each is listed once, as its preferred
  // backend sees it.
  std::vector<std::shared_ptr<Backend>> backends() const;
  std::vector<std::shared_ptr<Device>> devices() const;
  // The devices together with the views of all backends.
  Listing listing() const;
  // Stores the outcome of a load for the error messages about missing devices.
  void remember_load(std::vector<KnownModule> modules);
  // Warns, once, of names in FERRULE_PREFER without a loaded backend, and of names in FERRULE_DISABLE that no backend
  // has. Call it after loading.
  void warn_of_unknown_names() const;

  // The backend of a name, in upper or lower case; null when it is not loaded.
  std::shared_ptr<Backend> find_backend(std::string_view name) const;
  // Finds a device by "<word>[:i]". When the word is a backend's name, i is the backend's index of the device; when it
  // is a kind, i counts the devices of that kind in devices(). Without i, returns the first in order. Throws not_found,
  // which lists the devices, and invalid_argument for other text.
  std::shared_ptr<Device> by_name(std::string_view name) const;
  // The view of the same device by that backend. Throws not_found, which lists the backends that see the device.
  std::shared_ptr<Device> view(const std::shared_ptr<Device>& device, std::string_view backend) const;
  // The backends that see the device, the preferred one first.
  std::vector<std::shared_ptr<Backend>> backends_of(const std::shared_ptr<Device>& device) const;
  // The first device of a kind; throws not_found.
  std::shared_ptr<Device> by_kind(fe_device_kind kind) const;
  // The devices of the kind cpu, in order. Lists the devices only if they may have changed since the last listing.
  std::vector<std::shared_ptr<Device>> cpus() const;
  // The first gpu, else integrated_gpu, else cpu; throws not_found when there is none of these.
  std::shared_ptr<Device> best() const;

  // Closes a backend. Throws not_found; and invalid_argument, which lists the objects, when it is in use.
  void unload(std::string_view name);
  // The same, but a backend that is in use only leaves the list (Backend::abandon). Returns whether that happened.
  bool unload_or_abandon(std::string_view name);
  // Whether such a backend still has this file open.
  bool is_abandoned(const std::filesystem::path& file) const;
  // Closes all backends and ends the threads. Throws when a backend is in use; the others are closed then.
  void shutdown();
  // Lists the devices of every backend again; see Backend::refresh. Returns whether any device was retired.
  bool refresh();
  // The files of unloaded modules that stay mapped, and the reasons.
  std::vector<LeftoverModule> remaining() const;
  // Held during loads, unloads and reloads, so that they run one at a time.
  LongMutex& changes() noexcept { return changes_; }

 private:
  // Records that a module's backend has new devices. Modules may call it at any time, also during their init.
  static void announce_devices(const fe_module_backend* backend) noexcept;
  std::shared_ptr<Backend> add(const char* function, ModuleSource source, fe_score_function score_of);
  void remove(const std::shared_ptr<Backend>& backend);
  LongMutex changes_;
  mutable BriefMutex mutex_;  // guards the members below
  // The child of a fork may find a closed backend here that no thread will remove.
  std::vector<std::shared_ptr<Backend>> backends_;
  std::vector<std::weak_ptr<Backend>> abandoned_;
  std::vector<StaticRefusal> refusals_;
  LastLoad last_load_;
  uint64_t device_changes_ = 0;  // how often the list of devices may have changed
  struct Cpus {
    std::optional<uint64_t> changes;  // device_changes_ when the devices were listed; empty: they were not
    std::vector<std::weak_ptr<Device>> devices = {};
  };
  mutable Cpus cpus_;  // of the last listing
  mutable DeviceNames names_;
  std::vector<std::shared_ptr<Backend>> open_backends() const;
  // "there is gpu:0 (seen by cuda, vulkan), cpu:0", or why there is no device.
  std::string what_there_is(const Listing& listing) const;
  LastLoad last_load() const;
};

// A sentence when FERRULE_DISABLE or FERRULE_ONLY excludes the backend, else "".
std::string disabled_reason(std::string_view name);

}  // namespace ferrule
