#include "core/graph/graph.h"

#include "base/narrow_float.h"
#include "ops/record_call.h"
#include "ops/table.h"

#include <cmath>
#include <complex>
#include <cstring>

namespace ferrule {
namespace {

template <class T>
fe_scalar bytes_of(T value) {
  fe_scalar scalar{};
  std::memcpy(scalar.bytes, &value, sizeof value);
  return scalar;
}

// Saturates, and gives 0 for NaN, because casting a double that is out of range is undefined.
template <class T>
T integer_from(double value) {
  if (std::isnan(value)) return 0;
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (value >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(value);
}

// The value as an element of a dtype, which is stored as `Stored` (ferrule/dtypes.h).
template <fe_dtype_class kind, class Stored, class From>
fe_scalar element_from(From value, [[maybe_unused]] DType dtype) {
  if constexpr (kind == FE_CLASS_BOOL)
    return bytes_of(static_cast<Stored>(value != 0));
  else if constexpr (kind == FE_CLASS_COMPLEX)
    return bytes_of(std::complex<Stored>(static_cast<Stored>(value)));
  else if constexpr (kind == FE_CLASS_FLOAT && std::is_integral_v<Stored>)
    return bytes_of(static_cast<Stored>(narrow_float_from(value, dtype)));
  else if constexpr (std::is_integral_v<Stored> && std::is_same_v<From, double>)
    return bytes_of(integer_from<Stored>(value));
  else
    return bytes_of(static_cast<Stored>(value));
}

template <class From>
fe_scalar scalar_from(From value, DType dtype) {
  switch (dtype) {
#define FERRULE_CASE(id, abbreviation, name, kind, stored, ...) \
  case DType::id:                                               \
    return element_from<FE_CLASS_##kind, stored>(value, dtype);
    FE_DTYPES(FERRULE_CASE, FE_NO_DTYPE)
#undef FERRULE_CASE
    default:
      fail_argument("dtype {} has no scalars", name_of(dtype));
  }
}

// The inputs of a node that is being recorded.
class GraphOperands : public ops::Operands {
 public:
  GraphOperands(Graph& graph, Node& node) : graph_(graph), node_(node) {}
  std::size_t count() const override { return node_.inputs.size(); }
  const TensorType& type(std::size_t i) const override { return graph_.type(node_.inputs[i]); }
  void place(std::size_t i, const ops::Number& number, DType dtype) override {
    node_.inputs[i] = graph_.add_scalar(dtype, scalar_of(number, dtype));
  }
  void cast(std::size_t i, DType dtype) override {
    const ValueId operand[] = {node_.inputs[i]};
    node_.inputs[i] = graph_.add(ops::op_named("astype"), operand, {{"dtype", dtype}}, node_.device);
  }

 private:
  Graph& graph_;
  Node& node_;
};

}  // namespace

fe_scalar scalar_of(double value, DType dtype) { return scalar_from(value, dtype); }
fe_scalar scalar_of(int64_t value, DType dtype) { return scalar_from(value, dtype); }

fe_scalar scalar_of(const ops::Number& number, DType dtype) {
  return std::visit(
      [&]<class T>(const T& value) {
        if constexpr (std::is_same_v<T, std::complex<double>>)
          return dtype == DType::boolean     ? scalar_of(int64_t{value != 0.0}, dtype)
                 : dtype == DType::complex64 ? bytes_of(std::complex<float>(value))
                                             : bytes_of(value);
        else if constexpr (std::is_same_v<T, ops::WideInteger>)
          return scalar_of(value.nearest, dtype);
        else if constexpr (std::is_same_v<T, double>)
          return scalar_of(value, dtype);
        else
          return is_integer(dtype) || dtype == DType::boolean ? scalar_of(static_cast<int64_t>(value), dtype)
                                                              : scalar_of(static_cast<double>(value), dtype);
      },
      number);
}

fe_scalar checked_scalar(DType dtype, fe_scalar value) {
  if (is_block(dtype)) fail_argument("dtype {} has no scalars", name_of(dtype));
  if (dtype == DType::boolean) value.bytes[0] = value.bytes[0] != 0;
  return value;
}

ValueId Graph::add_input(std::string name, TensorType type) {
  return add_input(std::move(name), type, contiguous_strides(type.shape));
}

ValueId Graph::add_input(std::string name, TensorType type, Strides strides) {
  byte_count(type);
  if (strides.rank() != type.shape.rank())
    fail_argument("input '{}': {} strides for {} dimensions", name, strides.rank(), type.shape.rank());
  reach_of(type.shape, strides, block_bytes(type.dtype));
  check_blocks(type, strides);
  const auto id = static_cast<ValueId>(values.size());
  values.push_back({type, ValueKind::input, static_cast<uint32_t>(inputs.size())});
  inputs.push_back(id);
  input_info.push_back({std::move(name), strides, true});
  return id;
}

ValueId Graph::add_constant(std::string name, TensorType type, StridedStorage view, std::string placement) {
  byte_count(type);
  const auto id = static_cast<ValueId>(values.size());
  values.push_back({type, ValueKind::constant, static_cast<uint32_t>(constants.size())});
  constants.push_back(id);
  constant_info.push_back({std::move(name), std::move(view), std::move(placement)});
  return id;
}

ValueId Graph::add_scalar(DType dtype, fe_scalar value) {
  const auto id = static_cast<ValueId>(values.size());
  values.push_back({{dtype, {}}, ValueKind::scalar, static_cast<uint32_t>(scalars.size())});
  scalars.push_back(id);
  scalar_defaults.push_back(checked_scalar(dtype, value));
  return id;
}

ValueId Graph::add(const ops::Row& op, std::span<const ValueId> operands, const std::vector<ops::NamedAttribute>& given,
                   Device* device, std::span<const ops::OperandNumber> numbers) {
  if (op.output_count != 1) fail_argument("{}: has {} outputs; add() takes ops with one", op.name, op.output_count);
  return add_call(op, operands, given, device, numbers).front();
}

std::vector<ValueId> Graph::add_call(const ops::Row& op, std::span<const ValueId> operands,
                                     const std::vector<ops::NamedAttribute>& given, Device* device,
                                     std::span<const ops::OperandNumber> numbers) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i] >= values.size() && (numbers.empty() || !numbers[i].number))
      fail_argument("{}: this graph has no value %{}", op.name, operands[i]);
  Node node;
  node.op = &op;
  node.inputs.assign(operands.begin(), operands.end());
  node.device = device;
  GraphOperands in(*this, node);
  ops::RecordedCall call = ops::record_call(op, in, numbers, given);
  if (ops::is_open_ended(op, call.attributes))
    fail_argument("{}: the length of its {} depends on values; pass size=", op.name, op.outputs[0]);
  node.attributes = ops::shared(std::move(call.attributes));
  return add_checked(std::move(node), call.results);
}

std::vector<ValueId> Graph::add_checked(Node node, std::span<const TensorType> results) {
  const auto number = static_cast<uint32_t>(nodes.size());
  node.outputs.clear();
  for (const TensorType& result : results) {
    node.outputs.push_back(static_cast<ValueId>(values.size()));
    values.push_back({result, ValueKind::result, number});
  }
  nodes.push_back(std::move(node));
  return nodes.back().outputs;
}

}  // namespace ferrule
