// An open device: what its queues, buffers and executables share.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "device/clock.h"
#include "device/device_scope.h"
#include "device/errors.h"
#include "device/kernels.h"
#include "device/physical_device.h"
#include "device/fault_copies.h"

namespace ferrule::cuda {

// The options of an open device.
struct Settings {
  explicit Settings(const sdk::Options& options)
      : memory_limit(options.integer("memory_limit", 0)),
        graphs(options.boolean("graphs", true)),
        nvrtc(options.text("nvrtc", "")),
        generate_from(options.integer("generate_from", 65536)),
        cublaslt(options.text("cublaslt", "0")),
        tf32(options.boolean("tf32", false)),
        out_of_memory_at(options.integer("out_of_memory_at", 0)),
        device_lost_at(options.integer("device_lost_at", 0)) {}

  const int64_t memory_limit;  // bytes that buffers may have; 0 = no limit
  const bool graphs;           // replay executables as CUDA graphs
  const std::string nvrtc;     // a file; empty to search for it, "0" for none
  // Elements from which on fused elementwise ops have a kernel generated; with 0 single ops have one, too.
  const int64_t generate_from;
  const std::string cublaslt;  // "0": off; "1": searched for; else a file
  const bool tf32;             // Capabilities::uses_tf32, if the device can
  // For tests: the numbers, from 1, of the allocation that fails and of the execution that loses the device; 0: none.
  const int64_t out_of_memory_at;
  const int64_t device_lost_at;
};

// Thread-safe. Functions that call the driver make this the calling thread's current device while they run.
class OpenDevice {
 public:
  class Use {
   public:
    explicit Use(OpenDevice& device) : scope_(device.physical().number) {
      device.check(scope_.error(), "cudaSetDevice");
    }

   private:
    const DeviceScope scope_;
  };

  OpenDevice(const PhysicalDevice& physical, const sdk::Options& options);
  OpenDevice(const OpenDevice&) = delete;
  OpenDevice& operator=(const OpenDevice&) = delete;
  ~OpenDevice();

  const PhysicalDevice& physical() const { return physical_; }
  const Capabilities& capabilities() const { return physical_.capabilities; }
  const std::string& name() const { return physical_.description.name; }
  const Settings& settings() const { return settings_; }
  // Makes it the calling thread's current device while the result exists; throws if it cannot.
  [[nodiscard]] Use use() { return Use(*this); }

  // Device memory; the caller's until `free`. No work may use it then.
  void* allocate(uint64_t size);
  void free(void* pointer, uint64_t size) noexcept;
  std::pair<uint64_t, uint64_t> free_and_total();
  // See Kernels, FaultCopies and Clock. Errors are those of `check`.
  LoadedKernel kernel(const std::string& name, uint32_t shared_memory);
  std::shared_ptr<Fault> take_fault_copy();
  std::shared_ptr<const TimedEvent> now();

  // The error that says why the device is lost; null if it is not. All queues of a lost device are lost.
  std::shared_ptr<const sdk::Error> loss() const;
  void lose(const sdk::Error& error);
  // If the error says that this device is lost, it is lost from now on. Returns false for cudaSuccess.
  bool note(cudaError_t error, const char* call);
  // Notes the error of a call, and throws it: the loss, if the device is lost. An error that lasts, but not on this
  // device, is FE_UNSUPPORTED.
  void check(cudaError_t error, const char* call);
  // Counts an execution; loses the device at the one that the options name, when its work is done.
  void count_execution();

 private:
  // Whether the driver refuses all calls for this device. The device must be the calling thread's current one.
  bool is_broken() const;
  [[noreturn]] void fail(const sdk::Error& error);
  // Calls a function whose errors do not name the device, which is the calling thread's current one: they are noted,
  // and thrown as those of `check`.
  template <typename Function>
  auto checked(const Function& function) {
    try {
      return function();
    } catch (const sdk::Error& error) {
      if (error.code() == FE_DEVICE_LOST && is_broken()) lose({FE_DEVICE_LOST, name() + " was lost: " + error.what()});
      fail(error);
    }
  }

  PhysicalDevice physical_;  // constant after construction
  const Settings settings_;
  Kernels kernels_{physical_.number};
  Clock clock_;
  std::shared_ptr<FaultCopies> fault_copies_ = std::make_shared<FaultCopies>(physical_.number);
  cudaStream_t allocations_ = nullptr;  // orders what is allocated and freed; it is idle otherwise
  std::atomic<int64_t> allocation_count_{0}, execution_count_{0};
  std::atomic<uint64_t> allocated_{0};  // bytes
  mutable std::mutex mutex_;
  std::shared_ptr<const sdk::Error> loss_;
};

}  // namespace ferrule::cuda
