// Numbers among the operands of a call, as Python has them: they have a kind, and no width of their own.
#pragma once

#include "ops/dtype.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace ferrule::ops {

// An integer outside of int64 and uint64, which fits only where numbers are real or complex.
struct WideInteger {
  double nearest = 0;
};

// uint64_t: an integer above those of int64.
using Number = std::variant<bool, int64_t, uint64_t, WideInteger, double, std::complex<double>>;

// What an operand of a call is when it is no ordinary tensor: a number, or a tensor that stands for one. Neither
// promotes within its kind.
struct OperandNumber {
  std::optional<Number> number;
  bool stands_for_number = false;
};

// The dtype that a number takes beside tensors of other dtypes, of which blocks do not count: a bool is one; any other
// number is as wide as the widest floating or complex one among them, float32 where several are equally wide; without
// any, a real number is float32, a complex one complex64 and an integer has the common dtype of their integers, int64
// if there are none. Throws Error(invalid_argument), whose sentence begins with `op`, for an integer that does not fit.
DType dtype_of_number(const char* op, const Number& number, std::span<const DType> others);

}  // namespace ferrule::ops
