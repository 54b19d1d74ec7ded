// Copying a graph while changing it: what every pass begins with.
#pragma once

#include "core/graph/graph.h"

namespace ferrule {

// A graph under reconstruction: inputs, constants and scalars keep their numbers and ids are mapped as nodes are
// copied.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from);
  Graph& graph() { return to_; }
  ValueId operator[](ValueId old) const { return map_[old]; }
  void map(ValueId old, ValueId now) { map_[old] = now; }
  // Copies the node as it stands.
  void copy(const Node& node);
  // With the outputs mapped.
  Graph finish();

 private:
  const Graph& from_;
  Graph to_;
  std::vector<ValueId> map_;
};

// How often each value is an operand or an output.
std::vector<uint32_t> count_uses(const Graph& graph);

}  // namespace ferrule
