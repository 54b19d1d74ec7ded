// The parts of an executable, which all of its runs share.
#pragma once

#include "core/compiler/plan.h"
#include "core/copy/strided_array.h"
#include "core/executor/observer.h"
#include "core/memory/kept_memory.h"
#include "core/registry/device.h"
#include "core/sync/reuse_pool.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

// A segment as compiled by the module; destroyed before its device can be closed.
struct CompiledSegment {
  DeviceUse device_use;
  fe_module_executable* executable = nullptr;
  uint64_t workspace_size = 0, scratch_size = 0;
  std::string what;              // what it computes, for errors
  std::vector<bool> is_written;  // per binding
  // Memory on devices with queues, shared by all executions, which follow one another in the queue.
  std::unique_ptr<KeptMemory> workspace = {}, scratch = {};
  CompiledSegment() = default;
  CompiledSegment(CompiledSegment&& other) noexcept
      : device_use(std::move(other.device_use)),
        executable(std::exchange(other.executable, nullptr)),
        workspace_size(other.workspace_size),
        scratch_size(other.scratch_size),
        what(std::move(other.what)),
        is_written(std::move(other.is_written)),
        workspace(std::move(other.workspace)),
        scratch(std::move(other.scratch)) {}
  CompiledSegment& operator=(CompiledSegment&&) = delete;
  ~CompiledSegment();
};

// Arrays that a run fills; kept between runs, so that a small graph allocates its outputs and little else.
struct RunArrays {
  std::vector<StridedArray> copied_inputs;  // copies of inputs with another device or layout
  std::vector<const StridedArray*> bound_inputs;
  std::vector<StridedArray> slots;
  std::vector<bool> written_in_place;  // outputs that are already in the caller's memory

  void clear() noexcept {
    copied_inputs.clear();
    bound_inputs.clear();
    slots.clear();
  }
  bool is_large() const noexcept { return false; }  // another run of the same graph needs as much
};

struct ExecutableParts : std::enable_shared_from_this<ExecutableParts> {
  explicit ExecutableParts(bool guard) : observer(guard) {}
  Plan plan;
  std::vector<CompiledSegment> segments;  // per step; empty for transfers
  std::vector<StridedArray>
      transferred_constants;             // per slot: a constant that was copied to its device; else no storage
  std::vector<bool> is_transfer_target;  // per slot: a transfer writes it
  std::vector<std::shared_ptr<Device>> devices;
  mutable ReusePool<RunArrays> arrays;
  mutable Observer observer;
};

}  // namespace ferrule
