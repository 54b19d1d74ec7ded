// Numbers among the operands of a call. Like Python numbers they have a kind and no width.
#pragma once

#include "base/dtype.h"

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>

namespace ferrule::ops {

// An integer outside the ranges of int64 and uint64. It is only valid as a real or complex number.
struct WideInteger {
  double nearest = 0;
};

// uint64_t: an integer above the range of int64.
using Number = std::variant<bool, int64_t, uint64_t, WideInteger, double, std::complex<double>>;

// Marks an operand that is a number, or a weak tensor: one that promotes like a number. Neither promotes other operands
// of its kind.
struct OperandNumber {
  std::optional<Number> number;
  bool is_weak = false;
};

// The dtype of a number among tensors with other dtypes, of which block dtypes are ignored. A bool is bool. Any other
// number is as wide as the widest floating or complex dtype among them (float32 if several are equally wide). Without
// one, a real number has the default dtype, a complex one the complex dtype of its width, and an integer the common
// dtype of their integers, or int64. Throws Error(invalid_argument), with a message that begins with `op`, for an
// integer that does not fit.
DType dtype_of_number(const char* op, const Number& number, std::span<const DType> others);

// The dtype of real numbers beside no floating dtype: that of the calling thread if it has one, else of the process.
DType default_dtype();
// float32 or float64; none, for a thread: the process's.
void set_default_dtype(DType dtype);
void set_default_dtype_of_thread(DType dtype);

}  // namespace ferrule::ops
