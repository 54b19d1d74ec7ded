// The plan of a node: launches of kernels.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/planning.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "device/physical_device.h"
#include "device/stream_call.h"
#include "device/tensor_maps.h"
#include "parameters/common.h"

namespace ferrule::cuda {

// A field of a launch's parameters that is different in each execution.
struct Binding {
  enum class What : uint8_t {
    value,           // an Address: where the first element of a value of the graph view is
    scalar,          // the 8 bytes of a scalar, in place of an Address
    scratch,         // an Address in the memory that the launches of a node share
    fault,           // the Address of the queue's Fault
    stored_scalars,  // the Address of memory for the execution's scalars
    scalars,         // a StoreScalarsParameters::scalars: those from number `value` on
    tensor_map       // a TensorMap of a value, of the shape Launch::tensor_maps[shape]
  };
  What what;
  bool is_written = false;
  uint32_t offset = 0;  // in the parameters
  uint32_t value = 0;   // of the graph view
  uint32_t shape = 0;
};

// One kernel and its grid. `parameters` is the kernel's struct.
struct Launch {
  std::string kernel;  // "take.u32": the kernel take_u32 of take.cu
  std::array<uint32_t, 3> grid = {1, 1, 1};
  uint32_t block = 1;          // threads
  uint32_t shared_memory = 0;  // bytes of dynamic shared memory
  std::vector<std::byte> parameters = {};
  std::vector<Binding> bindings = {};
  bool is_program = false;  // a Program of parameters/elementwise.h, for which a kernel may be generated
  std::vector<TensorMapShape> tensor_maps = {};
  // A call that replaces a kernel. If it succeeds, the next `replaces` launches are left out.
  std::shared_ptr<const StreamCall> call = nullptr;
  uint32_t replaces = 0;

  // The Address at `offset` of the parameters: offsetof(TakeParameters, x).
  void reads(size_t offset, uint32_t value) { bind({Binding::What::value, false, field(offset), value}); }
  void writes(size_t offset, uint32_t value) { bind({Binding::What::value, true, field(offset), value}); }
  // The Address is `bytes` from the start of the node's scratch memory.
  void uses_scratch(size_t offset, uint64_t bytes, bool is_written) {
    std::memcpy(parameters.data() + offset, &bytes, sizeof bytes);
    bind({Binding::What::scratch, is_written, field(offset), 0});
  }
  // The TensorMap at `offset` describes a value, which the launch reads.
  void maps(size_t offset, uint32_t value, const TensorMapShape& shape) {
    bind({Binding::What::tensor_map, false, field(offset), value, static_cast<uint32_t>(tensor_maps.size())},
         sizeof(TensorMap));
    tensor_maps.push_back(shape);
  }
  void reports_faults(size_t offset) { bind({Binding::What::fault, false, field(offset), 0}); }
  void takes_scalar(size_t offset, uint32_t value) { bind({Binding::What::scalar, false, field(offset), value}); }

 private:
  static uint32_t field(size_t offset) { return static_cast<uint32_t>(offset); }
  void bind(Binding binding, size_t bytes = sizeof(Address)) {
    if (binding.offset + bytes > parameters.size())
      throw sdk::Error(FE_INTERNAL, kernel + " has no parameter at " + std::to_string(binding.offset));
    bindings.push_back(binding);
  }
};

// A launch of `blocks` blocks of `threads` threads.
template <class Parameters>
Launch launch_of(std::string kernel, const Parameters& parameters, uint64_t blocks, uint32_t threads,
                 uint32_t shared_memory = 0) {
  static_assert(std::is_trivially_copyable_v<Parameters>);
  if (blocks > INT32_MAX)
    throw sdk::Error(FE_UNSUPPORTED, std::to_string(blocks) + " blocks are more than a grid can have");
  Launch launch{.kernel = std::move(kernel),
                .grid = {static_cast<uint32_t>(blocks), 1, 1},
                .block = threads,
                .shared_memory = shared_memory};
  launch.parameters.resize(sizeof(Parameters));
  std::memcpy(launch.parameters.data(), &parameters, sizeof(Parameters));
  return launch;
}

using Plan = sdk::NodePlan<Launch>;

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

using sdk::PlannedNode;
using Kernel = sdk::PlannedKernel<Plan, Capabilities>;

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::cuda
