// A compiled plan, ready to run: the module executables of its segments, and what they bind.
#pragma once

#include "core/cancel.h"
#include "core/compiler/plan.h"
#include "core/copy/strided_array.h"

#include <ferrule/ferrule.h>

#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace ferrule {

// Memory of the caller for an output; null = a new storage.
struct OutputMemory {
  void* pointer = nullptr;
  uint64_t size = 0;
};

// Gives the memory of an input to an output that is that input with some bytes changed.
class Donor {
 public:
  virtual ~Donor() = default;
  // The bytes of an input in a storage that nothing else references; null if they are shared: the run then reads them
  // and writes elsewhere. `holders`: how many references to the input's storage the run and its inputs have.
  virtual std::shared_ptr<Storage> take(std::size_t input, long holders) = 0;
  // Called when the run fails; `has_written`: it may have written results.
  virtual void failed(bool has_written) noexcept = 0;
};

// Options of a run.
struct RunOptions {
  Cancel cancel = {};
  uint32_t thread_limit = 0;  // maximum number of threads; 0 = all
  Donor* donor = nullptr;
};

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

  struct Parts;

 private:
  explicit Executable(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

// Compiles a graph for a device: compile() and create(), with the fallback devices and constant folding. Throws
// Error(unsupported) if no device supports a node.
std::shared_ptr<Executable> build_executable(Graph graph, std::shared_ptr<Device> device, Fallback fallback, bool fuse,
                                             bool guard = false);

// Releases the graphs that made contiguous copies (gather_graph.cpp).
void clear_gathers();

// Counters for fe_stats.
struct ExecutionCounters {
  std::atomic<uint64_t> compiles{0}, executions{0}, cache_hits{0}, transfers{0};
};
ExecutionCounters& execution_counters();

}  // namespace ferrule
