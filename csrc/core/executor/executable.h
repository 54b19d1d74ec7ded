// A compiled plan, ready to run: the module executables of its segments, and what they bind.
#pragma once

#include "core/cancel.h"
#include "core/compiler/plan.h"
#include "core/memory/storage.h"

#include <ferrule/ferrule.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace ferrule {

// What arrays hold, and what inputs and outputs are.
struct StridedArray {
  TensorType type;
  StridedStorage data;
};

// Where the caller wants an output: null = a new storage.
struct OutputMemory {
  void* pointer = nullptr;
  uint64_t size = 0;
};

// Gives the memory of an input to an output that is that input with some bytes changed.
class Donor {
 public:
  virtual ~Donor() = default;
  // The bytes of an input, whose storage the run and its inputs hold `holders` times, in a storage that nobody else
  // knows; null where others have them, too: then the run reads them, and writes elsewhere.
  virtual std::shared_ptr<Storage> take(std::size_t input, long holders) = 0;
  // The run failed; before it wrote anything, or not.
  virtual void failed(bool has_written) noexcept = 0;
};

// How a call computes.
struct RunOptions {
  Cancel cancel = {};
  uint32_t thread_limit = 0;  // threads, at most; 0 = all
  Donor* donor = nullptr;
};

class Executable {
 public:
  // Compiles the plan's segments. Holds the devices alive and refuses their unloading.
  // With `guard` every run surrounds what its modules write by guard zones, and throws when one was touched.
  static std::shared_ptr<Executable> create(Plan plan, const std::string& description, bool guard = false);
  ~Executable();
  const Plan& plan() const;

  // Inputs must have the types, strides and devices of the plan's; Error(invalid_argument) names what differs.
  // `scalars` holds the graph's scalars. Where `outputs[i].pointer` is set (outputs may be empty) the result is written
  // there and the returned array has no storage; others may still be being written, by devices with queues, when this
  // returns: who reads them waits, and is told late errors. Any thread.
  std::vector<StridedArray> compute(std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
                                    std::span<const OutputMemory> outputs = {}, RunOptions options = {});

 public:
  struct Parts;

 private:
  explicit Executable(std::shared_ptr<Parts> parts);
  std::shared_ptr<Parts> parts_;
};

// Graph to executable on a device, with the fallbacks that are there: compile() and create() with folding wired up.
// Throws Error(unsupported) when no device takes a node.
std::shared_ptr<Executable> build_executable(Graph graph, std::shared_ptr<Device> device, Fallback fallback, bool fuse,
                                             bool guard = false);

// A contiguous copy of the array on another (or the same) device.
StridedArray copy_to(const StridedArray& from, const std::shared_ptr<Device>& device);
// A copy on the same device. Axes of stride 0 keep that stride: what is repeated is copied once.
StridedArray copy_without_repeats(const StridedArray& from);
// Whether the owner of borrowed memory may change the elements at any time.
bool may_change(const StridedArray& view);
// Copies the elements, C-contiguous, to host memory. Waits for who writes them, and throws its error.
void read_to_host(const StridedArray& from, void* to, uint64_t size, const Cancel& cancel = {});

// Writes host memory, which is read before this returns, to the array's storage, from its offset on.
void write_from_host(const StridedArray& to, const void* from, uint64_t size);
// The same, of strided host memory whose first element is there. `change`, if any, changes what was gathered.
void write_gathered(const StridedArray& to, const std::byte* first, const Dims& byte_strides,
                    const std::function<void(std::span<std::byte>)>& change);

// A contiguous copy that the device makes of a strided array, behind what it does with it; none where it cannot.
// gather.cpp.
std::optional<StridedArray> gathered(const StridedArray& from);
// Lets go of what gathered() compiled.
void clear_gathers();
// Of the first element, in bytes from the buffer's beginning.
inline uint64_t buffer_offset(const StridedArray& of) {
  return of.data.storage->buffer_offset() + static_cast<uint64_t>(bytes_of(of.type.dtype, of.data.offset));
}

// Counters for fe_stats.
struct ExecutionCounters {
  std::atomic<uint64_t> compiles{0}, executions{0}, cache_hits{0}, transfers{0};
};
ExecutionCounters& execution_counters();

}  // namespace ferrule
