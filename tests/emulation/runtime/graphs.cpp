#include "runtime/state.h"

using namespace emulation;

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  stream->captured = new EmulatedGraph();
  return cudaSuccess;
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  if (stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured == nullptr || graph == nullptr) return noted(cudaErrorInvalidValue);
  *graph = std::exchange(stream->captured, nullptr);
  return cudaSuccess;
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  if (graph == nullptr || count == nullptr) return noted(cudaErrorInvalidValue);
  if (nodes != nullptr)
    for (std::size_t i = 0; i < std::min(*count, graph->nodes.size()); ++i) nodes[i] = graph->nodes[i].get();
  *count = graph->nodes.size();
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long) {
  if (executable == nullptr || graph == nullptr) return noted(cudaErrorInvalidValue);
  auto made = std::make_unique<EmulatedGraphExec>();
  for (const auto& node : graph->nodes) {
    made->origins.push_back(node.get());
    made->nodes.push_back(std::make_shared<EmulatedNode>(*node));
  }
  *executable = made.release();
  return cudaSuccess;
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t node,
                                             const cudaKernelNodeParams* parameters) {
  if (executable == nullptr || parameters == nullptr) return noted(cudaErrorInvalidValue);
  for (std::size_t i = 0; i < executable->nodes.size(); ++i) {
    if (executable->origins[i] != node) continue;
    // Launches that have begun keep the node that they have.
    auto changed = std::make_shared<EmulatedNode>();
    const cudaError_t error = copy_call(changed->kernel, parameters->func, parameters->gridDim, parameters->blockDim,
                                        parameters->kernelParams, parameters->sharedMemBytes);
    if (error == cudaSuccess) executable->nodes[i] = std::move(changed);
    return noted(error);
  }
  return noted(cudaErrorInvalidValue);
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (const cudaError_t error = health(); error != cudaSuccess) return noted(error);
  if (executable == nullptr || stream == nullptr) return noted(cudaErrorInvalidResourceHandle);
  if (stream->captured != nullptr) return noted(cudaErrorStreamCaptureUnsupported);
  stream->add({{}, [nodes = executable->nodes, &device = stream->device] {
                 for (const auto& node : nodes) {
                   if (node->other)
                     node->other();
                   else
                     run_call(device, node->kernel);
                 }
               }});
  return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete executable;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return cudaSuccess;
}
