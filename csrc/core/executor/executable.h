// A compiled plan, ready to run: the module executables of its segments, and what they bind.
#pragma once

#include "core/compiler/plan.h"
#include "core/copy/strided_array.h"
#include "core/executor/run_options.h"

#include <ferrule/ferrule.h>

#include <memory>
#include <span>
#include <vector>

namespace ferrule {

struct ExecutableParts;

class Executable {
 public:
  // Compiles the plan's segments. Keeps the devices alive and prevents their unloading. With `guard`, every run
  // surrounds the memory that modules write with guard zones, and throws if one was written.
  static std::shared_ptr<Executable> create(Plan plan, const std::string& description, bool guard = false);
  ~Executable();
  const Plan& plan() const;

  // Inputs must have the types of the plan; one with another device or strides is copied if the plan's strides are
  // contiguous. Error(invalid_argument) names what differs. `scalars`: the graph's scalars. If `outputs[i].pointer` is
  // set (`outputs` may be empty), the result is written there and the returned array has no storage. Devices with
  // queues may still be writing other results when this returns: readers wait for them, and get late errors.
  // Thread-safe.
  std::vector<StridedArray> compute(std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
                                    std::span<const OutputMemory> outputs = {}, RunOptions options = {});

 private:
  explicit Executable(std::shared_ptr<ExecutableParts> parts);
  std::shared_ptr<ExecutableParts> parts_;
};

// Compiles a graph for a device: compile() and create(), with the fallback devices and constant folding. Throws
// Error(unsupported) if no device supports a node.
std::shared_ptr<Executable> build_executable(Graph graph, std::shared_ptr<Device> device, Fallback fallback, bool fuse,
                                             bool guard = false);

// Releases the graphs that made contiguous copies (gather_graph.cpp).
void clear_gathers();

}  // namespace ferrule
