#include "ops/record_call.h"

#include <algorithm>

namespace ferrule::ops {
namespace {

// Sets the dtypes that the numbers take beside the tensors. Returns which operands are weak, that is, do not promote
// within their kind: operands that are marked as weak, and numbers beside a tensor.
std::vector<bool> give_dtypes(const Row& op, std::span<const OperandNumber> numbers, std::vector<TensorType>& types) {
  if (numbers.empty()) return {};
  std::vector<DType> others;
  others.reserve(types.size());
  for (std::size_t i = 0; i < types.size(); ++i)
    if (!numbers[i].number && !numbers[i].is_weak) others.push_back(types[i].dtype);
  std::vector<bool> weak(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (numbers[i].number) types[i].dtype = dtype_of_number(op, i, *numbers[i].number, others);
    weak[i] = numbers[i].is_weak || (numbers[i].number && !others.empty());
  }
  return weak;
}

}  // namespace

DType dtype_of_number(const Row& op, std::size_t input, const Number& number, std::span<const DType> others) {
  if (op.input_row(input).truth) return DType::boolean;
  if (!op.casts_integers) return dtype_of_number(op.name, number, others);
  const bool has_inexact =
      std::ranges::any_of(others, [](DType dtype) { return is_floating(dtype) || is_complex(dtype); });
  std::vector<DType> cast(others.begin(), others.end());
  for (DType& dtype : cast) dtype = promoted_as(op, dtype, has_inexact);
  return dtype_of_number(op.name, number, cast);
}

RecordedCall record_call(const Row& op, Operands& operands, std::span<const OperandNumber> numbers,
                         const std::vector<NamedAttribute>& given) {
  const auto is_number = [&](std::size_t i) { return !numbers.empty() && numbers[i].number; };
  std::vector<TensorType> types;
  types.reserve(operands.count());
  for (std::size_t i = 0; i < operands.count(); ++i) types.push_back(is_number(i) ? TensorType{} : operands.type(i));
  const std::vector<bool> weak = give_dtypes(op, numbers, types);
  const std::vector<DType> dtypes = input_dtypes(op, types, weak);
  for (std::size_t i = 0; i < types.size(); ++i) types[i].dtype = dtypes[i];
  RecordedCall call{complete_attributes(op, given), {}};
  call.results = infer(op, types, call.attributes);
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (is_number(i))
      operands.place(i, *numbers[i].number, dtypes[i]);
    else if (operands.type(i).dtype != dtypes[i])
      operands.cast(i, dtypes[i]);
  }
  return call;
}

}  // namespace ferrule::ops
