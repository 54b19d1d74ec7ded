// One execution of an executable: its slots, its workspace, its steps.
#pragma once

#include "core/executor/executable.h"
#include "core/executor/guard_zones.h"
#include "core/executor/trace_labels.h"
#include "core/memory/kept_memory.h"
#include "core/registry/device.h"
#include "core/sync/reuse_pool.h"

namespace ferrule {

// A segment as the module compiled it; ends before its device can be closed.
struct CompiledSegment {
  Live live;
  fe_module_executable* executable = nullptr;
  uint64_t scratch_size = 0;
  std::string what;              // it computes, for errors
  std::vector<bool> is_written;  // of each binding
  // Where the device has queues: the same for all executions, which follow one another in its queue.
  std::unique_ptr<KeptMemory> workspace = {}, scratch = {};
  CompiledSegment() = default;
  CompiledSegment(CompiledSegment&& other) noexcept
      : live(std::move(other.live)),
        executable(std::exchange(other.executable, nullptr)),
        scratch_size(other.scratch_size),
        what(std::move(other.what)),
        is_written(std::move(other.is_written)),
        workspace(std::move(other.workspace)),
        scratch(std::move(other.scratch)) {}
  CompiledSegment& operator=(CompiledSegment&&) = delete;
  ~CompiledSegment();
};

// What a run fills; kept from run to run, so that a small graph allocates its outputs and little else.
struct RunArrays {
  std::vector<TypedView> copied_inputs;  // those that had to be laid out anew
  std::vector<const TypedView*> bound_inputs;
  std::vector<TypedView> slots;
  std::vector<bool> written_in_place;  // outputs that are in the caller's memory already

  void clear() noexcept {
    copied_inputs.clear();
    bound_inputs.clear();
    slots.clear();
  }
  bool is_large() const noexcept { return false; }  // another run of the same graph needs as much
};

struct Executable::Parts : std::enable_shared_from_this<Executable::Parts> {
  Plan plan;
  std::vector<CompiledSegment> segments;  // of each step; empty for transfers
  std::vector<TypedView> carried;         // of each slot: a constant that was carried to its device; else no storage
  std::vector<bool> is_carried_to;        // of each slot: a transfer writes it
  std::vector<std::shared_ptr<Device>> devices;
  bool guard = false;
  mutable ReusePool<RunArrays> arrays;
  mutable TraceLabels trace_labels;
};

class Run {
 public:
  Run(const Executable::Parts& parts, std::span<const TypedView> inputs, std::span<const fe_scalar> scalars,
      std::span<const OutputMemory> outputs, RunOptions options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  std::vector<TypedView> compute();

 private:
  std::vector<TypedView> computed();
  void bind_inputs();
  void bind_slots();
  // outputs.cpp
  void check_out_memory() const;
  void bind_output(const Slot& slot, TypedView& bound);
  bool take_over(const Slot& slot, TypedView& bound);
  bool is_read(const OutputMemory& memory) const;
  bool is_overwritten(const TypedView& view) const;
  TypedView passed_through(std::size_t number, const Plan::Output& output, View view) const;
  std::vector<TypedView> collect_outputs();
  TypedView slot_output(std::size_t number, const Plan::Output& output) const;
  const fe_scalar& scalar(uint32_t number) const;
  // Elements; throws where a start leaves its range.
  int64_t moved_by(const Movement& movement) const;
  TypedView scalar_output(const Plan::Output& output) const;
  void deliver(std::size_t number, TypedView& result);

  void execute(const Segment& segment, const CompiledSegment& compiled);
  void await_operands(const Segment& segment, const CompiledSegment& compiled);
  void finish_reads_of_lent_memory();
  void carry(const Transfer& transfer);
  TypedView written_array(const std::shared_ptr<Device>& device, const TensorType& type, const char* what);
  Guards::Room room(const std::shared_ptr<Device>& device, KeptMemory* kept, uint64_t size, const char* what);

  const Executable::Parts& parts_;
  const Plan& plan_;
  std::span<const TypedView> inputs_;
  std::span<const fe_scalar> scalars_;
  std::span<const OutputMemory> out_memory_;
  RunOptions options_;
  ReusePool<RunArrays>::Use arrays_;
  Guards guards_;
  bool has_executed_ = false;  // or begun to
};

// A new contiguous array; one without elements has no storage.
TypedView new_array(const std::shared_ptr<Device>& device, const TensorType& type);

}  // namespace ferrule
