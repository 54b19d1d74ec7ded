// One execution of an executable: its slots, its workspace, its steps.
#pragma once

#include "core/executor/executable.h"
#include "core/registry/device.h"

namespace ferrule {

// A segment as the module compiled it; ends before its device can be closed.
struct CompiledSegment {
  Live live;
  fe_module_executable* executable = nullptr;
  uint64_t scratch_size = 0;
  CompiledSegment() = default;
  CompiledSegment(CompiledSegment&& other) noexcept
      : live(std::move(other.live)),
        executable(std::exchange(other.executable, nullptr)),
        scratch_size(other.scratch_size) {}
  CompiledSegment& operator=(CompiledSegment&&) = delete;
  ~CompiledSegment();
};

struct Executable::Parts {
  Plan plan;
  std::vector<CompiledSegment> segments;  // of each step; empty for transfers
  std::vector<std::shared_ptr<Device>> devices;
};

class Run {
 public:
  Run(const Executable::Parts& parts, std::span<const TypedView> inputs, std::span<const fe_scalar> scalars,
      std::span<const OutputMemory> outputs, Cancel cancel)
      : plan_(parts.plan),
        segments_(parts.segments),
        inputs_(inputs),
        scalars_(scalars),
        out_memory_(outputs),
        cancel_(cancel) {}
  std::vector<TypedView> compute();

 private:
  void bind_inputs();
  void bind_slots();
  void bind_output(const Slot& slot, TypedView& bound);
  void execute(const Segment& segment, const CompiledSegment& compiled);
  std::vector<TypedView> collect_outputs();
  void deliver(std::size_t output, TypedView& result);

  const Plan& plan_;
  const std::vector<CompiledSegment>& segments_;
  std::span<const TypedView> inputs_;
  std::span<const fe_scalar> scalars_;
  std::span<const OutputMemory> out_memory_;
  Cancel cancel_;
  std::vector<TypedView> copied_inputs_;  // those that had to be laid out anew
  std::vector<const TypedView*> bound_inputs_;
  std::vector<TypedView> slots_;
  std::vector<bool> written_in_place_;       // outputs that are in the caller's memory already
  std::vector<std::shared_ptr<void>> keep_;  // memory of this execution
};

}  // namespace ferrule
