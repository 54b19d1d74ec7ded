// Stacks of matrices: which threads compute them, their scratch memory, and the errors of single matrices.
#pragma once

#include "products.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr DTypes decomposable = f32 | f64 | dtypes_of(FE_CLASS_COMPLEX);

// Calls f with a number of the operand's dtype.
template <class F>
void with_number(DType dtype, F f) {
  switch (dtype) {
    case DType::f32:
      return f(float{});
    case DType::f64:
      return f(double{});
    case DType::c64:
      return f(Cx<float>{});
    case DType::c128:
      return f(Cx<double>{});
    default:
      return;
  }
}
// The dtype of the real parts.
constexpr DType real_dtype(DType dtype) {
  return dtype == DType::c64 ? DType::f32 : dtype == DType::c128 ? DType::f64 : dtype;
}

// The number of matrices: the product of all axes but the last `own`.
[[maybe_unused]] static int64_t stack_size(const Operand& x, int32_t own = 2) {
  int64_t n = 1;
  for (int32_t i = 0; i < x.rank - own; ++i) n *= x.shape[i];
  return n;
}
[[maybe_unused]] static int64_t rows_of(const Operand& x) { return x.shape[x.rank - 2]; }
[[maybe_unused]] static int64_t columns_of(const Operand& x) { return x.shape[x.rank - 1]; }

// The division of a stack of `count` matrices among threads. Few large matrices are computed one after the other, each
// by all threads, in `scratch`; others side by side, each by one thread in its own part. The choice depends on shapes
// alone, and the arithmetic is the same.
struct Stack {
  int64_t count;
  uint64_t bytes;  // of the scratch memory for one matrix
  bool one_by_one;

  // `work`: the number of multiplications of one matrix, roughly.
  Stack(int64_t matrices, uint64_t bytes_each, double work)
      : count(matrices), bytes(bytes_each), one_by_one(work > 300000 && (matrices < 8 || work > 1e8)) {}

  static constexpr uint64_t failure_bytes(int64_t matrices) { return static_cast<uint64_t>(round_up(matrices, 64)); }
  uint64_t scratch_size() const { return failure_bytes(count) + (one_by_one ? bytes : 0); }
  LocalScratch local_scratch() const { return one_by_one ? LocalScratch{} : LocalScratch{bytes, larger(1, count)}; }

  // Calls compute(team, matrix, scratch) for each matrix; it returns false for one without a result. The error then
  // names the first of them: "<op>: the matrix at index (2,) <why>".
  template <class Compute>
  fe_error* run(const Call& call, const Operand& x, const char* op, const char* why, Compute compute,
                double work) const {
    char* const failed = call.scratch;
    if (count <= 0) return nullptr;
    memset(failed, 0, static_cast<size_t>(count));
    if (one_by_one) {
      Team team{&call};
      for (int64_t i = 0; i < count && team.error == nullptr; ++i)
        failed[i] = !compute(team, i, call.scratch + failure_bytes(count));
      if (team.error != nullptr) return team.error;
    } else {
      const auto grain = static_cast<int64_t>(20000 / (work + 20)) + 1;
      fe_error* const error = parallel_with_local(call, count, grain, [&](int64_t begin, int64_t end, char* local) {
        for (int64_t i = begin; i < end; ++i) {
          Team alone;
          failed[i] = !compute(alone, i, local);
        }
        return static_cast<fe_error*>(nullptr);
      });
      if (error != nullptr) return error;
    }
    for (int64_t i = 0; i < count; ++i)
      if (failed[i] != 0) return failure(call, x, op, why, i);
    return nullptr;
  }

  static fe_error* failure(const Call& call, const Operand& x, const char* op, const char* why, int64_t matrix) {
    char place[FE_MAX_RANK * 24 + 16] = "";
    char text[sizeof place + 160];
    if (x.rank > 2) {
      int64_t index[FE_MAX_RANK] = {};
      for (int32_t axis = x.rank - 2; axis-- > 0;) {
        index[axis] = matrix % x.shape[axis];
        matrix /= x.shape[axis];
      }
      size_t used = static_cast<size_t>(snprintf(place, sizeof place, " at index ("));
      for (int32_t axis = 0; axis < x.rank - 2; ++axis)
        used += static_cast<size_t>(snprintf(place + used, sizeof place - used, axis > 0 ? ", %lld" : "%lld",
                                             static_cast<long long>(index[axis])));
      snprintf(place + used, sizeof place - used, x.rank == 3 ? ",)" : ")");
    }
    snprintf(text, sizeof text, "%s: the matrix%s %s", op, place, why);
    return call.host->error_create(FE_INVALID_ARGUMENT, text);
  }
};

// Distance of rows in scratch memory: no power of two, so that a column's elements lie in different cache sets.
template <class T>
constexpr int64_t pitch_of(int64_t columns) {
  constexpr int64_t unit = 64 / static_cast<int64_t>(sizeof(T));
  const int64_t pitch = round_up(larger(columns, 1), unit);
  return pitch % (8 * unit) == 0 ? pitch + unit : pitch;
}

template <class T>
void copy_matrix(const T* from, int64_t from_pitch, int64_t rows, int64_t columns, T* to, int64_t to_pitch) {
  for (int64_t i = 0; i < rows; ++i)
    __builtin_memcpy(static_cast<void*>(to + i * to_pitch), from + i * from_pitch,
                     static_cast<size_t>(columns) * sizeof(T));
}

template <class T>
bool all_finite(int64_t n, const T* x) {
  const auto* parts = reinterpret_cast<const RealOf<T>*>(x);
  const int64_t count = is_complex_number<T> ? 2 * n : n;
  RealOf<T> bad = 0;
  for (int64_t i = 0; i < count; ++i) bad += parts[i] * 0;
  return bad == 0;
}

// The largest magnitude of real and imaginary parts.
template <class T>
RealOf<T> largest_part(int64_t n, const T* x) {
  using R = RealOf<T>;
  const auto* parts = reinterpret_cast<const R*>(x);
  const int64_t count = is_complex_number<T> ? 2 * n : n;
  R most = 0;
  for (int64_t i = 0; i < count; ++i) most = absolute(parts[i]) > most ? absolute(parts[i]) : most;
  return most;
}

// A power of two that brings numbers of this size near 1, where squares neither overflow nor underflow.
template <class R>
R rescaling(R most) {
  if (most == 0) return R(1);
  constexpr R low = sizeof(R) == 4 ? R(1e-10) : R(1e-100), high = R(1) / low;
  if (most > low && most < high) return R(1);
  int exponent = 0;
  if constexpr (sizeof(R) == 4) {
    frexpf(most, &exponent);
    return ldexpf(1.0f, exponent < -120 ? 120 : -exponent);
  } else {
    frexp(most, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
