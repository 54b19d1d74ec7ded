#include "core/graph/builder.h"

#include "ops/table.h"

namespace ferrule {

ops::Value GraphBuilder::apply(std::string_view op, std::span<const ops::Value> inputs,
                               const std::vector<ops::NamedAttribute>& given) {
  std::vector<ValueId> operands;
  for (const ops::Value& input : inputs) operands.push_back(input.id);
  return {graph_.add(ops::op_named(op), operands, given, device_)};
}

ops::Value GraphBuilder::scalar(double value, DType dtype) {
  return {graph_.add_scalar(dtype, scalar_of(value, dtype))};
}

}  // namespace ferrule
