// Physical devices: what backends see, brought together and put in order.
#pragma once

#include "core/registry/device_order.h"
#include "core/sync/mutexes.h"

#include <memory>
#include <string>
#include <vector>

namespace ferrule {

// A device as each backend sees it that does: the view of the preferred backend first. Never empty.
using PhysicalDevice = std::vector<std::shared_ptr<Device>>;

struct Listing {
  std::vector<PhysicalDevice> devices;         // in the order of their preferred views
  std::vector<std::shared_ptr<Device>> views;  // each device of each backend, in the order of sort_devices

  std::vector<std::shared_ptr<Device>> preferred() const;
  // The physical device of a view; the view alone when it is not listed, as that of an unloaded backend is not.
  PhysicalDevice device_of(const std::shared_ptr<Device>& view) const;
  // The devices of a name, in order: a backend's, else those of a kind.
  std::vector<std::shared_ptr<Device>> matching(const DeviceName& name) const;
};

// The same whatever the order of `views` is.
Listing list_devices(std::vector<std::shared_ptr<Device>> views, const BackendOrder& order);

// Keeps Device::name() as devices are listed. It names a device such that Registry::by_name finds it again.
class DeviceNames {
 public:
  // To be taken before what is listed is looked at: of listings made at once, the one begun last decides.
  uint64_t begin();
  void assign(uint64_t begun, const Listing& listing);

 private:
  BriefMutex mutex_;
  uint64_t last_begun_ = 0;
  uint64_t last_assigned_ = 0;
  std::vector<std::weak_ptr<Device>> renamed_;
};

}  // namespace ferrule
