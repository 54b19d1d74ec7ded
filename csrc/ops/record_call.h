// Records a call, in a graph or as lazy arrays. Everything is checked before anything changes.
#pragma once

#include "ops/numbers.h"
#include "ops/row.h"

#include <span>
#include <vector>

namespace ferrule::ops {

// The operands of a call, in the graph or among the lazy arrays.
class Operands {
 public:
  virtual ~Operands() = default;
  virtual std::size_t count() const = 0;
  // The type of an operand that is not a number.
  virtual const TensorType& type(std::size_t i) const = 0;
  // Records the number as a scalar of the dtype, which becomes operand i.
  virtual void place(std::size_t i, const Number& number, DType dtype) = 0;
  // Records `astype` of operand i, and replaces the operand with the result.
  virtual void cast(std::size_t i, DType dtype) = 0;
};

struct RecordedCall {
  Attributes attributes;            // complete and canonical
  std::vector<TensorType> results;  // of the outputs
};

// The dtype that a number takes as an input of a call of the op, beside arrays of the dtypes `others`.
DType dtype_of_number(const Row& op, std::size_t input, const Number& number, std::span<const DType> others);

// Promotes the dtypes of the operands, completes the attributes and infers the results. Throws Error for an
// invalid call, of which nothing is recorded. Then places the numbers and casts tensors of other dtypes. `numbers`: one
// per operand, or none if all are ordinary tensors.
RecordedCall record_call(const Row& op, Operands& operands, std::span<const OperandNumber> numbers,
                         const std::vector<NamedAttribute>& given);

}  // namespace ferrule::ops
