// Kernels that are generated as text, compiled by NVRTC, and loaded.
#pragma once

#include <atomic>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "device/kernels.h"
#include "device/open_device.h"
#include "nvrtc/code_cache.h"

namespace ferrule::cuda {

// Compiled kernels of one open device. Makes each kernel once, and keeps the `max_idle` most recently used of those
// that no graph uses. Thread-safe. The device must be the calling thread's current one.
class GeneratedKernels {
 public:
  static constexpr const char* kernel_name = "generated";  // of the kernel in each text

  explicit GeneratedKernels(OpenDevice& device, size_t max_idle = 128) : device_(device), max_idle_(max_idle) {}
  GeneratedKernels(const GeneratedKernels&) = delete;
  GeneratedKernels& operator=(const GeneratedKernels&) = delete;

  // Whether kernels can be compiled. With `with_math`, whether they have the same exp, sin and so on as the module's
  // own kernels: these differ between versions of CUDA. Opens NVRTC at the first call.
  bool can_compile(bool with_math);
  // Waits if another thread compiles the same text. None, with a line in the log, if it cannot be compiled or loaded:
  // that is never an error of the caller.
  std::optional<LoadedKernel> get(const std::string& text);
  // Saves compiled code for the next process. Call it after a graph is compiled.
  void save() noexcept;

 private:
  using Made = std::shared_future<std::optional<LoadedKernel>>;
  struct Entry {
    std::string text;
    Made made;
  };
  std::optional<LoadedKernel> make(const std::string& text) noexcept;
  std::optional<LoadedKernel> load(const std::vector<uint8_t>& code, std::string& complaint);
  std::list<Entry> take_idle();

  OpenDevice& device_;
  const size_t max_idle_;
  std::once_flag opening_;
  std::unique_ptr<const Nvrtc> nvrtc_;
  std::unique_ptr<CodeCache> cache_;
  std::mutex mutex_;
  std::atomic<bool> has_warned_{false};
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<std::string_view, std::list<Entry>::iterator> by_text_;
};

}  // namespace ferrule::cuda
