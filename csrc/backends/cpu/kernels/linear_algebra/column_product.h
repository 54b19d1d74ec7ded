// Products with one column: each element of the result is the dot product of a row of A and the column. Tiles would
// multiply by a panel that is zero elsewhere. Rows are cut into blocks of a fixed length, so that the result does not
// depend on threads.
#pragma once

#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t column_block = 32768;  // elements of a row that one thread multiplies

template <class T>
HWY_INLINE T dot(const T* a, const T* b, int64_t n) {
  const Full<T> d;
  constexpr int64_t lanes = lanes_of<T>;
  auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
  int64_t i = 0;
  for (; i + 4 * lanes <= n; i += 4 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), s1);
    s2 = hn::MulAdd(hn::LoadU(d, a + i + 2 * lanes), hn::LoadU(d, b + i + 2 * lanes), s2);
    s3 = hn::MulAdd(hn::LoadU(d, a + i + 3 * lanes), hn::LoadU(d, b + i + 3 * lanes), s3);
  }
  for (; i + lanes <= n; i += lanes) s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
  if (i < n) {
    const auto left = static_cast<size_t>(n - i);
    s1 = hn::MulAdd(load_first<T>(d, a + i, left), load_first<T>(d, b + i, left), s1);
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(s0, s1), hn::Add(s2, s3))));
}

// The dot product with elements of A that are `stride` apart.
template <class T>
T dot_strided(const T* a, int64_t stride, const T* b, int64_t n) {
  constexpr int64_t together = 1024;
  T some[together], sum = 0;
  for (int64_t i = 0; i < n; i += together) {
    const int64_t many = smaller(together, n - i);
    for (int64_t k = 0; k < many; ++k) some[k] = a[(i + k) * stride];
    sum += dot(some, b + i, many);
  }
  return sum;
}

// Whether the product is computed here. Many rows whose elements are not side by side are better packed.
inline bool has_one_column(const Call& call, const Product& p) {
  return p.n == 1 && p.k > 0 && !call.in[1].prepared && (p.a_column == 1 || p.m == 1);
}

// Memory for the column, if its elements are not side by side, and the sums of blocks, if there are several.
template <class T>
struct ColumnMemory {
  T *b, *sums;
  ColumnMemory(ScratchArena& scratch, const Product& p)
      : b(scratch.array<T>(p.b_row == 1 ? 0 : p.k * (p.shared_b ? 1 : p.batches))),
        sums(scratch.array<T>(p.k <= column_block ? 0 : p.batches * p.m * ceil_div(p.k, column_block))) {}
};

// Writes c, and calls finish(first, count, local) for ranges of it that are complete.
template <class T, class Finish>
fe_error* multiply_column(const Call& call, const Product& p, const ColumnMemory<T>& memory, T* c, Finish finish) {
  const T* const a = reinterpret_cast<const T*>(call.in[0].data);
  const T* const given = reinterpret_cast<const T*>(call.in[1].data);
  if (p.b_row != 1) {
    fe_error* const error =
        parallel(call, p.shared_b ? 1 : p.batches, ceil_div(65536, p.k), [&](int64_t i, int64_t end) {
          for (; i < end; ++i)
            for (int64_t k = 0; k < p.k; ++k) memory.b[i * p.k + k] = given[p.offset(p.b_batch, i) + k * p.b_row];
        });
    if (error != nullptr) return error;
  }
  const int64_t rows = p.batches * p.m, blocks = ceil_div(p.k, column_block);
  const auto sum_of = [&](const T* row, const T* column, int64_t first) {
    const int64_t many = smaller(column_block, p.k - first);
    if (p.a_column == 1) return dot(row + first, column + first, many);
    return dot_strided(row + first * p.a_column, p.a_column, column + first, many);
  };
  T* const sums = blocks == 1 ? c : memory.sums;
  const int64_t grain = larger(1, 32768 / smaller(p.k, column_block));
  fe_error* const error =
      parallel_with_local(call, rows * blocks, grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
        for (int64_t task = begin; task < end;) {
          const int64_t batch = task / (p.m * blocks), stop = smaller(end, (batch + 1) * p.m * blocks);
          const T* const rows_of_batch = a + p.offset(p.a_batch, batch);
          const T* const column =
              p.b_row == 1 ? given + p.offset(p.b_batch, batch) : memory.b + (p.shared_b ? 0 : batch * p.k);
          if (blocks == 1)
            for (int64_t row = task - batch * p.m; task < stop; ++task, ++row)
              sums[task] = sum_of(rows_of_batch + row * p.a_row, column, 0);
          for (; task < stop; ++task)
            sums[task] = sum_of(rows_of_batch + task / blocks % p.m * p.a_row, column, task % blocks * column_block);
        }
        return blocks == 1 ? finish(begin, end - begin, local) : nullptr;
      });
  if (error != nullptr || blocks == 1) return error;
  return parallel_with_local(call, rows, larger(1, 65536 / blocks), [&](int64_t begin, int64_t end, char* local) {
    for (int64_t i = begin; i < end; ++i) {
      T sum = sums[i * blocks];
      for (int64_t k = 1; k < blocks; ++k) sum += sums[i * blocks + k];
      c[i] = sum;
    }
    return finish(begin, end - begin, local);
  });
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
