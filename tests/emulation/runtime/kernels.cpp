#include <cstdlib>
#include <cstring>

#include "emulation/launch.h"
#include "runtime/state.h"

namespace emulation {
namespace {

struct Kernels {
  std::mutex mutex;
  std::map<const void*, KernelRow> rows;
  std::map<const void*, std::size_t> shared_limits;
  std::map<const void*, std::string> names;
};
Kernels& kernels() {
  static auto& all = *new Kernels();
  return all;
}

// Order::forward, Order::reverse, or Order::random with a seed.
void set_order(LaunchShape& shape) {
  const char* const text = std::getenv("FERRULE_EMULATION_ORDER");
  if (text == nullptr || std::strcmp(text, "forward") == 0) return;
  shape.order = std::strcmp(text, "reverse") == 0 ? Order::reverse : Order::random;
  if (shape.order == Order::random) shape.seed = number_from_environment("FERRULE_EMULATION_ORDER", 0);
}

}  // namespace

bool knows_kernel(const void* function) {
  const std::scoped_lock lock(kernels().mutex);
  return kernels().rows.contains(function);
}

void register_kernel(const void* function, KernelRow row) {
  const std::scoped_lock lock(kernels().mutex);
  kernels().rows.emplace(function, std::move(row));
}

void name_kernel(const void* function, const std::string& name) {
  const std::scoped_lock lock(kernels().mutex);
  kernels().names[function] = name;
}

cudaError_t set_shared_limit(const void* function, std::size_t bytes) {
  if (bytes > most_shared) return noted(cudaErrorInvalidValue);
  const std::scoped_lock lock(kernels().mutex);
  kernels().shared_limits[function] = bytes;
  return cudaSuccess;
}

cudaError_t copy_call(KernelCall& call, const void* function, dim3 grid, dim3 block, void** arguments,
                      std::size_t shared) {
  const std::scoped_lock lock(kernels().mutex);
  const auto found = kernels().rows.find(function);
  if (found == kernels().rows.end()) return cudaErrorInvalidValue;
  if (!refusal_of({.grid = grid, .block = block}).empty()) return cudaErrorInvalidValue;
  const auto limit = kernels().shared_limits.find(function);
  if (shared > (limit == kernels().shared_limits.end() ? shared_without_opt_in : limit->second))
    return cudaErrorInvalidValue;
  call = {function, grid, block, shared, {}};
  for (std::size_t i = 0; i < found->second.sizes.size(); ++i) {
    const auto* const begin = static_cast<const std::byte*>(arguments[i]);
    call.arguments.emplace_back(begin, begin + found->second.sizes[i]);
  }
  return cudaSuccess;
}

void run_call(Device& device, const KernelCall& call) {
  {
    const std::scoped_lock lock(device.mutex);
    if (!device.fault.empty()) return;  // nothing runs after a fault
  }
  const KernelRow* row = nullptr;
  std::string name = "a kernel";
  {
    const std::scoped_lock lock(kernels().mutex);
    row = &kernels().rows.at(call.function);
    const auto named = kernels().names.find(call.function);
    if (named != kernels().names.end()) name = named->second;
  }
  std::vector<std::vector<std::byte>> copies = call.arguments;
  std::vector<void*> pointers;
  pointers.reserve(copies.size());
  for (std::vector<std::byte>& copy : copies) pointers.push_back(copy.data());
  LaunchShape shape;
  shape.grid = call.grid;
  shape.block = call.block;
  shape.dynamic_shared = call.shared;
  set_order(shape);
  try {
    run_grid(name, shape, [&] { row->call(pointers.data()); });
  } catch (const std::exception& error) {
    set_fault(device, error.what());
  }
}

cudaError_t launch_registered(const void* function, dim3 grid, dim3 block, void** arguments, std::size_t shared,
                              cudaStream_t stream) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  EmulatedNode node;
  if (const cudaError_t error = copy_call(node.kernel, function, grid, block, arguments, shared); error != cudaSuccess)
    return noted(error);
  stream->add(std::move(node));
  return cudaSuccess;
}

}  // namespace emulation
