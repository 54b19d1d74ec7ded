// Graphs as dispatches of kernels in three-dimensional grids, for devices that record them in command buffers. The
// parameters of all dispatches lie in one buffer.
#ifndef FERRULE_CPP_DISPATCHES_HPP
#define FERRULE_CPP_DISPATCHES_HPP

#include <ferrule/cpp/axes.hpp>
#include <ferrule/cpp/hazards.hpp>
#include <ferrule/cpp/planning.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace ferrule::sdk {

// One kernel and its grid; a module adds what else its kernels need.
struct Dispatch {
  std::array<uint32_t, 3> groups = {1, 1, 1};
  std::vector<std::byte> parameters = {};         // the kernel's own struct
  std::vector<uint32_t> reads = {}, writes = {};  // values of the graph view, or Hazards::scratch

  template <class Struct>
  void set_parameters(const Struct& from) {
    static_assert(std::is_trivially_copyable_v<Struct>);
    parameters.resize(sizeof(Struct));
    std::memcpy(parameters.data(), &from, sizeof(Struct));
  }
};

// A grid of at least `count` groups, and of as few as cover them evenly within the limits of its axes. Throws
// FE_UNSUPPORTED if the limits are too low.
inline std::array<uint32_t, 3> grid_of(uint64_t count, const std::array<uint32_t, 3>& limits) {
  std::array<uint32_t, 3> groups = {1, 1, 1};
  uint64_t left = std::max<uint64_t>(1, count);
  for (size_t axis = 0; axis < groups.size(); ++axis) {
    // Rounded up once for each axis, so each has at most one row too many.
    const uint64_t rows = quotient_up(left, limits[axis]);
    groups[axis] = static_cast<uint32_t>(quotient_up(left, rows));
    left = rows;
  }
  if (left > 1) throw Error(FE_UNSUPPORTED, std::to_string(count) + " groups are more than a grid can have");
  return groups;
}

// A dispatch of a graph. A module's Step adds its compiled kernel.
struct DispatchStep {
  std::array<uint32_t, 3> groups = {1, 1, 1};
  uint64_t parameters = 0;  // offset in all parameters, in bytes
  bool barrier = false;     // must wait for earlier steps
  uint32_t node = 0;        // of the graph view
};

template <class Step>
struct DispatchedGraph {
  std::vector<Step> steps;
  std::vector<std::byte> parameters;  // of all steps
  std::vector<std::string> names;     // of the ops, by the value that they write
  uint64_t scratch = 0;               // bytes
};

// Plans a graph. `step_of(node, dispatch)` compiles a dispatch, and `alignment` is that of its parameters.
template <class Step, class PlanOf, class StepOf>
DispatchedGraph<Step> dispatched(const fe_graph_view& view, size_t alignment, const PlanOf& plan_of,
                                 const StepOf& step_of) {
  DispatchedGraph<Step> graph;
  graph.names.resize(view.value_count);
  Hazards hazards(view);
  graph.scratch = plan_graph(view, plan_of, [&](const PlannedNode& node, const auto& plan) {
    for (uint32_t i = 0; i < node.output_count(); ++i) graph.names[node.output_value(i)] = node.op();
    for (const auto& dispatch : plan.launches) {
      graph.parameters.resize(quotient_up(graph.parameters.size(), alignment) * alignment);
      Step& step = graph.steps.emplace_back(step_of(node, dispatch));
      step.groups = dispatch.groups;
      step.parameters = graph.parameters.size();
      step.barrier = hazards.is_barrier_due(dispatch.reads, dispatch.writes);
      step.node = node.index();
      graph.parameters.insert(graph.parameters.end(), dispatch.parameters.begin(), dispatch.parameters.end());
    }
  });
  return graph;
}

}  // namespace ferrule::sdk

#endif
