// The Vulkan backend: every device with Vulkan 1.2 and the features that physical_device.cpp requires.
#include "device.h"

namespace ferrule::vulkan {

class Backend final : public sdk::Backend {
 public:
  static constexpr bool has_queues = true;
  static constexpr const char* version = FERRULE_VERSION;
  static int score() { return 1; }

  Backend() : instance_(std::make_shared<Instance>(false)), devices_(find_devices(*instance_)) {}

  std::vector<sdk::DeviceDescription> devices() override {
    std::vector<sdk::DeviceDescription> descriptions;
    descriptions.reserve(devices_.size());
    for (const PhysicalDevice& device : devices_) descriptions.push_back(device.description);
    return descriptions;
  }
  std::vector<sdk::OptionDescription> options() override { return Device::options(); }
  std::unique_ptr<sdk::Device> open(uint32_t index, const sdk::Options& options) override {
    const PhysicalDevice& device = devices_[index];
    if (!options.boolean("validate", false)) return open(instance_, device, options);
    // A layer can only be enabled when an instance is created.
    auto validating = std::make_shared<Instance>(true);
    const PhysicalDevice again = find_again(device, *validating);
    return open(std::move(validating), again, options);
  }

 private:
  static std::unique_ptr<sdk::Device> open(std::shared_ptr<Instance> instance, const PhysicalDevice& device,
                                           const sdk::Options& options) {
    try {
      return std::make_unique<Device>(std::make_shared<OpenDevice>(std::move(instance), device, options));
    } catch (const sdk::Error& error) {
      throw sdk::Error(error.code(), device.description.name + " cannot be opened: " + error.what());
    }
  }

  std::shared_ptr<Instance> instance_;
  std::vector<PhysicalDevice> devices_;
};

}  // namespace ferrule::vulkan

FERRULE_BACKEND(ferrule::vulkan::Backend)
