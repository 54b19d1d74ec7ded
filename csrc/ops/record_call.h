// One way to record a call, for graphs and for lazy arrays: all is checked before anything changes.
#pragma once

#include "ops/numbers.h"
#include "ops/row.h"

#include <span>
#include <vector>

namespace ferrule::ops {

// The operands of a call, where it is recorded.
class Operands {
 public:
  virtual ~Operands() = default;
  virtual std::size_t count() const = 0;
  // Of an operand that is no number.
  virtual const TensorType& type(std::size_t i) const = 0;
  // Records the number as a scalar of the dtype, which is operand i from now on.
  virtual void place(std::size_t i, const Number& number, DType dtype) = 0;
  // Records `astype` of operand i, whose place the result takes.
  virtual void cast(std::size_t i, DType dtype) = 0;
};

struct RecordedCall {
  Attributes attributes;            // complete and canonical
  std::vector<TensorType> results;  // of the outputs
};

// Promotes and widens the operands' dtypes, completes the attributes and infers the results. Throws Error for a wrong
// call, which leaves nothing behind; then places the numbers and casts the tensors that have other dtypes. `numbers`:
// as many as there are operands, or none when all are ordinary tensors.
RecordedCall record_call(const Row& op, Operands& operands, std::span<const OperandNumber> numbers,
                         const std::vector<NamedAttribute>& given);

}  // namespace ferrule::ops
