// The launches of a graph, and how a queue runs them: one by one the first time, then as a CUDA graph whose parameters
// are changed where they differ.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "graphs/plan.h"
#include "queues/queue.h"

namespace ferrule::cuda {

struct Step {
  LoadedKernel kernel;
  Launch launch;
  uint32_t node;  // of the graph view
};

// The part of an executable that several queues may run at once.
class Program {
 public:
  // `scratch` is how many bytes of memory the launches of a node share at most.
  Program(std::shared_ptr<OpenDevice> device, const fe_graph_view& view, std::vector<Step> steps, uint64_t scratch);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  void run(Queue& queue, const fe_execution& execution);
  // Bytes of scratch memory of an execution.
  uint64_t scratch_size() const { return scratch_; }

 private:
  // The state of the program on one queue. Only the thread that uses the queue accesses it.
  class Frame;

  Frame& frame_of(const Queue& queue);
  // Fills in what is different in each execution.
  void fill(Frame& frame, Queue& queue, const fe_execution& execution) const;
  // Returns the number of the next step.
  size_t launch_step(Frame& frame, Queue& queue, size_t step) const;
  void launch(Frame& frame, Queue& queue) const;
  // Launches the nodes one by one, with a mark between two of them.
  void launch_traced(Frame& frame, Queue& queue, const fe_execution& execution) const;
  // Launches the kernels as a CUDA graph, or one by one if the driver cannot do so.
  void replay(Frame& frame, Queue& queue) const;
  cudaError_t build_graph(Frame& frame) const;
  cudaError_t update_graph(Frame& frame) const;

  std::shared_ptr<OpenDevice> device_;
  const sdk::ValuePlaces places_;
  std::vector<Step> steps_;
  std::vector<std::vector<uint32_t>> dependencies_;  // of each step in a CUDA graph: the steps that it follows
  const uint32_t scalar_count_;
  uint64_t scratch_;
  uint64_t scalars_offset_ = 0;  // of stored scalars, in the scratch memory
  bool can_replay_ = false;      // as a CUDA graph, which cannot contain calls of libraries
  bool stores_scalars_ = false;  // the first step stores the scalars in memory, as some kernel reads them there
  std::mutex mutex_;
  // The frame of each queue. When a queue is destroyed, its work is done; a new queue at the same address may use its
  // frame.
  std::map<const Queue*, std::unique_ptr<Frame>> frames_;
};

}  // namespace ferrule::cuda
