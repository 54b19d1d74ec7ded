// A backend: an initialised module and its devices.
#pragma once

#include "core/registry/device.h"
#include "core/registry/module.h"

#include <ferrule/backend.h>

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

class Backend : public Module, public std::enable_shared_from_this<Backend> {
 public:
  // Initialises the module and lists its devices. Throws the module's error, or internal when its table is invalid.
  static std::shared_ptr<Backend> start(ModuleSource source);
  explicit Backend(ModuleSource source);
  ~Backend();
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;

  // The devices in the module's order. Lists them again after the module announced a new device.
  std::vector<std::shared_ptr<Device>> devices();
  void announce_devices() noexcept { stale_.store(true, std::memory_order_release); }
  // Lists the module's devices again, and replaces each lost device by a new one. Devices that are no longer listed, or
  // listed at another index, are retired: the former are lost, the latter stay usable by what uses them already.
  // Returns whether any was retired.
  bool refresh();

  // The function that the module offers by this name, or null. The backend cannot be closed while `hold` exists. Throws
  // not_found when the backend is closed.
  struct Proc {
    void* address = nullptr;
    std::shared_ptr<void> hold;
  };
  Proc proc(const char* name);
  // The names and values of the proc FE_FEATURES; empty when the module has none or the backend is closed.
  std::vector<std::pair<std::string, std::string>> features();

  // Closes the devices and the module's backend, and unmaps the code (see unmap_module). Throws invalid_argument, which
  // lists the objects, when arrays, other objects or a function of proc() are in use; not_found when it is closed
  // already; unsupported in the child of a fork when one of its devices belongs to the parent.
  void close();
  // Retires the devices: what uses them finds that they are lost. The module is closed and unmapped as by close() when
  // the last of it is gone. Throws unsupported as close() does.
  void abandon();

 private:
  void check_is_ours() const;
  bool enumerate(bool renews_lost);
  std::vector<DeviceProperties> read_devices() const;
  bool belongs_to_parent() const;
  std::vector<std::shared_ptr<Device>> all_devices() const;  // retired devices included

  std::optional<uint32_t> abandoned_in_generation_;  // of forks
  std::atomic<bool> stale_{true};
  std::atomic<uint32_t> holds_{0};  // increased only under changing_
  LongMutex changing_;              // held while devices are listed, procs are looked up, and the backend is closed
  mutable BriefMutex mutex_;        // guards the members below
  std::vector<std::shared_ptr<Device>> devices_;
  std::vector<std::shared_ptr<Device>> retired_;
};

}  // namespace ferrule
