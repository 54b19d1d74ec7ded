// Slices whose starts are operands: where they begin in memory.
#pragma once

#include "../strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

[[maybe_unused]] static int64_t start_at(const Operand& start) {
  return start.dtype == DType::i32 ? *reinterpret_cast<const volatile int32_t*>(start.data)
                                   : *reinterpret_cast<const volatile int64_t*>(start.data);
}

// Sets `at` to where a slice of `size` begins in x, in elements. Returns an error if the slice exceeds x. The starts
// are the inputs from `first` on.
[[maybe_unused]] static fe_error* find_slice(const Call& call, const char* op, const Operand& x, const int64_t* size,
                                             uint32_t first, int64_t& at) {
  at = 0;
  for (int32_t axis = 0; axis < x.rank; ++axis) {
    const int64_t start = start_at(call.in[first + static_cast<uint32_t>(axis)]), most = x.shape[axis] - size[axis];
    if (start < 0 || start > most) {
      char message[160];
      snprintf(message, sizeof message, "%s: the start %lld of axis %d is not between 0 and %lld: the slice leaves x",
               op, static_cast<long long>(start), static_cast<int>(axis), static_cast<long long>(most));
      return call.host->error_create(FE_INVALID_ARGUMENT, message);
    }
    at += start * x.strides[axis];
  }
  return nullptr;
}

// Whether the inputs from `first` on are one integer for each axis of x.
[[maybe_unused]] static bool are_starts(const Call& call, uint32_t first) {
  if (call.in_count != first + static_cast<uint32_t>(call.in[0].rank)) return false;
  for (uint32_t i = first; i < call.in_count; ++i)
    if (call.in[i].rank != 0 || (call.in[i].dtype != DType::i32 && call.in[i].dtype != DType::i64)) return false;
  return true;
}
[[maybe_unused]] static bool fits_into(const Operand& part, const Operand& whole) {
  if (part.dtype != whole.dtype || part.rank != whole.rank) return false;
  for (int32_t axis = 0; axis < part.rank; ++axis)
    if (part.shape[axis] > whole.shape[axis]) return false;
  return true;
}

[[maybe_unused]] static bool accepts_slice(const Call& call) {
  return are_starts(call, 1) && fits_into(call.out[0], call.in[0]);
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
