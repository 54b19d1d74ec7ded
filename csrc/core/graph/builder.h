// A decomposition's pen: writes into a graph.
#pragma once

#include "core/graph/graph.h"

namespace ferrule {

class GraphBuilder final : public ops::Builder {
 public:
  // Every node it writes is asked to run on `device` (null: the graph's).
  GraphBuilder(Graph& graph, Device* device) : graph_(graph), device_(device) {}
  using ops::Builder::apply;
  ops::Value apply(std::string_view op, std::span<const ops::Value> inputs,
                   const std::vector<ops::NamedAttribute>& given) override;
  ops::Value scalar(double value, DType dtype) override;
  TensorType type(ops::Value value) const override { return graph_.type(value.id); }

 private:
  Graph& graph_;
  Device* device_;
};

}  // namespace ferrule
