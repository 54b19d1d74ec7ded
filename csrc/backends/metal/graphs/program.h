// The dispatches of a graph, and how a queue runs them.
#pragma once

#include <ferrule/backend.hpp>

#include <memory>
#include <mutex>
#include <vector>

#include "graphs/plan.h"
#include "queues/queue.h"

namespace ferrule::metal {

struct Step : sdk::DispatchStep {
  PipelinePointer pipeline;
  uint32_t threads;              // in a threadgroup
  std::vector<uint32_t> values;  // bound from [[buffer(0)]] on
};

// The part of an executable that does not change between executions; it lives until the last of them is done.
class Program : public std::enable_shared_from_this<Program> {
 public:
  static constexpr size_t parameter_alignment = 256;  // of offsets in the constant address space, on every Mac

  Program(std::shared_ptr<OpenDevice> device, const fe_graph_view& view, sdk::DispatchedGraph<Step> graph);

  void run(Queue& queue, const fe_execution& execution);
  uint64_t scratch_size() const { return scratch_; }

 private:
  struct Place {
    Id buffer = nullptr;
    Unsigned offset = 0;
  };
  // Returns the places of each value in one execution, and last the place of the scratch memory.
  std::vector<Place> places_of(const fe_execution& execution, const Memory& frame) const;
  std::vector<MemoryPointer> touched_by(const fe_execution& execution) const;
  // Encodes steps [begin, end) in an encoder of their own.
  void encode(Id commands, std::span<const Place> places, const Memory& frame, size_t begin, size_t end) const;
  // Memory for the record of faults and the scalars of one execution.
  MemoryPointer take_frame();
  void give_back(MemoryPointer frame);

  std::shared_ptr<OpenDevice> device_;
  sdk::ValuePlaces places_;
  uint32_t scalar_count_;
  std::vector<Step> steps_;
  std::vector<std::string> names_;  // of the ops, by the value that they write
  uint64_t scratch_;
  MemoryPointer parameters_;  // null if there are none
  std::mutex mutex_;
  std::vector<MemoryPointer> frames_;  // that no execution uses
};

}  // namespace ferrule::metal
