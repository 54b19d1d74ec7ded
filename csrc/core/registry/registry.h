// The backends and devices of this process.
#pragma once

#include "core/registry/backend.h"
#include "core/registry/leftover_modules.h"
#include "core/registry/missing_device.h"
#include "core/registry/physical_devices.h"
#include "core/sync/mutexes.h"

#include <ferrule/ferrule.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// A module that is linked into the program and did not become a backend.
struct StaticRefusal {
  std::string name, variant;
  bool disabled = false;
  std::string reason;
  fe_code code = FE_OK;  // of the error that it came back with
};

class Registry {
 public:
  // The modules that are linked in are there from the first access.
  static Registry& instance();

  // Initialises a module that is linked into the program. Throws invalid_argument for null, and when its name is taken;
  // unsupported when FERRULE_DISABLE or FERRULE_ONLY leave it out.
  std::shared_ptr<Backend> add(const fe_static_module* module);
  // Initialises a backend whose functions are the program's. Throws as the former does, and for a name that is none.
  std::shared_ptr<Backend> add(const fe_program_backend* program);
  // Throws invalid_argument when its name is taken. Whoever has added all that there is to add names the devices.
  void add(std::shared_ptr<Backend> backend);
  // Gives each device the name by which by_name() finds it, as it is now; listing() does it, too.
  void name_devices() const { static_cast<void>(listing()); }
  // Initialises those linked-in modules that are not there; keeps why some are not.
  void add_static_modules();
  std::vector<StaticRefusal> static_refusals() const;

  // Snapshots, without what is closed or about to be. Backends in the order of their first device. Devices in the order
  // of kind, FERRULE_PREFER, the manifest's preference (the highest first), name, index: each once, as its preferred
  // backend sees it.
  std::vector<std::shared_ptr<Backend>> backends() const;
  std::vector<std::shared_ptr<Device>> devices() const;
  // The same, and what all the backends see, from which it comes.
  Listing listing() const;
  // What a load found, for the errors of those who ask for a device that is not there.
  void remember_load(std::vector<KnownModule> modules);
  // Says, once, which names in FERRULE_PREFER are no loaded backend's. To be called when all that is to be loaded is.
  void warn_of_unknown_preferences() const;

  // Null when there is none. The case of letters does not matter.
  std::shared_ptr<Backend> find_backend(std::string_view name) const;
  // "<word>[:i]": the word is a backend's name, and i the number that this backend gives to the device; else a kind,
  // and i counts in devices(). Without i the first in order. Throws not_found, naming what there is, and
  // invalid_argument when it is no such string.
  std::shared_ptr<Device> by_name(std::string_view name) const;
  // The same device as that backend sees it; throws not_found, naming those that do see it.
  std::shared_ptr<Device> view(const std::shared_ptr<Device>& device, std::string_view backend) const;
  // Those that see the device, the preferred one first.
  std::vector<std::shared_ptr<Backend>> backends_of(const std::shared_ptr<Device>& device) const;
  // The first of a kind; throws not_found.
  std::shared_ptr<Device> by_kind(fe_device_kind kind) const;
  // gpu, then integrated_gpu, then cpu; throws not_found when there is none of them.
  std::shared_ptr<Device> best() const;

  // Closes a backend. Throws not_found, and invalid_argument, naming what lives, when something of it does.
  void unload(std::string_view name);
  // Closes all backends and ends the threads. Throws when something of one lives; the others are closed.
  void shutdown();
  // A module's backend has more devices than before. Any module may call it at any time, also while it is initialised.
  static void announce_devices(const fe_module_backend* backend) noexcept;
  // Asks every module for the devices that it has now; see Backend::refresh. Returns whether any was retired.
  bool refresh();
  // Files of unloaded modules that stay mapped, and why.
  std::vector<LeftoverModule> remaining() const;
  // Held by whom loads, unloads or reloads: one at a time.
  LongMutex& changes() noexcept { return changes_; }

 private:
  std::shared_ptr<Backend> add(ModuleSource source, fe_score_function score_of);
  LongMutex changes_;
  mutable BriefMutex mutex_;  // of what follows
  // The child of a fork may find one here that is closed, and nobody left who would take it out.
  std::vector<std::shared_ptr<Backend>> backends_;
  std::vector<StaticRefusal> refusals_;
  LastLoad last_load_;
  mutable DeviceNames names_;
  std::vector<std::shared_ptr<Backend>> open_backends() const;
  // "there is gpu:0 (seen by cuda, vulkan), cpu:0", or why there is nothing.
  std::string what_there_is(const Listing& listing) const;
  LastLoad last_load() const;
};

// Why FERRULE_DISABLE or FERRULE_ONLY leave a backend out; "" when they do not.
std::string disabled_reason(std::string_view name);

}  // namespace ferrule
