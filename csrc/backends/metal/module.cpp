// The Metal backend: every GPU that macOS lists, through its Metal framework.
#include "device.h"

namespace ferrule::metal {

class Backend final : public sdk::Backend {
 public:
  static constexpr bool has_queues = true;
  static constexpr const char* version = FERRULE_VERSION;
  static int score() { return 1; }

  Backend() : devices_(find_devices()) {}

  std::vector<sdk::DeviceDescription> devices() override {
    std::vector<sdk::DeviceDescription> descriptions;
    descriptions.reserve(devices_.size());
    for (const PhysicalDevice& device : devices_) descriptions.push_back(device.description);
    return descriptions;
  }
  std::vector<sdk::OptionDescription> options() override { return Device::options(); }
  std::unique_ptr<sdk::Device> open(uint32_t index, const sdk::Options& options) override {
    const PhysicalDevice& device = devices_[index];
    return std::make_unique<Device>(std::make_shared<OpenDevice>(
        PhysicalDevice{device.device.another(), device.description, device.capabilities, device.is_unified}, options));
  }

 private:
  std::vector<PhysicalDevice> devices_;
};

}  // namespace ferrule::metal

FERRULE_BACKEND(ferrule::metal::Backend)
