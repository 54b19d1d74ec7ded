// The state of the emulated devices. Internal to the runtime.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_runtime_api.h"
#include "cuda/runtime/settings.h"

namespace emulation {

struct Device {
  int number = 0;
  std::atomic<bool> has_context = false;
  std::mutex mutex;
  std::size_t total = 0, used = 0;
  std::map<std::uintptr_t, std::size_t> allocations;
  cudaError_t fault = cudaSuccess;  // once set, all calls of the device return it, as on a GPU
  std::string fault_text;
};

std::vector<std::unique_ptr<Device>>& devices();
// Null if there is no such device.
Device* device_of(int number);
Device& current_device();

// Each function of the runtime begins with one of these. They write the call to FERRULE_EMULATION_LOG, and return the
// error that FERRULE_EMULATION_CALL_FAILS gives it. The second one is for functions that use the current device, and
// creates its context.
cudaError_t begin_call(const char* function);
cudaError_t begin_device_call(const char* function);
// The third one is for functions that may be unsafe while another thread captures a stream in the global mode: they
// end such a capture, and fail, unless the calling thread's capture mode allows them.
cudaError_t begin_unsafe_call(const char* function);
void create_context(Device& device);
// Writes to the log that there is one more (or one less) of a kind of object: "+ stream", "- stream".
void log_made(const char* kind);
void log_ended(const char* kind);
// Writes to the log how many nodes a new node of a graph follows: "dependencies 2".
void log_dependencies(std::size_t count);

// Remembers the error for cudaGetLastError.
cudaError_t noted(cudaError_t error);
// Why the runtime cannot be used at all: cudaErrorInsufficientDriver, cudaErrorNoDevice, or cudaSuccess.
cudaError_t availability();
// Whether the compute mode keeps this process from opening devices.
bool is_refused();
// The same, and why a device cannot be used: the fault of an operation before, or cudaErrorDevicesUnavailable.
cudaError_t health(Device& device);
cudaError_t health();  // of the current device
void set_fault(Device& device, cudaError_t error, const std::string& text);

cudaError_t free_now(Device& device, void* pointer);
// Whether bytes lie partly in memory of the host that is registered or allocated, or in several such ranges.
bool crosses_host_range(const void* pointer, std::size_t bytes);

// A kernel's entry: the sizes of its parameters, and a function that calls it with pointers to them.
struct KernelRow {
  std::vector<std::size_t> sizes;
  std::function<void(void* const* arguments)> call;
};

// A kernel that can be launched, and its attributes.
struct Kernel {
  KernelRow row;
  std::string name = "a kernel";
  unsigned most_threads = 1024;
  std::array<std::size_t, most_devices> shared_limits;  // bytes of dynamic shared memory, of each device
  std::array<bool, most_devices> has_opted_in{};        // to more than 48 KiB of static and dynamic memory
};

// A launch, with copies of its arguments.
struct KernelCall {
  std::shared_ptr<const Kernel> kernel;
  dim3 grid, block;
  std::size_t shared = 0;
  std::size_t shared_limit = 0;      // of static and dynamic memory
  std::vector<std::byte> arguments;  // each at a multiple of 64 bytes
};
cudaError_t copy_call(KernelCall& call, const Device& device, const void* function, dim3 grid, dim3 block,
                      void** arguments, std::size_t shared);
// Runs it on the calling thread; a fault becomes the device's.
void run_call(Device& device, const KernelCall& call);
// FERRULE_EMULATION_ORDER; `seed` is set for Order::random.
Order order_from_environment(std::uint64_t& seed);

}  // namespace emulation

// Work of a stream or of a graph.
struct EmulatedNode {
  enum class Kind : std::uint8_t {
    kernel,
    transfer,       // a copy or memset
    host_function,  // of cudaLaunchHostFunc
    bookkeeping,    // an event, memory that is freed: done even after a fault
  };
  Kind kind = Kind::kernel;
  emulation::KernelCall kernel;
  std::function<void()> other;            // for all but kernels
  std::vector<std::size_t> dependencies;  // numbers of nodes of the same graph

  // Kernels and transfers are counted, for FERRULE_EMULATION_FAULT_AT.
  bool is_counted() const { return kind == Kind::kernel || kind == Kind::transfer; }
};

namespace emulation {

// Numbers for `count` operations on streams; returns the first one. The first one of a process is 1.
std::uint64_t number_operations(std::uint64_t count);
// Runs a node on the calling thread, unless the device has a fault.
void run_node(Device& device, const EmulatedNode& node, std::uint64_t number);

}  // namespace emulation

struct EmulatedGraph {
  std::vector<std::unique_ptr<EmulatedNode>> nodes;
};

struct EmulatedGraphExec {
  std::vector<const EmulatedNode*> origins;
  std::vector<std::shared_ptr<EmulatedNode>> nodes;  // in the order in which they run
};

// Work of a device in order, on an OS thread.
struct EmulatedStream {
  explicit EmulatedStream(emulation::Device& on) : device(on), thread([this] { run(); }) {}
  ~EmulatedStream();
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  // Adds work to the stream, or to the graph that is being captured.
  void add(EmulatedNode node);
  void add(EmulatedNode::Kind kind, std::function<void()> work) { add({kind, {}, std::move(work), {}}); }
  void synchronize();
  bool idle();

  emulation::Device& device;
  EmulatedGraph* captured = nullptr;  // of cudaStreamBeginCapture
  cudaStreamCaptureMode capture_mode = cudaStreamCaptureModeGlobal;
  std::uint64_t capture_ends = 0;  // ProcessState::ends when it began

 private:
  struct Work {
    EmulatedNode node;
    std::uint64_t number = 0;
  };
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Work> work_;
  bool busy_ = false, ending_ = false;
  std::thread thread;
};
