// The CUDA backend: NVIDIA's GPUs of compute capability 7.5 or later.
#include "device.h"

#if !defined(_WIN32)
#include <unistd.h>
#endif

#include "toolchain/start_runtime.h"

namespace ferrule::cuda {
namespace {

int64_t own_process() {
#if defined(_WIN32)
  return 0;  // it has no forks
#else
  return getpid();
#endif
}

}  // namespace

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
    if (own_process() != process_)
      throw sdk::Error(FE_UNSUPPORTED, device.description.name +
                                           " cannot be opened in a process that was forked after CUDA had listed the "
                                           "devices; start it with spawn, as by multiprocessing.get_context('spawn')");
    try {
      return std::make_unique<Device>(std::make_shared<OpenDevice>(device, options));
    } catch (const sdk::Error& error) {
      throw sdk::Error(error.code(), device.description.name + " cannot be opened: " + error.what());
    }
  }

 private:
  const int64_t process_ = own_process();  // CUDA works in the process that has called it first, and not in its forks
  std::vector<PhysicalDevice> devices_;
};

}  // namespace ferrule::cuda

FERRULE_BACKEND(ferrule::cuda::Backend)
