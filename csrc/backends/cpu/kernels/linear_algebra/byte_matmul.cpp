// Matrix products of bytes, with sums of 32 bits or modulo 256.
#include "byte_products.h"
#include "grouped_bytes.h"
#include "grouped_product.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class Result>
struct ByteVectors : ByteFactors<Result> {
  struct Engine {};
  using ByteFactors<Result>::ByteFactors;

  static void multiply(Engine, const char* a, const char* b, int64_t steps, int64_t rows, uint32_t* sums) {
    constexpr int64_t tall = HWY_MAX_BYTES == 64 ? 8 : 4;  // rows whose sums the registers hold
    for (int64_t column = 0; column < block; column += 2 * lanes) {
      int64_t row = 0;
      for (; row + tall <= rows; row += tall) multiply_rows<tall>(a, b, steps, row, column, sums);
      for (; row + 2 <= rows; row += 2) multiply_rows<2>(a, b, steps, row, column, sums);
      if (row < rows) multiply_rows<1>(a, b, steps, row, column, sums);
    }
  }

 private:
  static constexpr int64_t lanes = lanes_of<uint32_t>;

  // Rows from `row` on times two vectors of columns from `column` on.
  template <int rows>
  static HWY_NOINLINE void multiply_rows(const char* a, const char* b, int64_t steps, int64_t row, int64_t column,
                                         uint32_t* sums) {
    constexpr Full<int32_t> d;
    Integers sum[rows][2];
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i) sum[i][0] = sum[i][1] = hn::Zero(d);
    a += row / tile_rows * tile_bytes + row % tile_rows * tile_row_bytes;
    const char *first = b + place_of(column), *second = b + place_of(column + lanes);
    for (int64_t step = 0; step < steps; ++step) {
      for (int64_t group = 0; group < tile_row_bytes; group += 4) {
        const Words words[2] = {words_at(first), words_at(second)};
#pragma GCC unroll 8
        for (int i = 0; i < rows; ++i) {
          int32_t of_row;
          memcpy(&of_row, a + i * tile_row_bytes + group, sizeof of_row);
          const Integers x = hn::Set(d, of_row);
          sum[i][0] = add_byte_products<255>(sum[i][0], words[0], x);
          sum[i][1] = add_byte_products<255>(sum[i][1], words[1], x);
        }
        first += tile_row_bytes;
        second += tile_row_bytes;
      }
      a += 2 * tile_bytes;
      first += tile_bytes;
      second += tile_bytes;
    }
#pragma GCC unroll 8
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 2
      for (int v = 0; v < 2; ++v)
        hn::Store(hn::BitCast(Full<uint32_t>(), sum[i][v]), Full<uint32_t>(),
                  sums + (row + i) * block + column + v * lanes);
  }
  static int64_t place_of(int64_t column) { return column / tile_rows * tile_bytes + column % tile_rows * 4; }
  static HWY_INLINE Words words_at(const char* at) {
    return hn::Load(Full<uint32_t>(), reinterpret_cast<const uint32_t*>(at));
  }
};

}  // namespace

KERNEL(byte_matmul, .op = "matmul", .dtypes = byte_dtypes, .takes_epilogue = true, .accepts = are_bytes,
       .scratch_size = grouped_scratch_size<ByteVectors<uint8_t>>,
       .local_scratch = grouped_local_scratch<ByteVectors<uint8_t>>,
       .prepare_size = grouped_prepare_size<ByteVectors<uint8_t>>, .prepare = prepare_groups<ByteVectors<uint8_t>>) {
  return multiply_groups<ByteVectors<uint8_t>>(call);
}

KERNEL(byte_matmul_integer, .op = "matmul_integer", .dtypes = byte_dtypes, .takes_epilogue = true, .accepts = are_bytes,
       .scratch_size = grouped_scratch_size<ByteVectors<int32_t>>,
       .local_scratch = grouped_local_scratch<ByteVectors<int32_t>>,
       .prepare_size = grouped_prepare_size<ByteVectors<int32_t>>, .prepare = prepare_groups<ByteVectors<int32_t>>) {
  return multiply_groups<ByteVectors<int32_t>>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
