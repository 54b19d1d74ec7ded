// A simple interpreter of a few ops, for a recorded Graph and for the plan given to devices. The compiler is correct if
// both give the same bits.
#pragma once

#include "core/compiler/owned_graph_view.h"
#include "core/compiler/plan.h"
#include "core/memory/storage.h"
#include "ops/table.h"

#include <ferrule/ops.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace ferrule::test {

// A dense array; elements are exact in their dtype.
struct Dense {
  TensorType type;
  std::vector<double> elements;
};

inline double rounded(double value, DType dtype) { return dtype == DType::float32 ? static_cast<float>(value) : value; }

inline double scalar_op(std::string_view op, DType dtype, std::span<const double> x) {
  double y = 0;
  if (op == "add")
    y = x[0] + x[1];
  else if (op == "subtract")
    y = x[0] - x[1];
  else if (op == "multiply")
    y = x[0] * x[1];
  else if (op == "divide")
    y = x[0] / x[1];
  else if (op == "maximum")
    y = std::isnan(x[0]) || x[0] > x[1] ? x[0] : x[1];
  else if (op == "negative")
    y = -x[0];
  else if (op == "exp")
    y = std::exp(x[0]);
  else if (op == "astype" || op == "copy")
    y = x[0];
  else
    ADD_FAILURE() << "the interpreter has no " << op;
  return rounded(y, dtype);
}

// Visits the indices of a shape in order.
template <class Visit>
void for_each_index(const Shape& shape, Visit visit) {
  if (element_count(shape) == 0) return;
  Dims index;
  index.resize(shape.rank());
  while (true) {
    visit(index);
    int axis = shape.rank() - 1;
    while (axis >= 0 && ++index[axis] == shape[axis]) index[axis--] = 0;
    if (axis < 0) return;
  }
}
inline int64_t place_of(const Dims& index, const Strides& strides) {
  int64_t place = 0;
  for (int axis = 0; axis < index.rank(); ++axis) place += index[axis] * strides[axis];
  return place;
}

// x, broadcast to `shape`.
inline Dense broadcast_dense(const Dense& x, const Shape& shape) {
  const Strides own = contiguous_strides(x.type.shape);
  Strides strides;
  strides.resize(shape.rank());
  const int added = shape.rank() - x.type.shape.rank();
  for (int axis = added; axis < shape.rank(); ++axis)
    strides[axis] = x.type.shape[axis - added] == 1 ? 0 : own[axis - added];
  Dense out{{x.type.dtype, shape}, {}};
  for_each_index(shape, [&](const Dims& i) {
    out.elements.push_back(x.elements[static_cast<std::size_t>(place_of(i, strides))]);
  });
  return out;
}

inline Dense reduce(std::string_view op, const Dense& x, std::span<const int64_t> axes, const TensorType& type) {
  const double start = op == "sum" ? 0 : -std::numeric_limits<double>::infinity();
  Dense out{type, std::vector<double>(static_cast<std::size_t>(element_count(type.shape)), start)};
  std::vector<bool> gone(static_cast<std::size_t>(x.type.shape.rank()), axes.empty());
  for (int64_t axis : axes) gone[static_cast<std::size_t>(axis)] = true;
  std::size_t next = 0;
  for_each_index(x.type.shape, [&](const Dims& index) {
    int64_t place = 0;
    for (int axis = 0; axis < index.rank(); ++axis)
      if (!gone[static_cast<std::size_t>(axis)]) place = place * x.type.shape[axis] + index[axis];
    double& to = out.elements[static_cast<std::size_t>(place)];
    to = rounded(op == "sum" ? to + x.elements[next] : std::max(to, x.elements[next]), type.dtype);
    ++next;
  });
  return out;
}

inline Dense multiply_matrices(const Dense& a, const Dense& b, const TensorType& type) {
  const int rank = type.shape.rank();
  const auto spread = [&](const Dense& x) {
    Shape shape = type.shape;
    shape[rank - 2] = x.type.shape[x.type.shape.rank() - 2];
    shape[rank - 1] = x.type.shape[x.type.shape.rank() - 1];
    return broadcast_dense(x, shape);
  };
  const Dense left = spread(a), right = spread(b);
  const int64_t inner = left.type.shape[rank - 1];
  Dense out{type, {}};
  for_each_index(type.shape, [&](const Dims& index) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k) {
      Dims l = index, r = index;
      l[rank - 1] = k;
      r[rank - 2] = k;
      sum =
          rounded(sum + left.elements[static_cast<std::size_t>(place_of(l, contiguous_strides(left.type.shape)))] *
                            right.elements[static_cast<std::size_t>(place_of(r, contiguous_strides(right.type.shape)))],
                  type.dtype);
    }
    out.elements.push_back(sum);
  });
  return out;
}

inline Dense join(const std::vector<Dense>& parts, int axis, const TensorType& type) {
  Dense out{type, {}};
  for_each_index(type.shape, [&](const Dims& index) {
    Dims at = index;
    std::size_t part = 0;
    while (at[axis] >= parts[part].type.shape[axis]) at[axis] -= parts[part++].type.shape[axis];
    out.elements.push_back(
        parts[part].elements[static_cast<std::size_t>(place_of(at, contiguous_strides(parts[part].type.shape)))]);
  });
  return out;
}

inline Dense elementwise(std::string_view op, const std::vector<Dense>& inputs, const TensorType& type) {
  std::vector<Dense> spread;
  spread.reserve(inputs.size());
  for (const Dense& input : inputs) spread.push_back(broadcast_dense(input, type.shape));
  Dense out{type, {}};
  for (std::size_t i = 0; i < static_cast<std::size_t>(element_count(type.shape)); ++i) {
    std::vector<double> x;
    x.reserve(spread.size());
    for (const Dense& input : spread) x.push_back(input.elements[i]);
    out.elements.push_back(scalar_op(op, type.dtype, x));
  }
  return out;
}

// ---- the recorded graph

inline std::vector<Dense> interpret(const Graph& graph, const std::vector<Dense>& inputs,
                                    const std::vector<Dense>& constants) {
  std::vector<Dense> values(graph.values.size());
  for (std::size_t i = 0; i < graph.inputs.size(); ++i) values[graph.inputs[i]] = inputs[i];
  for (std::size_t i = 0; i < graph.constants.size(); ++i) values[graph.constants[i]] = constants[i];
  for (std::size_t i = 0; i < graph.scalars.size(); ++i)
    values[graph.scalars[i]] = {graph.type(graph.scalars[i]), {graph.scalar_defaults[i].f32}};
  for (const Node& node : graph.nodes) {
    const TensorType& type = graph.type(node.outputs[0]);
    const ops::AttributeReader attribute(*node.op, *node.attributes);
    const std::string_view op = node.op->name;
    std::vector<Dense> x;
    x.reserve(node.inputs.size());
    for (ValueId input : node.inputs) x.push_back(values[input]);
    Dense& out = values[node.outputs[0]];
    out.type = type;
    const auto element = [&](const Dims& at) {
      return x[0].elements[static_cast<std::size_t>(place_of(at, contiguous_strides(x[0].type.shape)))];
    };
    if (op == "reshape") {
      out.elements = x[0].elements;
    } else if (op == "broadcast_to") {
      out = broadcast_dense(x[0], type.shape);
    } else if (op == "permute_dims") {
      for_each_index(type.shape, [&](const Dims& index) {
        Dims at = index;
        for (int axis = 0; axis < index.rank(); ++axis)
          at[static_cast<int>(attribute.integers("axes")[static_cast<std::size_t>(axis)])] = index[axis];
        out.elements.push_back(element(at));
      });
    } else if (op == "slice") {
      for_each_index(type.shape, [&](const Dims& index) {
        Dims at = index;
        for (int axis = 0; axis < index.rank(); ++axis) {
          const auto k = static_cast<std::size_t>(axis);
          at[axis] = attribute.integers("starts")[k] + index[axis] * attribute.integers("steps")[k];
        }
        out.elements.push_back(element(at));
      });
    } else if (op == "sum" || op == "max") {
      out = reduce(op, x[0], attribute.integers("axis"), type);
    } else if (op == "matmul") {
      out = multiply_matrices(x[0], x[1], type);
    } else if (op == "concat") {
      out = join(x, static_cast<int>(attribute.integer("axis")), type);
    } else {
      out = elementwise(op, x, type);
    }
  }
  std::vector<Dense> outputs;
  outputs.reserve(graph.outputs.size());
  for (ValueId output : graph.outputs) outputs.push_back(values[output]);
  return outputs;
}

// ---- the plan: bytes, strides and packed attributes

class PlanInterpreter {
 public:
  // The first element of each input; strides are those of the graph.
  PlanInterpreter(const Plan& plan, std::vector<char*> inputs, std::vector<fe_scalar> scalars)
      : plan_(plan), inputs_(std::move(inputs)), scalars_(std::move(scalars)), owned_(plan.slots.size()) {
    for (std::size_t i = 0; i < plan.slots.size(); ++i)
      if (plan.slots[i].kind == Slot::Kind::output || plan.slots[i].kind == Slot::Kind::transferred)
        owned_[i].assign(static_cast<std::size_t>(byte_count(plan.slots[i].type)), char(0xff));  // NaN
  }

  std::vector<Dense> run() {
    for (const auto& step : plan_.steps) {
      if (const auto* transfer = std::get_if<Transfer>(&step)) {
        const auto bytes = static_cast<std::size_t>(byte_count(plan_.slots[transfer->from].type));
        if (bytes > 0) std::memcpy(pointer(transfer->to), pointer(transfer->from), bytes);
      } else {
        run(std::get<Segment>(step));
      }
    }
    std::vector<Dense> outputs;
    for (const Plan::Output& output : plan_.outputs) {
      switch (output.kind) {
        case Plan::Output::Kind::slot:
          EXPECT_EQ(plan_.slots[output.index].device, plan_.home);
          outputs.push_back(read(pointer(output.index), output.type, output.strides));
          break;
        case Plan::Output::Kind::input:
          outputs.push_back(read(at(inputs_[output.index], output), output.type, output.strides));
          break;
        case Plan::Output::Kind::constant:
          outputs.push_back(read(at(constant(output.index), output), output.type, output.strides));
          break;
        case Plan::Output::Kind::scalar:
          outputs.push_back(
              read(at(reinterpret_cast<char*>(&scalars_[output.index]), output), output.type, output.strides));
          break;
      }
    }
    return outputs;
  }

 private:
  static char* at(char* base, const Plan::Output& output) { return base + bytes_of(output.type.dtype, output.offset); }
  char* constant(uint32_t index) const {
    const StridedStorage& view = plan_.constants[index].data;
    return static_cast<char*>(view.storage->host_pointer()) + view.offset * 4;
  }
  char* pointer(uint32_t slot) {
    const Slot& s = plan_.slots[slot];
    if (s.kind == Slot::Kind::input) return inputs_[s.index];
    if (s.kind == Slot::Kind::constant) return constant(s.index);
    return owned_[slot].data();
  }
  // Byte offset at which a slot's storage begins: its lowest element.
  char* lowest(uint32_t slot) {
    const Slot& s = plan_.slots[slot];
    int64_t before = 0;
    if (s.kind == Slot::Kind::input) before = reach_of(s.type.shape, plan_.input_strides[s.index]).before;
    if (s.kind == Slot::Kind::constant && !s.prepared)
      before = reach_of(s.type.shape, plan_.constants[s.index].data.strides).before;
    return pointer(slot) - bytes_of(s.type.dtype, before);
  }
  static Dense read(const char* base, const TensorType& type, const Strides& strides) {
    Dense out{type, {}};
    for_each_index(type.shape, [&](const Dims& index) {
      const char* from = base + bytes_of(type.dtype, place_of(index, strides));
      float narrow;
      double wide;
      if (type.dtype == DType::float32)
        std::memcpy(&narrow, from, sizeof narrow), out.elements.push_back(narrow);
      else
        std::memcpy(&wide, from, sizeof wide), out.elements.push_back(wide);
    });
    return out;
  }
  static void write(char* to, const Dense& from) {
    for (double element : from.elements) {
      const auto narrow = static_cast<float>(element);
      if (from.type.dtype == DType::float32)
        std::memcpy(to, &narrow, sizeof narrow);
      else
        std::memcpy(to, &element, sizeof element);
      to += block_bytes(from.type.dtype);
    }
  }

  void run(const Segment& segment) {
    const fe_graph_view& view = graph_view_of(*segment.view);
    ASSERT_LE(view.workspace_size, plan_.workspace_size);
    std::vector<char> workspace(view.workspace_size, char(0xff));
    const auto base = [&](const fe_value& value) -> char* {
      const fe_storage& storage = *view.storages[value.storage];
      if (storage.kind == FE_STORAGE_TEMPORARY) {
        EXPECT_LE(storage.offset + storage.size, view.workspace_size);
        return workspace.data() + storage.offset;
      }
      if (storage.kind == FE_STORAGE_SCALAR)
        return reinterpret_cast<char*>(&scalars_[segment.scalars[storage.binding]]);
      return lowest(segment.bindings[storage.binding]);
    };
    for (uint32_t n = 0; n < view.node_count; ++n) {
      const fe_node& node = *view.nodes[n];
      std::vector<Dense> inputs;
      for (uint32_t i = 0; i < node.input_count; ++i) {
        const fe_value& value = *view.values[node.inputs[i]];
        const TensorType type = type_of(value);
        const Strides strides(std::span<const int64_t>(value.strides, static_cast<std::size_t>(value.rank)));
        inputs.push_back(read(base(value) + bytes_of(type.dtype, value.offset), type, strides));
        check_apart(view, value, node);
      }
      const std::vector<Dense> outputs = compute(view, node, inputs);
      for (uint32_t i = 0; i < node.output_count; ++i) write(base(*view.values[node.outputs[i]]), outputs[i]);
    }
  }

  // An operand in the workspace must not overlap the node's results.
  static void check_apart(const fe_graph_view& view, const fe_value& value, const fe_node& node) {
    const fe_storage& in = *view.storages[value.storage];
    for (uint32_t i = 0; i < node.output_count; ++i) {
      const fe_storage& out = *view.storages[view.values[node.outputs[i]]->storage];
      if (in.kind != FE_STORAGE_TEMPORARY || out.kind != FE_STORAGE_TEMPORARY || in.size == 0) continue;
      EXPECT_TRUE(in.offset + in.size <= out.offset || out.offset + out.size <= in.offset);
    }
  }

  static TensorType type_of(const fe_value& value) {
    return {static_cast<DType>(value.dtype),
            Shape(std::span<const int64_t>(value.shape, static_cast<std::size_t>(value.rank)))};
  }

  static std::vector<Dense> compute(const fe_graph_view& view, const fe_node& node, const std::vector<Dense>& inputs) {
    const std::string_view op = ops::op_by_id(node.op)->name;
    TensorType type = type_of(*view.values[node.outputs[0]]);
    if (op == "fused") return run_body(*node.body, inputs, type.shape);
    std::vector<Dense> own(inputs.begin(), inputs.end());
    if (node.body) {
      type.dtype = static_cast<DType>(node.body->input_dtypes[0]);
      own.resize(inputs.size() - (node.body->input_count - 1));
    }
    Dense result;
    if (op == "sum" || op == "max") {
      const auto& attributes = *static_cast<const fe_sum_attributes*>(node.attributes);
      result = reduce(op, own[0], {attributes.axis.data, attributes.axis.count}, type);
    } else if (op == "matmul") {
      result = multiply_matrices(own[0], own[1], type);
    } else if (op == "concat") {
      result = join(own, static_cast<int>(static_cast<const fe_concat_attributes*>(node.attributes)->axis), type);
    } else {
      for (const Dense& input : own) EXPECT_EQ(input.type.shape, type.shape) << op << " is to have broadcast operands";
      result = elementwise(op, own, type);
    }
    if (!node.body) return {result};
    std::vector<Dense> values{result};
    values.insert(values.end(), inputs.begin() + static_cast<std::ptrdiff_t>(own.size()), inputs.end());
    return run_body(*node.body, values, type.shape);
  }

  static std::vector<Dense> run_body(const fe_body& body, std::vector<Dense> values, const Shape& shape) {
    EXPECT_EQ(values.size(), body.input_count);
    EXPECT_LE(body.instruction_count, 64u);
    for (uint32_t i = 0; i < body.instruction_count; ++i) {
      const fe_instruction& instruction = *body.instructions[i];
      std::vector<Dense> inputs;
      inputs.reserve(instruction.input_count);
      for (uint32_t k = 0; k < instruction.input_count; ++k) inputs.push_back(values.at(instruction.inputs[k]));
      values.push_back(
          elementwise(ops::op_by_id(instruction.op)->name, inputs, {static_cast<DType>(instruction.dtype), shape}));
    }
    std::vector<Dense> outputs;
    outputs.reserve(body.output_count);
    for (uint32_t i = 0; i < body.output_count; ++i) outputs.push_back(values.at(body.outputs[i]));
    return outputs;
  }

  const Plan& plan_;
  std::vector<char*> inputs_;
  std::vector<fe_scalar> scalars_;
  std::vector<std::vector<char>> owned_;
};

}  // namespace ferrule::test
