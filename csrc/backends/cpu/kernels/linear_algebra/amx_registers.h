// The tile registers of AMX, each 16 rows of 64 bytes. The macros are instructions; with FERRULE_SIMULATED_AMX they are
// plain code that computes what Intel's manual says of the instructions, for tests on processors without AMX.
//
//   Tiles tiles;                     the registers of this thread, until the end of the scope
//   TILE_ZERO(tiles, 0);             the numbers 0 to 7 are literals
//   TILE_LOAD(tiles, 4, from);       1024 contiguous bytes
//   TILE_STORE(tiles, 0, to, pitch); rows that are `pitch` bytes apart
//   TILE_FENCE();                    between these and other accesses to the same memory
//   TILE_ADD_PRODUCTS_BF16(tiles, 0, 4, 6);
//   TILE_ADD_PRODUCTS_U8(tiles, 0, 4, 6);
//
// Register 0 as float32 or int32 [16][16] += register 4 as [16][16 * g] times register 6 as [16][16][g]: row r of the
// latter has the rows r * g to r * g + g - 1 of the right matrix, with their elements of a column side by side. g is 2
// for bfloat16 and 4 for bytes.
#pragma once

#include "../half.h"

#if !defined(FERRULE_SIMULATED_AMX)
#include <immintrin.h>
#endif

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t tile_rows = 16, tile_row_bytes = 64, tile_bytes = tile_rows * tile_row_bytes;

#if !defined(FERRULE_SIMULATED_AMX)

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
// A constant: g++ takes the instruction to read the first bytes of its operand only, and drops what was written to
// others.
constexpr TileShapes tile_shapes;

class Tiles {
 public:
  Tiles() { _tile_loadconfig(&tile_shapes); }
  ~Tiles() { _tile_release(); }  // so that switching threads need not save the registers
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;
};

// g++ does not know what memory the instructions read and write.
#define TILE_FENCE() __asm__ volatile("" ::: "memory")
#define TILE_ZERO(tiles, t) _tile_zero(t)
#define TILE_LOAD(tiles, t, from) _tile_loadd(t, from, 64)
#define TILE_STORE(tiles, t, to, pitch) _tile_stored(t, to, pitch)
#define TILE_ADD_PRODUCTS_BF16(tiles, c, a, b) _tile_dpbf16ps(c, a, b)
#define TILE_ADD_PRODUCTS_U8(tiles, c, a, b) _tile_dpbuud(c, a, b)

#else

class Tiles {
 public:
  void zero(int t) { memset(registers_[t], 0, tile_bytes); }
  void load(int t, const void* from) { memcpy(registers_[t], from, tile_bytes); }
  void store(int t, void* to, int64_t pitch) const {
    for (int64_t i = 0; i < tile_rows; ++i)
      memcpy(static_cast<char*>(to) + i * pitch, registers_[t] + i * tile_row_bytes, tile_row_bytes);
  }
  // The even and the odd products are summed apart, then together, then added to c. Subnormal numbers are zeros.
  void add_products_bf16(int c, int a, int b) {
    for (int64_t i = 0; i < tile_rows; ++i)
      for (int64_t j = 0; j < tile_rows; ++j) {
        float sums[2] = {};
        for (int64_t k = 0; k < tile_rows; ++k)
          for (int64_t odd = 0; odd < 2; ++odd) {
            const float x = flushed(widen(at<BFloat16>(a, i, 2 * k + odd)));
            const float y = flushed(widen(at<BFloat16>(b, k, 2 * j + odd)));
            sums[odd] = flushed(__builtin_fmaf(x, y, sums[odd]));
          }
        float& sum = at<float>(c, i, j);
        sum = flushed(flushed(sum) + flushed(sums[0] + sums[1]));
      }
  }
  void add_products_u8(int c, int a, int b) {
    for (int64_t i = 0; i < tile_rows; ++i)
      for (int64_t j = 0; j < tile_rows; ++j)
        for (int64_t k = 0; k < tile_row_bytes; ++k)
          at<uint32_t>(c, i, j) += uint32_t{at<uint8_t>(a, i, k)} * at<uint8_t>(b, k / 4, 4 * j + k % 4);
  }

 private:
  static float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x; }
  template <class T>
  T& at(int t, int64_t row, int64_t column) {
    return reinterpret_cast<T*>(registers_[t] + row * tile_row_bytes)[column];
  }

  alignas(64) char registers_[8][tile_bytes];
};

#define TILE_FENCE() (void)0
#define TILE_ZERO(tiles, t) (tiles).zero(t)
#define TILE_LOAD(tiles, t, from) (tiles).load(t, from)
#define TILE_STORE(tiles, t, to, pitch) (tiles).store(t, to, pitch)
#define TILE_ADD_PRODUCTS_BF16(tiles, c, a, b) (tiles).add_products_bf16(c, a, b)
#define TILE_ADD_PRODUCTS_U8(tiles, c, a, b) (tiles).add_products_u8(c, a, b)

#endif

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
