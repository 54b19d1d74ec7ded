// The CUDA backend: NVIDIA's GPUs of compute capability 7.5 or later.
#include "device.h"
#include "toolchain/start_runtime.h"

namespace ferrule::cuda {

class Backend final : public sdk::Backend {
 public:
  static constexpr bool has_queues = true;
  static constexpr const char* version = FERRULE_VERSION;
  static int score() { return 1; }

  Backend() {
    start_runtime();
    devices_ = find_devices();
  }

  std::vector<sdk::DeviceDescription> devices() override {
    std::vector<sdk::DeviceDescription> descriptions;
    descriptions.reserve(devices_.size());
    for (const PhysicalDevice& device : devices_) descriptions.push_back(device.description);
    return descriptions;
  }
  std::vector<sdk::OptionDescription> options() override { return Device::options(); }
  std::unique_ptr<sdk::Device> open(uint32_t index, const sdk::Options& options) override {
    const PhysicalDevice& device = devices_[index];
    try {
      return std::make_unique<Device>(std::make_shared<OpenDevice>(device, options));
    } catch (const sdk::Error& error) {
      throw sdk::Error(error.code(), device.description.name + " cannot be opened: " + error.what());
    }
  }

 private:
  std::vector<PhysicalDevice> devices_;
};

}  // namespace ferrule::cuda

FERRULE_BACKEND(ferrule::cuda::Backend)
