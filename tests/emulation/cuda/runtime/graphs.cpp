// Graphs: captured from a stream or built by hand, instantiated, patched, launched.
#include <algorithm>
#include <random>

#include "cuda/runtime/process_state.h"
#include "cuda/runtime/state.h"

using namespace emulation;

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  // As in CUDA 13, a thread without a context gets one.
  if (const cudaError_t error = begin_device_call("cudaThreadExchangeStreamCaptureMode"); error != cudaSuccess)
    return noted(error);
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal || *mode > cudaStreamCaptureModeRelaxed)
    return noted(cudaErrorInvalidValue);
  ThreadState state = thread_state();
  std::swap(state.mode, *mode);
  set_thread_state(state);
  return cudaSuccess;
}

namespace {

// Counts a capture that begins (1) or ends (-1).
void count_capture(const EmulatedStream& stream, int change) {
  if (stream.capture_mode == cudaStreamCaptureModeRelaxed) return;
  ThreadState state = thread_state();
  state.captures += change;
  set_thread_state(state);
  if (stream.capture_mode == cudaStreamCaptureModeGlobal) process_state().captures += change;
}

}  // namespace

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  if (const cudaError_t error = begin_device_call("cudaStreamBeginCapture"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  stream->captured = new EmulatedGraph();
  stream->capture_mode = mode;
  stream->capture_ends = process_state().ends;
  count_capture(*stream, 1);
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (const cudaError_t error = begin_device_call("cudaStreamEndCapture"); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured == nullptr || graph == nullptr) return noted(cudaErrorInvalidValue);
  std::unique_ptr<EmulatedGraph> made(std::exchange(stream->captured, nullptr));
  count_capture(*stream, -1);
  *graph = nullptr;
  if (stream->capture_mode == cudaStreamCaptureModeGlobal && stream->capture_ends != process_state().ends)
    return noted(cudaErrorStreamCaptureInvalidated);
  *graph = made.release();
  log_made("graph");
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  if (const cudaError_t error = begin_device_call("cudaGraphCreate"); error != cudaSuccess) return noted(error);
  if (graph == nullptr || flags != 0) return noted(cudaErrorInvalidValue);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  *graph = new EmulatedGraph();
  log_made("graph");
  return cudaSuccess;
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   std::size_t count, const cudaKernelNodeParams* parameters) {
  if (const cudaError_t error = begin_device_call("cudaGraphAddKernelNode"); error != cudaSuccess) return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (node == nullptr || graph == nullptr || parameters == nullptr || (count > 0 && dependencies == nullptr))
    return noted(cudaErrorInvalidValue);
  auto made = std::make_unique<EmulatedNode>();
  for (std::size_t i = 0; i < count; ++i) {
    const auto found = std::find_if(graph->nodes.begin(), graph->nodes.end(),
                                    [&](const auto& one) { return one.get() == dependencies[i]; });
    const auto number = static_cast<std::size_t>(found - graph->nodes.begin());
    auto& before = made->dependencies;
    if (found == graph->nodes.end() || std::find(before.begin(), before.end(), number) != before.end())
      return noted(cudaErrorInvalidValue);
    before.push_back(number);
  }
  const cudaError_t error = copy_call(made->kernel, current_device(), parameters->func, parameters->gridDim,
                                      parameters->blockDim, parameters->kernelParams, parameters->sharedMemBytes);
  if (error != cudaSuccess) return noted(error);
  log_dependencies(count);
  *node = made.get();
  graph->nodes.push_back(std::move(made));
  return cudaSuccess;
}

namespace {

// An order that the dependencies allow: that in which the nodes were added, or, with another FERRULE_EMULATION_ORDER,
// one that runs nodes without dependencies between them in reverse or at random. A dependency that lacks then shows.
std::vector<std::size_t> running_order(const EmulatedGraph& graph) {
  std::uint64_t seed = 0;
  const Order order = order_from_environment(seed);
  std::mt19937_64 random(seed);
  std::vector<std::size_t> waits_for(graph.nodes.size()), ready, running;
  std::vector<std::vector<std::size_t>> next(graph.nodes.size());
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    waits_for[i] = graph.nodes[i]->dependencies.size();
    for (const std::size_t before : graph.nodes[i]->dependencies) next[before].push_back(i);
    if (waits_for[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    auto chosen = order == Order::reverse ? std::max_element(ready.begin(), ready.end())
                                          : std::min_element(ready.begin(), ready.end());
    if (order == Order::random) chosen = ready.begin() + static_cast<std::ptrdiff_t>(random() % ready.size());
    running.push_back(*chosen);
    ready.erase(chosen);
    for (const std::size_t after : next[running.back()])
      if (--waits_for[after] == 0) ready.push_back(after);
  }
  return running;
}

}  // namespace

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  if (const cudaError_t error = begin_device_call("cudaGraphInstantiate"); error != cudaSuccess) return noted(error);
  if (executable == nullptr || graph == nullptr) return noted(cudaErrorInvalidValue);
  auto made = std::make_unique<EmulatedGraphExec>();
  for (const std::size_t number : running_order(*graph)) {
    made->origins.push_back(graph->nodes[number].get());
    made->nodes.push_back(std::make_shared<EmulatedNode>(*graph->nodes[number]));
  }
  *executable = made.release();
  log_made("executable graph");
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  if (const cudaError_t error = begin_device_call("cudaGraphExecKernelNodeSetParams"); error != cudaSuccess)
    return noted(error);
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (executable == nullptr || parameters == nullptr) return noted(cudaErrorInvalidValue);
  const auto found = std::find(executable->origins.begin(), executable->origins.end(), node);
  if (found == executable->origins.end() || node->kind != EmulatedNode::Kind::kernel)
    return noted(cudaErrorInvalidValue);
  // Launches that have begun keep the node that they have.
  auto changed = std::make_shared<EmulatedNode>();
  const cudaError_t error = copy_call(changed->kernel, current_device(), parameters->func, parameters->gridDim,
                                      parameters->blockDim, parameters->kernelParams, parameters->sharedMemBytes);
  if (error == cudaSuccess)
    executable->nodes[static_cast<std::size_t>(found - executable->origins.begin())] = std::move(changed);
  return noted(error);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (const cudaError_t error = begin_device_call("cudaGraphLaunch"); error != cudaSuccess) return noted(error);
  if (executable == nullptr || stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (const cudaError_t error = health(stream->device); error != cudaSuccess) return noted(error);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  const auto count = static_cast<std::uint64_t>(std::count_if(executable->nodes.begin(), executable->nodes.end(),
                                                              [](const auto& node) { return node->is_counted(); }));
  stream->add(EmulatedNode::Kind::bookkeeping,
              [nodes = executable->nodes, &device = stream->device, number = number_operations(count)]() mutable {
                for (const auto& node : nodes) run_node(device, *node, node->is_counted() ? number++ : 0);
              });
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  if (const cudaError_t error = begin_device_call("cudaGraphExecDestroy"); error != cudaSuccess) return noted(error);
  if (executable == nullptr) return noted(cudaErrorInvalidValue);
  delete executable;
  log_ended("executable graph");
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  if (const cudaError_t error = begin_device_call("cudaGraphDestroy"); error != cudaSuccess) return noted(error);
  if (graph == nullptr) return noted(cudaErrorInvalidValue);
  delete graph;
  log_ended("graph");
  return cudaSuccess;
}
