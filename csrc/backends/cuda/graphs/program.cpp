#include "graphs/program.h"

#include <algorithm>
#include <cstring>

#include "graphs/dependencies.h"
#include "parameters/store_scalars.h"

namespace ferrule::cuda {
namespace {

constexpr uint32_t no_node = UINT32_MAX;

uint64_t address_of(fe_module_buffer* buffer, uint64_t offset) {
  return buffer == nullptr ? 0 : buffer_of(buffer).address() + offset;
}

void put(std::vector<std::byte>& parameters, uint32_t offset, uint64_t value) {
  std::memcpy(parameters.data() + offset, &value, sizeof value);
}

uint64_t get(const std::vector<std::byte>& parameters, uint32_t offset) {
  uint64_t value = 0;
  std::memcpy(&value, parameters.data() + offset, sizeof value);
  return value;
}

// Steps that store the scalars of an execution in memory.
std::vector<Step> steps_that_store(uint32_t scalar_count, OpenDevice& device) {
  std::vector<Step> steps;
  constexpr uint32_t most = StoreScalarsParameters::most;
  for (uint32_t first = 0; first < scalar_count; first += most) {
    const StoreScalarsParameters p{
        .to = 0, .first = first, .count = std::min(most, scalar_count - first), .scalars = {}};
    Launch launch = launch_of("store_scalars.all", p, 1, most);
    launch.bindings = {{Binding::What::stored_scalars, true, offsetof(StoreScalarsParameters, to), 0},
                       {Binding::What::scalars, false, offsetof(StoreScalarsParameters, scalars), first}};
    const LoadedKernel kernel = device.kernel(launch.kernel, 0);
    steps.push_back({.kernel = kernel, .launch = std::move(launch), .node = no_node});
  }
  return steps;
}

}  // namespace

class Program::Frame {
 public:
  explicit Frame(std::shared_ptr<OpenDevice> device) : device_(std::move(device)) {}
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
  ~Frame() {
    const DeviceScope scope(device_->physical().number);
    discard_graph();
  }
  // The driver keeps a graph that still runs until it is done (cuGraphExecDestroy).
  void discard_graph() {
    if (executable != nullptr && cudaGraphExecDestroy(executable) != cudaSuccess) cudaGetLastError();
    if (graph != nullptr && cudaGraphDestroy(graph) != cudaSuccess) cudaGetLastError();
    executable = nullptr;
    graph = nullptr;
    nodes.clear();
  }

  std::vector<std::vector<std::byte>> parameters;  // by step, as of the last execution
  uint32_t changed = 0;                            // steps whose parameters are new in this one
  // For each step, whether its parameters may differ from those of its node. Launches without the graph change them,
  // too.
  std::vector<bool> is_stale;
  uint64_t executions = 0;
  bool has_failed = false;  // to make a graph; kernels are launched one by one from then on
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  std::vector<cudaGraphNode_t> nodes;  // by step

 private:
  std::shared_ptr<OpenDevice> device_;
};

Program::Program(std::shared_ptr<OpenDevice> device, const fe_graph_view& view, std::vector<Step> steps,
                 uint64_t scratch)
    : device_(std::move(device)),
      places_(view),
      steps_(std::move(steps)),
      scalar_count_(view.scalar_count),
      scratch_(scratch) {
  const bool has_calls =
      std::any_of(steps_.begin(), steps_.end(), [](const Step& step) { return step.launch.call != nullptr; });
  stores_scalars_ = std::any_of(steps_.begin(), steps_.end(), [&](const Step& step) {
    return std::any_of(step.launch.bindings.begin(), step.launch.bindings.end(), [&](const Binding& binding) {
      return binding.what == Binding::What::value && places_[binding.value].is_scalar();
    });
  });
  if (stores_scalars_) {
    scalars_offset_ = (scratch_ + sizeof(fe_scalar) - 1) / sizeof(fe_scalar) * sizeof(fe_scalar);
    scratch_ = scalars_offset_ + sizeof(fe_scalar) * scalar_count_;
    std::vector<Step> storing = steps_that_store(scalar_count_, *device_);
    steps_.insert(steps_.begin(), std::make_move_iterator(storing.begin()), std::make_move_iterator(storing.end()));
  }
  can_replay_ = device_->settings().graphs && !has_calls && steps_.size() >= 2;
  if (!can_replay_) return;
  const MemoryRanges memory(view);
  std::vector<std::vector<MemoryAccess>> accesses;
  accesses.reserve(steps_.size());
  for (const Step& step : steps_) accesses.push_back(memory.of(step.launch));
  dependencies_ = dependencies_of(accesses);
}

Program::~Program() = default;

Program::Frame& Program::frame_of(const Queue& queue) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Frame>& frame = frames_[&queue];
  if (!frame) {
    auto made = std::make_unique<Frame>(device_);
    made->parameters.reserve(steps_.size());
    for (const Step& step : steps_) made->parameters.push_back(step.launch.parameters);
    made->is_stale.assign(steps_.size(), true);
    frame = std::move(made);
  }
  return *frame;
}

void Program::fill(Frame& frame, Queue& queue, const fe_execution& execution) const {
  const uint64_t scalars =
      stores_scalars_ ? address_of(execution.scratch, execution.scratch_offset) + scalars_offset_ : 0;
  const auto address_of_value = [&](uint32_t value) {
    const sdk::ValuePlace& place = places_[value];
    const uint64_t offset = place.offset(execution);
    return place.is_scalar() ? scalars + offset : address_of(place.buffer(execution), offset);
  };
  frame.changed = 0;
  for (uint32_t i = 0; i < steps_.size(); ++i) {
    std::vector<std::byte>& parameters = frame.parameters[i];
    bool is_changed = false;
    const auto set = [&](uint32_t offset, uint64_t value) {
      if (get(parameters, offset) == value) return;
      is_changed = frame.is_stale[i] = true;
      put(parameters, offset, value);
    };
    for (const Binding& binding : steps_[i].launch.bindings) {
      switch (binding.what) {
        case Binding::What::value:
          set(binding.offset, address_of_value(binding.value) + get(steps_[i].launch.parameters, binding.offset));
          break;
        case Binding::What::tensor_map: {
          const uint64_t address = address_of_value(binding.value);
          if (get(parameters, binding.offset + static_cast<uint32_t>(offsetof(TensorMap, address))) == address) break;
          TensorMap map{};
          map.address = address;
          if (address % 16 == 0) map = tensor_map_of(steps_[i].launch.tensor_maps[binding.shape], address);
          std::memcpy(parameters.data() + binding.offset, &map, sizeof map);
          is_changed = frame.is_stale[i] = true;
          break;
        }
        case Binding::What::scalar:
          set(binding.offset, execution.scalars[places_[binding.value].binding()].u64);
          break;
        case Binding::What::scratch:
          set(binding.offset, address_of(execution.scratch, execution.scratch_offset) +
                                  get(steps_[i].launch.parameters, binding.offset));
          break;
        case Binding::What::fault:
          set(binding.offset, queue.fault_record());
          break;
        case Binding::What::stored_scalars:
          set(binding.offset, scalars);
          break;
        case Binding::What::scalars: {
          const auto count = std::min(StoreScalarsParameters::most, scalar_count_ - binding.value);
          for (uint32_t k = 0; k < count; ++k)
            for (uint32_t half = 0; half < 2; ++half) {
              uint64_t word = 0;
              std::memcpy(&word, execution.scalars[binding.value + k].bytes + 8 * half, sizeof word);
              set(binding.offset + 16 * k + 8 * half, word);
            }
          break;
        }
      }
    }
    if (is_changed) ++frame.changed;
  }
}

size_t Program::launch_step(Frame& frame, Queue& queue, size_t step) const {
  const Launch& launch = steps_[step].launch;
  if (launch.call != nullptr) {
    const bool is_done = launch.call->add_to(queue.stream(), frame.parameters[step].data());
    return step + 1 + (is_done ? launch.replaces : 0);
  }
  queue.launch(steps_[step].kernel, {launch.grid[0], launch.grid[1], launch.grid[2]}, {launch.block, 1, 1},
               frame.parameters[step].data(), launch.shared_memory);
  return step + 1;
}

void Program::launch(Frame& frame, Queue& queue) const {
  for (size_t i = 0; i < steps_.size();) i = launch_step(frame, queue, i);
}

void Program::launch_traced(Frame& frame, Queue& queue, const fe_execution& execution) const {
  TracedNodes traced{.marks = {},
                     .nodes = {},
                     .since = device_->now(),
                     .earliest_ns = sdk::monotonic_ns(),
                     .trace = execution.trace,
                     .argument = execution.trace_argument};
  const auto mark = [&] {
    traced.marks.emplace_back(*device_, true);
    queue.finish(cudaEventRecord(traced.marks.back().get(), queue.stream()), "cudaEventRecord");
  };
  for (size_t i = 0; i < steps_.size();) {
    const uint32_t node = steps_[i].node;
    if (node != no_node && (traced.nodes.empty() || traced.nodes.back() != node)) {
      mark();
      traced.nodes.push_back(node);
    }
    i = launch_step(frame, queue, i);
  }
  mark();
  if (!device_->loss()) queue.add_traced(std::move(traced));
}

namespace {

cudaKernelNodeParams node_of(const Step& step, void** arguments) {
  const Launch& launch = step.launch;
  cudaKernelNodeParams node{};
  node.func = const_cast<void*>(step.kernel.function);
  node.gridDim = {launch.grid[0], launch.grid[1], launch.grid[2]};
  node.blockDim = {launch.block, 1, 1};
  node.sharedMemBytes = launch.shared_memory;
  node.kernelParams = arguments;
  return node;
}

}  // namespace

// The first error of the driver's calls. The frame has no half of a graph then.
cudaError_t Program::build_graph(Frame& frame) const {
  cudaError_t error = cudaGraphCreate(&frame.graph, 0);
  frame.nodes.assign(steps_.size(), nullptr);
  for (size_t i = 0; i < steps_.size() && error == cudaSuccess; ++i) {
    void* arguments[] = {frame.parameters[i].data()};
    const cudaKernelNodeParams node = node_of(steps_[i], arguments);
    std::vector<cudaGraphNode_t> before;
    for (const uint32_t step : dependencies_[i]) before.push_back(frame.nodes[step]);
    error = cudaGraphAddKernelNode(&frame.nodes[i], frame.graph, before.data(), before.size(), &node);
  }
  if (error == cudaSuccess) error = cudaGraphInstantiate(&frame.executable, frame.graph, 0);
  if (error != cudaSuccess) frame.discard_graph();
  frame.is_stale.assign(steps_.size(), error != cudaSuccess);
  return error;
}

cudaError_t Program::update_graph(Frame& frame) const {
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (!frame.is_stale[i]) continue;
    void* arguments[] = {frame.parameters[i].data()};
    const cudaKernelNodeParams node = node_of(steps_[i], arguments);
    const cudaError_t error = cudaGraphExecKernelNodeSetParams(frame.executable, frame.nodes[i], &node);
    if (error != cudaSuccess) return error;
    frame.is_stale[i] = false;
  }
  return cudaSuccess;
}

void Program::replay(Frame& frame, Queue& queue) const {
  cudaError_t error = frame.executable == nullptr ? build_graph(frame) : update_graph(frame);
  if (error == cudaSuccess) error = cudaGraphLaunch(frame.executable, queue.stream());
  if (!device_->note(error, "a call that replays a graph") || device_->loss()) return;
  // The graph only saves time. What the driver lacks for it, such as memory, the kernels may not need.
  sdk::host->log(FE_LOG_INFO, ("cuda: " + device_->name() + " replays no graph: " + text_of(error)).c_str());
  frame.has_failed = true;
  frame.discard_graph();
  launch(frame, queue);
}

void Program::run(Queue& queue, const fe_execution& execution) {
  device_->count_execution();
  if (steps_.empty()) return;
  const Queue::Work work = queue.begin();
  if (!work) return;
  Frame& frame = frame_of(queue);
  fill(frame, queue, execution);
  ++frame.executions;
  if (execution.trace != nullptr) {
    launch_traced(frame, queue, execution);
    return;
  }
  // Changing most of a graph costs more than launching its kernels.
  const bool is_much_changed = 2 * uint64_t{frame.changed} > steps_.size();
  if (can_replay_ && frame.executions >= 2 && !is_much_changed && !frame.has_failed)
    replay(frame, queue);
  else
    launch(frame, queue);
}

}  // namespace ferrule::cuda
