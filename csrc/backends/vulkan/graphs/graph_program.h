// The dispatches of a graph, and the memory and command buffer with which a queue runs them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "commands/timestamps.h"
#include "graphs/address_table.h"
#include "open_device/open_device.h"
#include "pipelines/pipelines.h"
#include "queues/queue.h"

namespace ferrule::vulkan {

struct Step : sdk::DispatchStep {
  PipelinePointer pipeline;
};

// The part of an executable that does not change between executions; it lives until the last of them is done.
class Program : public std::enable_shared_from_this<Program> {
 public:
  Program(std::shared_ptr<OpenDevice> context, const fe_graph_view& view, sdk::DispatchedGraph<Step> graph);
  ~Program();

  void run(Queue& queue, const fe_execution& execution);
  uint64_t scratch_size() const { return scratch_; }

 private:
  // The memory that the shaders of one queue read. A queue runs its work in order, so one frame is enough.
  struct Frame;

  uint64_t parameters_at() const { return (table_.size() + 63) / 64 * 64; }  // bytes, in a frame
  Frame& frame_of(const Queue& queue);
  void record(Frame& frame) const;
  // If `times` is not null, writes the start of the first step, then the end of the steps of each node.
  void write_steps(VkCommandBuffer commands, const Frame& frame, const Timestamps* times) const;
  // The number of nodes with steps. The steps of a node are contiguous.
  uint32_t traced_nodes() const;
  void tell_times(const Timestamps& times, fe_trace_function trace, void* argument) const;
  void check_fault(const Allocation& record) const;

  std::shared_ptr<OpenDevice> context_;
  AddressTable table_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;  // of the ops, by the value that they write
  uint64_t scratch_;
  Allocation parameters_;
  std::mutex mutex_;
  // The frame of each queue. When a queue is destroyed, its work is done; a new queue at the same address may use its
  // frame.
  std::map<const Queue*, std::unique_ptr<Frame>> frames_;
};

}  // namespace ferrule::vulkan
