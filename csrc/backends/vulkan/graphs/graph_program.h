// A graph's dispatches, and what one queue needs to run them.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graphs/address_table.h"
#include "device/context.h"
#include "pipelines/pipelines.h"
#include "queues/queue.h"
#include "queues/timestamps.h"

namespace ferrule::vulkan {

struct Step {
  PipelinePointer pipeline;
  std::array<uint32_t, 3> groups;
  uint64_t parameters;  // bytes from the start of all parameters
  bool barrier;         // must wait for what came before
  uint32_t node;        // of the view
};

// What does not change between executions; alive until the last of them is done.
class Program : public std::enable_shared_from_this<Program> {
 public:
  Program(std::shared_ptr<Context> context, const fe_graph_view& view, std::vector<Step> steps,
          const std::vector<std::byte>& parameters, std::vector<std::string> names);
  ~Program();

  void run(Queue& queue, const fe_execution& execution);

 private:
  // What the shaders of one queue read: what it runs, it runs in order, so that one will do.
  struct Frame;

  uint64_t parameters_at() const { return (table_.size() + 63) / 64 * 64; }  // bytes, in a frame
  Frame& frame_of(const Queue& queue);
  void record(Frame& frame) const;
  // `times`, if any: the first is when the first step begins, each other one when the steps of a node are done.
  void write_steps(VkCommandBuffer commands, const Frame& frame, const Timestamps* times) const;
  // How many nodes have steps, which follow each other.
  uint32_t traced_nodes() const;
  void tell_times(const Timestamps& times, fe_trace_function trace, void* argument) const;
  void check_fault(const Allocation& record) const;

  std::shared_ptr<Context> context_;
  AddressTable table_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;  // of the ops, by the value that they write
  Allocation parameters_;
  std::mutex mutex_;
  // Of queues that may be gone: their work is done then, and a new one at the same place may have the frame.
  std::map<const Queue*, std::unique_ptr<Frame>> frames_;
};

}  // namespace ferrule::vulkan
