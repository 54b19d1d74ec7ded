// One execution of an executable: its slots, workspace and steps.
#pragma once

#include "core/executor/executable_parts.h"
#include "core/executor/run_options.h"

#include <ferrule/ferrule.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace ferrule {

class Run {
 public:
  Run(const ExecutableParts& parts, std::span<const StridedArray> inputs, std::span<const fe_scalar> scalars,
      std::span<const OutputMemory> outputs, RunOptions options);
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;
  std::vector<StridedArray> compute();

 private:
  std::vector<StridedArray> compute_results();
  void bind_inputs();
  void bind_slots();
  // run_outputs.cpp
  void check_out_memory() const;
  void bind_output(const Slot& slot, StridedArray& bound);
  bool take_over(const Slot& slot, StridedArray& bound);
  bool is_read(const OutputMemory& memory) const;
  bool is_overwritten(const StridedArray& view) const;
  StridedArray pass_through(std::size_t number, const Plan::Output& output, StridedStorage view) const;
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
  StridedArray make_written_array(const std::shared_ptr<Device>& device, const TensorType& type, const char* what);
  WrittenMemory working_memory(const std::shared_ptr<Device>& device, KeptMemory* kept, uint64_t size,
                               const char* what);

  const ExecutableParts& parts_;
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
