// The plan of a node: dispatches of compiled kernels.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/planning.hpp>

#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "device/physical_device.h"
#include "pipelines/pipelines.h"

namespace ferrule::metal {

// Stands for the node's scratch memory in the lists of a dispatch.
inline constexpr uint32_t scratch_value = UINT32_MAX;

// One kernel and its grid. What it reads and then what it writes is bound from [[buffer(0)]] on, each at the element
// (0, ..., 0) of its value; the record of faults is [[buffer(29)]], the parameters are [[buffer(30)]].
struct Dispatch {
  static constexpr size_t most_values = 29;

  KernelSource kernel = {};
  std::array<uint32_t, 3> groups = {1, 1, 1};     // of `kernel.threads` threads
  std::vector<std::byte> parameters = {};         // the kernel's own struct
  std::vector<uint32_t> reads = {}, writes = {};  // values of the graph view, or scratch_value
  bool shuffles = false;                          // lanes of its simdgroups exchange values

  template <class Struct>
  void set_parameters(const Struct& from) {
    static_assert(std::is_trivially_copyable_v<Struct>);
    parameters.resize(sizeof(Struct));
    std::memcpy(parameters.data(), &from, sizeof(Struct));
  }
};

struct Plan {
  sdk::Support support = {};
  std::vector<Dispatch> dispatches = {};
  uint64_t scratch = 0;  // bytes that the node's dispatches share
  // Inputs, by number, that no dispatch reads: the dispatches read the operands of the nodes that write them. Such a
  // node is left out if nothing else reads its results.
  std::vector<uint32_t> unread = {};
};

inline Plan refusal(std::string reason) { return {.support = {.supported = false, .reason = std::move(reason)}}; }

using sdk::PlannedNode;
using Kernel = sdk::PlannedKernel<Plan, Capabilities>;

// The kernel of an op; null if there is none.
const Kernel* find_kernel(std::string_view op);

}  // namespace ferrule::metal
