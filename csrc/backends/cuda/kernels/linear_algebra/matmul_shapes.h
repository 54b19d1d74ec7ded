// The tiles of matrix products by mma.sync: the host chooses among them (matmul.cpp), and the kernels are made for
// them.
#pragma once

#include <cstdint>

namespace ferrule::cuda {

// A tile of m x n by warps_m x warps_n warps, in steps of 2 depth bytes along K (matmul_tensor.h).
struct TensorShape {
  uint32_t m, n, depth, warps_m, warps_n, stages;

  constexpr uint32_t threads() const { return 32 * warps_m * warps_n; }
  // Size in shared memory. Operands of tf32 that are contiguous along M or N, 0 to 2 of them, have longer rows.
  constexpr uint32_t shared_bytes(uint32_t longer_operands = 0) const {
    return ((m + n) * depth * 2 + longer_operands * (depth / 2) * 32) * stages;
  }
  // Items in a row of the rounded totals of the tile, which ops that are fused to the product read. Eight more items
  // than columns spread the rows over the banks.
  constexpr uint32_t totals_pitch() const { return n + 8; }
  constexpr uint32_t totals_bytes(uint32_t item_bytes) const { return m * totals_pitch() * item_bytes; }
};
// For matrices with at least one such tile for each multiprocessor.
inline constexpr TensorShape large_shape = {128, 256, 32, 2, 4, 4};
// Two blocks fit on a multiprocessor of 8.0 and 9.0.
inline constexpr TensorShape medium_shape = {128, 128, 32, 2, 2, 4};
// For matrices that have too few larger tiles to give each multiprocessor one.
inline constexpr TensorShape small_shape = {64, 64, 32, 2, 2, 4};
// For up to `few` rows, and for up to `few` columns.
inline constexpr uint32_t few = 16;
inline constexpr TensorShape rows_shape = {16, 32, 128, 1, 2, 4};
inline constexpr TensorShape columns_shape = {64, 16, 128, 4, 1, 3};

// A tile of a product of bytes: m x n by warps_m x warps_n warps, in steps of 64 along K (matmul_bytes_tensor.h).
struct ByteShape {
  uint32_t m, n, warps_m, warps_n, stages;

  static constexpr uint32_t depth = 64;
  constexpr uint32_t threads() const { return 32 * warps_m * warps_n; }
  constexpr uint32_t shared_bytes() const { return (m + n) * depth * stages; }
};
inline constexpr ByteShape large_byte_shape = {128, 128, 2, 2, 4};
inline constexpr ByteShape small_byte_shape = {64, 64, 2, 2, 4};
inline constexpr ByteShape rows_byte_shape = {16, 64, 1, 4, 4};  // for up to `few` rows
static_assert(rows_shape.m == few && columns_shape.n == few && rows_byte_shape.m == few);

}  // namespace ferrule::cuda
