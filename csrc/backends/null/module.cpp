// The null backend: it accepts every op, computes nothing (outputs are zeros), and fails on demand. It is a template
// for devices with queues and memory of their own, and the fake device of the core's tests: it can do work late, on
// threads or when it is waited for, has its own clock, and can compute with the kernels of another module
// (Device::options).
//
// FERRULE_NULL_FAULT=score0|init_fails|init_throws|no_devices|two_devices makes loading fail; options of device_open
// make later calls fail. The function "now_ns" (uint64_t (void)) returns the device clock's time that the host has
// waited.
#include <ferrule/backend.hpp>

#include <cstdlib>
#include <stdexcept>

#include "device.h"

namespace ferrule::null {
namespace {

bool fault(std::string_view name) {
  const char* const value = std::getenv("FERRULE_NULL_FAULT");
  return value && value == name;
}

// Inside of a function, because a mutex of macOS has a destructor, which code that runs at opening would register.
std::mutex& current_mutex() {
  static constinit std::mutex mutex;
  return mutex;
}
constinit Schedule* current = nullptr;  // of the latest backend

uint64_t now_ns() {
  const std::lock_guard lock(current_mutex());
  return current ? current->now_ns() : 0;
}

class Backend final : public sdk::Backend {
 public:
  static constexpr bool has_queues = true;
  static constexpr const char* version = "0.2";
  static int score() { return fault("score0") ? 0 : 1; }
  static void* proc(std::string_view name) { return name == "now_ns" ? reinterpret_cast<void*>(&now_ns) : nullptr; }

  Backend() {
    if (fault("init_fails")) throw sdk::Error(FE_INTERNAL, "null: init fails because FERRULE_NULL_FAULT says so");
    if (fault("init_throws")) throw std::runtime_error("null: init throws because FERRULE_NULL_FAULT says so");
    const std::lock_guard lock(current_mutex());
    current = schedule_.get();
  }
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend() override {
    const std::lock_guard lock(current_mutex());
    if (current == schedule_.get()) current = nullptr;
  }
  std::vector<sdk::DeviceDescription> devices() override {
    const sdk::DeviceDescription device{.kind = FE_DEVICE_TEST,
                                        .name = "null",
                                        .description = "accepts every op and computes nothing",
                                        .queue_kinds = 1U << FE_QUEUE_UPLOAD | 1U << FE_QUEUE_DOWNLOAD};
    const size_t count = fault("no_devices") ? 0 : fault("two_devices") ? 2 : 1;
    return std::vector(count, device);
  }
  std::vector<sdk::OptionDescription> options() override { return Device::options(); }
  std::unique_ptr<sdk::Device> open(uint32_t index, const sdk::Options& options) override {
    return std::make_unique<Device>(options, index, schedule_);
  }

 private:
  std::shared_ptr<Schedule> schedule_ = std::make_shared<Schedule>();
};

}  // namespace
}  // namespace ferrule::null

FERRULE_BACKEND(ferrule::null::Backend)
