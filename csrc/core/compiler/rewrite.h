// Copies a graph with changes, as every pass does.
#pragma once

#include "core/graph/graph.h"

namespace ferrule {

// A graph that is rebuilt from another: inputs, constants and scalars keep their numbers, and ids are mapped as nodes
// are copied.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from);
  Graph& graph() { return to_; }
  ValueId operator[](ValueId old) const { return map_[old]; }
  void map(ValueId old, ValueId now) { map_[old] = now; }
  // Copies the node, with its operands mapped.
  void copy(const Node& node);
  // Adds the mapped outputs and returns the graph.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
};

// Number of times each value is an operand or an output.
std::vector<uint32_t> count_uses(const Graph& graph);

}  // namespace ferrule
