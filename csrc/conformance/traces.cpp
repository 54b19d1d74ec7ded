// The trace function of an execution.
#include "conformance/graph.h"

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::conformance {
namespace {

// Receives the times of one execution, on any thread.
class Trace {
 public:
  static void tell(void* trace, uint32_t node, uint64_t begin_ns, uint64_t end_ns) {
    static_cast<Trace*>(trace)->add({node, begin_ns, end_ns});
  }
  void add_to(fe_execution& execution) {
    execution.trace = tell;
    execution.trace_argument = this;
  }
  // Called when the event after the execution is done.
  void end() {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  size_t node_count() const {
    const std::lock_guard lock(mutex_);
    return nodes_.size();
  }
  void judge(Report& report, const std::string& what, uint32_t node_count) const {
    const std::lock_guard lock(mutex_);
    for (const Node& node : nodes_) {
      const std::string node_text = what + ": node " + std::to_string(node.index) + " is reported";
      if (node.index >= node_count) report.problem(node_text + ", but the graph has " + std::to_string(node_count));
      if (node.begin_ns > node.end_ns) report.problem(node_text + " to have ended before it began");
      if (node.is_late) report.problem(node_text + " after the event behind the execution is done");
    }
  }

 private:
  struct Node {
    uint32_t index;
    uint64_t begin_ns, end_ns;
    bool is_late = false;
  };
  void add(Node node) {
    const std::lock_guard lock(mutex_);
    node.is_late = is_over_;
    nodes_.push_back(node);
  }

  mutable std::mutex mutex_;
  std::vector<Node> nodes_;
  bool is_over_ = false;
};

struct Traced {
  Traced(std::string name, uint32_t nodes) : what(std::move(name)), node_count(nodes) {}
  const std::string what;
  const uint32_t node_count;
  Trace trace;
};

// Three executions of a graph before the event.
void execute_traced(const Device& device, const std::string& what, Graph& graph, uint64_t seed,
                    std::deque<Traced>& traces) {
  constexpr size_t executions = 3;
  const Executable executable(device, graph.view());
  std::deque<Bound> bounds;
  const size_t first = traces.size();
  for (size_t i = 0; i < executions; ++i) {
    Bound& bound = bounds.emplace_back(device, device.queue(), graph, executable, seed);
    traces.emplace_back(what, graph.view().node_count).trace.add_to(bound.execution());
  }
  for (size_t i = 0; i < executions; ++i) {
    expect(take(device.backend()->execute(executable.handle(), device.queue(), &bounds[i].execution())), what);
    if (!device.queue()) traces[first + i].trace.end();
  }
  expect(finish(device, device.queue()), what);
  for (size_t i = first; i < traces.size(); ++i) traces[i].trace.end();
}

void trace(const Subject& subject, Report& report, const void*) {
  constexpr size_t max_ops = 12;
  std::deque<Traced> traces;  // live until the device is closed, to receive late calls
  {
    const Opened opened(subject);
    const std::vector<const Sample*> found = supported_samples(opened.device, subject);
    for (size_t i = 0; i < found.size(); i += found.size() / max_ops + 1) {
      for (const bool chained : {false, true}) {
        const auto graph = chained ? chain_of(*found[i]) : graph_of(*found[i]);
        if (!graph) continue;
        const std::string what = name_of(*found[i]) + (chained ? ", twice in a row" : "");
        report.now(what + ", traced");
        execute_traced(opened.device, what, *graph, subject.seed, traces);
      }
    }
  }
  size_t reported_nodes = 0;
  for (const Traced& traced : traces) {
    traced.trace.judge(report, traced.what, traced.node_count);
    reported_nodes += traced.trace.node_count();
  }
  if (reported_nodes == 0) throw NotApplicable{"it reports no nodes"};
}

}  // namespace

void add_trace_checks(Checks& checks) {
  checks.push_back({"trace", "reported nodes belong to the graph and are reported in time", trace});
}

}  // namespace ferrule::conformance
