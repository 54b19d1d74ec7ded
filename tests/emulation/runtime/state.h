// The state of the emulated devices. Internal to the runtime.
#pragma once

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

namespace emulation {

struct Device {
  int number = 0;
  std::mutex mutex;
  std::size_t total = 0, used = 0;
  std::map<void*, std::size_t> allocations;
  std::string fault;  // once set, all calls of the device fail, as on a GPU
};

unsigned long long number_from_environment(const char* name, unsigned long long otherwise);
std::vector<std::unique_ptr<Device>>& devices();
Device& current_device();
// Remembers the error for cudaGetLastError.
cudaError_t noted(cudaError_t error);
// cudaErrorLaunchFailure if a kernel of the current device has failed.
cudaError_t health();
void set_fault(Device& device, const std::string& text);

cudaError_t free_now(Device& device, void* pointer);

// A launch whose arguments are copied.
struct KernelCall {
  const void* function = nullptr;
  dim3 grid, block;
  std::size_t shared = 0;
  std::vector<std::vector<std::byte>> arguments;
};
cudaError_t copy_call(KernelCall& call, const void* function, dim3 grid, dim3 block, void** arguments,
                      std::size_t shared);
// Runs it on the calling thread; a fault becomes the device's.
void run_call(Device& device, const KernelCall& call);

}  // namespace emulation

// Work of a graph: a kernel, or another function.
struct EmulatedNode {
  emulation::KernelCall kernel;
  std::function<void()> other;
};

struct EmulatedGraph {
  std::vector<std::unique_ptr<EmulatedNode>> nodes;  // in order, each after the one before it
};

struct EmulatedGraphExec {
  std::vector<const EmulatedNode*> origins;
  std::vector<std::shared_ptr<EmulatedNode>> nodes;
};

// Work of a device in order, on an OS thread.
struct EmulatedStream {
  explicit EmulatedStream(emulation::Device& on) : device(on), thread([this] { run(); }) {}
  ~EmulatedStream();
  EmulatedStream(const EmulatedStream&) = delete;
  EmulatedStream& operator=(const EmulatedStream&) = delete;
  // Adds work to the stream, or to the graph that is being captured.
  void add(EmulatedNode node);
  void synchronize();
  bool idle();

  emulation::Device& device;
  EmulatedGraph* captured = nullptr;  // of cudaStreamBeginCapture

 private:
  void run();
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<EmulatedNode> work_;
  bool busy_ = false, ending_ = false;
  std::thread thread;
};
