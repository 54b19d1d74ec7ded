// x @ w.T as the product of x with a K x N matrix.
#pragma once

#include "block_panels.h"
#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// A call whose w has its last axes swapped.
struct ColumnProduct {
  Operand in[2];
  Call call;
  Product p;

  explicit ColumnProduct(const Call& given) : in{given.in[0], given.in[1]}, call(given) {
    Operand& w = in[1];
    const auto swap = [&](int64_t* of) {
      const int64_t last = of[w.rank - 1];
      of[w.rank - 1] = of[w.rank - 2];
      of[w.rank - 2] = last;
    };
    swap(w.shape);
    swap(w.strides);
    call.in = in;
    p = product_of(call);
  }
  ColumnProduct(const ColumnProduct&) = delete;
};

inline int64_t panels_of(const Product& p) { return ceil_div(p.n, panel_columns); }

// f is called with an integral constant, the dtype of blocks.
template <class F>
void with_block_dtype(DType dtype, F f) {
  switch (dtype) {
#define FERRULE_CASE(id, ...)                                                     \
  case DType::id:                                                                 \
    if constexpr (has_block<DType::id>) f(Number<static_cast<int>(DType::id)>{}); \
    break;
    FE_DTYPES(FE_NO_DTYPE, FERRULE_CASE)
#undef FERRULE_CASE
    default:
      break;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
