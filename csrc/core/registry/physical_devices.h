// Groups the devices of all backends into physical devices, and orders them.
#pragma once

#include "core/registry/device_order.h"
#include "core/sync/mutexes.h"

#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// The views of one device by the backends that see it, that of the preferred backend first. Never empty.
using PhysicalDevice = std::vector<std::shared_ptr<Device>>;

struct Listing {
  std::vector<PhysicalDevice> devices;         // in the order of their preferred views
  std::vector<std::shared_ptr<Device>> views;  // all devices of all backends, in the order of sort_devices

  std::vector<std::shared_ptr<Device>> preferred() const;
  // The first preferred view of a kind; null if there is none.
  std::shared_ptr<Device> first(fe_device_kind kind) const;
  // All of them, in order.
  std::vector<std::shared_ptr<Device>> all(fe_device_kind kind) const;
  // The physical device of a view. A view that is not listed, such as one of an unloaded backend, is returned alone.
  PhysicalDevice device_of(const std::shared_ptr<Device>& view) const;
  // The devices that a name means, in order: those of a backend, else those of a kind.
  std::vector<std::shared_ptr<Device>> matching(const DeviceName& name) const;
};

// The result does not depend on the order of `views`.
Listing list_devices(std::vector<std::shared_ptr<Device>> views, const BackendOrder& order);

// Sets Device::name() so that Registry::by_name finds the device by it.
class DeviceNames {
 public:
  // Call begin() before listing devices, and pass its result to assign(): of concurrent listings, the one that began
  // last decides.
  uint64_t begin();
  void assign(uint64_t begun, const Listing& listing);

 private:
  BriefMutex mutex_;
  uint64_t last_begun_ = 0;
  uint64_t last_assigned_ = 0;
  std::vector<std::weak_ptr<Device>> renamed_;
};

}  // namespace ferrule
