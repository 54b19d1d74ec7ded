// One execution of an executable: its slots, workspace and steps.
#pragma once

#include "core/executor/executable.h"
#include "core/executor/observer.h"
#include "core/memory/kept_memory.h"
#include "core/registry/device.h"
#include "core/sync/reuse_pool.h"

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

struct Executable::Parts : std::enable_shared_from_this<Executable::Parts> {
  explicit Parts(bool guard) : observer(guard) {}
  Plan plan;
  std::vector<CompiledSegment> segments;  // per step; empty for transfers
  std::vector<StridedArray>
      transferred_constants;             // per slot: a constant that was copied to its device; else no storage
  std::vector<bool> is_transfer_target;  // per slot: a transfer writes it
  std::vector<std::shared_ptr<Device>> devices;
  mutable ReusePool<RunArrays> arrays;
  mutable Observer observer;
};

class Run {
 public:
  Run(const Executable::Parts& parts, std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
      std::span<const OutputMemory> outputs, RunOptions options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  std::vector<StridedArray> compute();

 private:
  std::vector<StridedArray> computed();
  void bind_inputs();
  void bind_slots();
  // run_outputs.cpp
  void check_out_memory() const;
  void bind_output(const Slot& slot, StridedArray& bound);
  bool take_over(const Slot& slot, StridedArray& bound);
  bool is_read(const OutputMemory& memory) const;
  bool is_overwritten(const StridedArray& view) const;
  StridedArray passed_through(std::size_t number, const Plan::Output& output, StridedStorage view) const;
  std::vector<StridedArray> collect_outputs();
  StridedArray slot_output(std::size_t number, const Plan::Output& output) const;
  const fe_scalar& scalar(uint32_t number) const;
  // The value of a dynamic offset in elements. Throws if a start is out of range.
  int64_t evaluate_offset(const DynamicOffset& offset) const;
  StridedArray scalar_output(const Plan::Output& output) const;
  void deliver(std::size_t number, StridedArray& result);

  void execute(const Segment& segment, const CompiledSegment& compiled);
  void await_operands(const Segment& segment, const CompiledSegment& compiled);
  void finish_reads_of_borrowed_memory();
  void run_transfer(const Transfer& transfer);
  StridedArray written_array(const std::shared_ptr<Device>& device, const TensorType& type, const char* what);
  WrittenMemory working_memory(const std::shared_ptr<Device>& device, KeptMemory* kept, uint64_t size,
                               const char* what);

  const Executable::Parts& parts_;
  const Plan& plan_;
  std::span<const StridedArray> inputs_;
  std::span<const fe_scalar> scalars_;
  std::span<const OutputMemory> out_memory_;
  RunOptions options_;
  ReusePool<RunArrays>::Use arrays_;
  RunObserver observer_;
  bool has_executed_ = false;  // or begun to execute
};

}  // namespace ferrule
