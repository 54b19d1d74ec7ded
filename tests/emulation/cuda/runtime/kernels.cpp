// Kernels: the libraries that have them, their attributes, launches.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "emulation/code_image.h"
#include "emulation/environment.h"
#include "emulation/launch.h"
#include "cuda/runtime/compiled_libraries.h"
#include "cuda/runtime/settings.h"
#include "cuda/runtime/state.h"

// Its address is the kernel's handle.
struct EmulatedKernel {
  const emulation::KernelRecord* record;
};

struct EmulatedLibrary {
  std::shared_ptr<const emulation::CompiledImage> compiled;  // has the names; null for the kernels of a module
  std::map<std::string_view, EmulatedKernel> kernels;
};

namespace emulation {
namespace {

struct Kernels {
  std::mutex mutex;
  std::map<const void*, std::shared_ptr<Kernel>> all;  // by the function or by the handle
};
Kernels& kernels() {
  static auto& all = *new Kernels();
  return all;
}

// The caller holds the mutex.
Kernel& entry_of(const void* function) {
  std::shared_ptr<Kernel>& kernel = kernels().all[function];
  if (!kernel) {
    kernel = std::make_shared<Kernel>();
    kernel->shared_limits.fill(shared_without_opt_in);
  }
  return *kernel;
}

// Null if it is not known. The caller holds the mutex.
std::shared_ptr<Kernel> find_kernel(const void* function) {
  const auto found = kernels().all.find(function);
  return found == kernels().all.end() || !found->second->row.call ? nullptr : found->second;
}

constexpr std::size_t most_alignment = 128;  // of a parameter
constexpr std::size_t rounded_up(std::size_t bytes) {
  return (bytes + most_alignment - 1) / most_alignment * most_alignment;
}

}  // namespace

Order order_from_environment(std::uint64_t& seed) {
  const char* const text = std::getenv("FERRULE_EMULATION_ORDER");
  if (text == nullptr || std::strcmp(text, "forward") == 0) return Order::forward;
  if (std::strcmp(text, "reverse") == 0) return Order::reverse;
  const char* const end = text + std::strlen(text);
  if (const auto read = std::from_chars(text, end, seed); read.ec != std::errc() || read.ptr != end)
    refuse("FERRULE_EMULATION_ORDER", text, "forward, reverse or a number");
  return Order::random;
}

cudaError_t copy_call(KernelCall& call, const Device& device, const void* function, dim3 grid, dim3 block,
                      void** arguments, std::size_t shared) {
  const std::scoped_lock lock(kernels().mutex);
  std::shared_ptr<Kernel> kernel = find_kernel(function);
  if (!kernel) return cudaErrorInvalidDeviceFunction;
  if (!refusal_of({.grid = grid, .block = block}).empty()) return cudaErrorInvalidConfiguration;
  if (block.x * block.y * block.z > kernel->most_threads) return cudaErrorLaunchOutOfResources;
  if (shared > kernel->shared_limits[static_cast<std::size_t>(device.number)]) return cudaErrorInvalidValue;
  if (!kernel->row.sizes.empty() && arguments == nullptr) return cudaErrorInvalidValue;
  const bool has_opted_in = kernel->has_opted_in[static_cast<std::size_t>(device.number)];
  call = {kernel, grid, block, shared, has_opted_in ? most_shared : shared_without_opt_in, {}};
  std::size_t total = 0;
  for (const std::size_t size : kernel->row.sizes) total += rounded_up(size);
  call.arguments.resize(total);
  std::size_t at = 0;
  for (std::size_t i = 0; i < kernel->row.sizes.size(); ++i) {
    std::memcpy(call.arguments.data() + at, arguments[i], kernel->row.sizes[i]);
    at += rounded_up(kernel->row.sizes[i]);
  }
  return cudaSuccess;
}

void run_call(Device& device, const KernelCall& call) {
  std::vector<std::byte> arguments(call.arguments.size() + most_alignment);
  const std::size_t past = reinterpret_cast<std::uintptr_t>(arguments.data()) % most_alignment;
  std::byte* const aligned = arguments.data() + (most_alignment - past);
  if (!call.arguments.empty()) std::memcpy(aligned, call.arguments.data(), call.arguments.size());
  std::vector<void*> pointers;
  pointers.reserve(call.kernel->row.sizes.size());
  std::size_t at = 0;
  for (const std::size_t size : call.kernel->row.sizes) {
    pointers.push_back(aligned + at);
    at += rounded_up(size);
  }
  LaunchShape shape;
  shape.grid = call.grid;
  shape.block = call.block;
  shape.dynamic_shared = call.shared;
  shape.shared_limit = call.shared_limit;
  shape.time_limit = block_limit();
  shape.order = order_from_environment(shape.seed);
  try {
    run_grid(call.kernel->name, shape, [&] { call.kernel->row.call(pointers.data()); });
  } catch (const std::exception& error) {
    set_fault(device, cudaErrorLaunchFailure, error.what());
  }
}

}  // namespace emulation

using namespace emulation;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned jit_count,
                                cudaLibraryOption* options, void**, unsigned count) {
  if (const cudaError_t error = begin_call("cudaLibraryLoadData"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = availability(); error != cudaSuccess) return noted(error);
  if (library == nullptr || code == nullptr || jit_count != 0 || (count > 0 && options == nullptr))
    return noted(cudaErrorInvalidValue);
  std::shared_ptr<const CompiledImage> compiled;
  if (static_cast<const CompiledCode*>(code)->magic == CompiledCode::right_magic) {
    compiled = open_compiled(*static_cast<const CompiledCode*>(code));
    if (!compiled) return noted(cudaErrorInvalidKernelImage);
  }
  const auto& image = compiled ? *compiled->image : *static_cast<const CodeImage*>(code);
  if (image.magic != CodeImage::right_magic) return noted(cudaErrorInvalidKernelImage);
  auto made = std::make_unique<EmulatedLibrary>();
  made->compiled = compiled;
  const std::scoped_lock lock(kernels().mutex);
  for (const KernelRecord* const* record = image.begin; record != image.end; ++record) {
    if (*record == nullptr) continue;
    EmulatedKernel& handle = made->kernels[(*record)->name];
    handle.record = *record;
    Kernel& kernel = entry_of(&handle);
    kernel.name = (*record)->name;
    kernel.most_threads = (*record)->most_threads;
    kernel.row = {{(*record)->parameter_bytes}, [call = (*record)->call, compiled](void* const* arguments) {
                    if (compiled) compiled->set_indices(threadIdx, blockIdx, blockDim, gridDim);
                    call(arguments[0]);
                  }};
  }
  *library = made.release();
  log_made("library");
  return cudaSuccess;
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) {
  if (const cudaError_t error = begin_call("cudaLibraryUnload"); error != cudaSuccess) return noted(error);
  if (library == nullptr) return noted(cudaErrorInvalidResourceHandle);
  const std::scoped_lock lock(kernels().mutex);
  for (const auto& [name, handle] : library->kernels) kernels().all.erase(&handle);
  delete library;
  log_ended("library");
  return cudaSuccess;
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  if (const cudaError_t error = begin_call("cudaLibraryGetKernel"); error != cudaSuccess) return noted(error);
  if (library == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (kernel == nullptr || name == nullptr) return noted(cudaErrorInvalidValue);
  const auto found = library->kernels.find(name);
  if (found == library->kernels.end()) return noted(cudaErrorSymbolNotFound);
  *kernel = &found->second;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                             cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaLaunchKernel"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  // A kernel runs on the current device, and so must the stream.
  if (stream == nullptr || &stream->device != &current_device()) return noted(cudaErrorInvalidResourceHandle);
  EmulatedNode node;
  const cudaError_t error = copy_call(node.kernel, stream->device, function, grid, block, arguments, shared);
  if (error != cudaSuccess) return noted(error);
  stream->add(std::move(node));
  return cudaSuccess;
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (const cudaError_t error = begin_device_call("cudaFuncSetAttribute"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  const std::scoped_lock lock(kernels().mutex);
  const std::shared_ptr<Kernel> kernel = find_kernel(function);
  if (!kernel) return noted(cudaErrorInvalidDeviceFunction);
  if (attribute == cudaFuncAttributePreferredSharedMemoryCarveout) return cudaSuccess;  // a hint
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      static_cast<std::size_t>(value) > most_shared)
    return noted(cudaErrorInvalidValue);
  const auto device = static_cast<std::size_t>(current_device().number);
  kernel->shared_limits[device] = static_cast<std::size_t>(value);
  kernel->has_opted_in[device] = true;
  return cudaSuccess;
}

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (const cudaError_t error = begin_device_call("cudaFuncGetAttributes"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (attributes == nullptr) return noted(cudaErrorInvalidValue);
  const std::scoped_lock lock(kernels().mutex);
  const std::shared_ptr<Kernel> kernel = find_kernel(function);
  if (!kernel) return noted(cudaErrorInvalidDeviceFunction);
  *attributes = {};
  attributes->maxThreadsPerBlock = static_cast<int>(kernel->most_threads);
  attributes->numRegs = 32;
  attributes->ptxVersion = attributes->binaryVersion = settings().major * 10 + settings().minor;
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(kernel->shared_limits[static_cast<std::size_t>(current_device().number)]);
  return cudaSuccess;
}
