// The sizes, strides and batches of a matrix product.
#pragma once

#include "../simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The shapes and strides of a call. A one-dimensional operand is a row of A or a column of B.
struct Product {
  int64_t m, n, k, batches;
  int64_t a_row, a_column, b_row, b_column;
  int32_t batch_rank;
  int64_t batch_shape[FE_MAX_RANK], a_batch[FE_MAX_RANK], b_batch[FE_MAX_RANK];
  bool shared_b;  // one B for all batches

  int64_t offset(const int64_t* strides, int64_t batch) const {
    if (batch_rank == 1) return batch * strides[0];
    int64_t at = 0;
    for (int32_t i = batch_rank; i-- > 0;) {
      at += batch % batch_shape[i] * strides[i];
      batch /= batch_shape[i];
    }
    return at;
  }
};

[[maybe_unused]] static Product product_of(const Call& call) {
  const Operand &a = call.in[0], &b = call.in[1];
  Product p = {};
  p.k = a.shape[a.rank - 1];
  p.a_column = a.strides[a.rank - 1];
  p.m = a.rank > 1 ? a.shape[a.rank - 2] : 1;
  p.a_row = a.rank > 1 ? a.strides[a.rank - 2] : 0;
  p.n = b.rank > 1 ? b.shape[b.rank - 1] : 1;
  p.b_column = b.rank > 1 ? b.strides[b.rank - 1] : 0;
  p.b_row = b.rank > 1 ? b.strides[b.rank - 2] : b.strides[0];
  const int32_t a_rank = a.rank > 2 ? a.rank - 2 : 0, b_rank = b.rank > 2 ? b.rank - 2 : 0;
  p.batch_rank = a_rank > b_rank ? a_rank : b_rank;
  p.batches = 1;
  p.shared_b = true;
  for (int32_t i = 0; i < p.batch_rank; ++i) {
    const int32_t ai = i - (p.batch_rank - a_rank), bi = i - (p.batch_rank - b_rank);
    const int64_t as = ai >= 0 ? a.shape[ai] : 1, bs = bi >= 0 ? b.shape[bi] : 1;
    p.batch_shape[i] = as == 1 ? bs : as;
    p.a_batch[i] = as == 1 ? 0 : a.strides[ai];
    p.b_batch[i] = bs == 1 ? 0 : b.strides[bi];
    if (p.b_batch[i] != 0 && p.batch_shape[i] > 1) p.shared_b = false;
    p.batches *= p.batch_shape[i];
  }
  // Batches of A that are contiguous in memory and share one B form one tall matrix.
  if (p.shared_b) {
    while (p.batch_rank > 0 &&
           (p.a_batch[p.batch_rank - 1] == p.m * p.a_row || p.batch_shape[p.batch_rank - 1] == 1 || p.m == 1)) {
      const int32_t last = p.batch_rank - 1;
      if (p.m == 1) p.a_row = p.a_batch[last];
      p.m *= p.batch_shape[last];
      p.batches /= larger(1, p.batch_shape[last]);
      --p.batch_rank;
    }
  }
  return p;
}

// Whether scratch memory holds the result before the epilogue, because output 0 cannot.
[[maybe_unused]] static bool has_own_result(const Call& call) {
  return call.epilogue != nullptr && !call.epilogue->own_in_place;
}

[[maybe_unused]] static bool is_empty(const Product& p) { return p.m == 0 || p.n == 0 || p.batches == 0; }

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
