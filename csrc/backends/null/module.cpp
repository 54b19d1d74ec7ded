// The null backend: it accepts every op and computes nothing (outputs are zeros), and it fails on demand. A template
// for authors of devices with queues and memory of their own, and the fake that the core is tested with.
//
// FERRULE_NULL_FAULT=score0|init_fails|init_throws|no_devices|two_devices misbehaves while loading; the options of
// device_open do so later.
#include <ferrule/backend.hpp>

#include <cstdlib>
#include <stdexcept>

#include "queue.h"

namespace ferrule::null {
namespace {

bool fault(std::string_view name) {
  const char* const value = std::getenv("FERRULE_NULL_FAULT");
  return value && value == name;
}

// Writes zeros to the outputs, so that what comes out of a test does not depend on what lay there.
class Zeros final : public sdk::Executable {
 public:
  Zeros(const fe_graph_view& view, std::shared_ptr<Faults> faults) : faults_(std::move(faults)) {
    for (uint32_t i = 0; i < view.storage_count; ++i) {
      const fe_storage& storage = *view.storages[i];
      if (storage.kind == FE_STORAGE_OUTPUT) outputs_.push_back({storage.binding, storage.size});
    }
  }
  void execute(sdk::Queue* queue, const fe_execution& execution) override {
    auto& timed = static_cast<TimedQueue&>(*queue);
    const int64_t number = ++faults_->executions;
    if (number == faults_->device_lost_at) {
      timed.wait();  // a device that is lost does nothing any more
      timed.poison(FE_DEVICE_LOST, "null: the device was lost at execution " + std::to_string(number));
    }
    if (number == faults_->execution_fails_at)
      timed.poison(FE_INTERNAL, "null: execution " + std::to_string(number) + " failed, as it was asked to");
    if (timed.poisoned()) return;
    // What is bound is known now, and written when the time has come: the list of bindings lives for this call.
    std::vector<std::pair<void*, uint64_t>> written;
    for (const Output& output : outputs_) {
      const fe_binding* const binding = fe_binding_at(&execution, output.binding);
      void* const buffer = reinterpret_cast<sdk::Buffer*>(binding->buffer)->host_pointer();
      written.emplace_back(static_cast<char*>(buffer) + binding->offset, output.size);
    }
    timed.work([written = std::move(written)] {
      for (const auto& [bytes, size] : written) std::memset(bytes, 0, size);
    });
  }

 private:
  struct Output {
    uint32_t binding;
    uint64_t size;
  };
  std::vector<Output> outputs_;
  std::shared_ptr<Faults> faults_;
};

class Device final : public sdk::HostDevice {
 public:
  explicit Device(const sdk::Options& options) : faults_(std::make_shared<Faults>(options)) {}

  std::unique_ptr<sdk::Buffer> allocate(uint64_t size, uint64_t alignment) override {
    const int64_t number = ++faults_->allocations;
    if (number == faults_->out_of_memory_at)
      throw sdk::Error(FE_OUT_OF_MEMORY, "null: out of memory at allocation " + std::to_string(number) + ", of " +
                                             std::to_string(size) + " bytes");
    return HostDevice::allocate(size, alignment);
  }
  // Its memory is its own, as that of a card: the core must copy.
  std::unique_ptr<sdk::Buffer> borrow(void* /*pointer*/, uint64_t /*size*/, fe_access) override {
    throw sdk::Error(FE_UNSUPPORTED, "this device does not borrow host memory");
  }
  std::unique_ptr<sdk::Queue> create_queue() override { return std::make_unique<TimedQueue>(faults_); }

  // Copies are done when they return, after what was given to the queue before.
  void copy_from_host(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, const void* from,
                      uint64_t size) override {
    if (is_ready(queue)) HostDevice::copy_from_host(queue, to, to_offset, from, size);
  }
  void copy_to_host(sdk::Queue* queue, void* to, sdk::Buffer& from, uint64_t from_offset, uint64_t size) override {
    if (is_ready(queue)) HostDevice::copy_to_host(queue, to, from, from_offset, size);
  }
  void copy(sdk::Queue* queue, sdk::Buffer& to, uint64_t to_offset, sdk::Buffer& from, uint64_t from_offset,
            uint64_t size) override {
    if (is_ready(queue)) HostDevice::copy(queue, to, to_offset, from, from_offset, size);
  }

  sdk::Support supports(const sdk::Node& node) override {
    return {.kernel = "nothing", .revision = node.youngest_revision()};
  }
  std::unique_ptr<sdk::Executable> compile(const fe_graph_view& view) override {
    return std::make_unique<Zeros>(view, faults_);
  }

 private:
  static bool is_ready(sdk::Queue* queue) {
    const auto& timed = static_cast<const TimedQueue&>(*queue);
    timed.wait();
    return !timed.poisoned();
  }

  std::shared_ptr<Faults> faults_;
};

class Backend final : public sdk::Backend {
 public:
  static constexpr bool has_queues = true;
  static constexpr const char* version = "0.1";
  static int score() { return fault("score0") ? 0 : 1; }

  Backend() {
    if (fault("init_fails")) throw sdk::Error(FE_INTERNAL, "null: init fails because FERRULE_NULL_FAULT says so");
    if (fault("init_throws")) throw std::runtime_error("null: init throws because FERRULE_NULL_FAULT says so");
  }
  std::vector<sdk::DeviceDescription> devices() override {
    const sdk::DeviceDescription device{
        .kind = FE_DEVICE_TEST, .name = "null", .description = "accepts every op and computes nothing"};
    const size_t count = fault("no_devices") ? 0 : fault("two_devices") ? 2 : 1;
    return std::vector(count, device);
  }
  std::vector<sdk::OptionDescription> options() override { return Faults::options(); }
  std::unique_ptr<sdk::Device> open(uint32_t, const sdk::Options& options) override {
    return std::make_unique<Device>(options);
  }
};

}  // namespace
}  // namespace ferrule::null

FERRULE_BACKEND(ferrule::null::Backend)
