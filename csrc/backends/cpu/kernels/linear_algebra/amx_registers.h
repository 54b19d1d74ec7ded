// The tile registers of AMX, each 16 rows of 64 bytes unless told otherwise. With FERRULE_SIMULATED_AMX plain code
// computes what Intel's manual says of the instructions, for tests on processors without AMX.
//
//   Tiles tiles;               the registers of this thread, from the first call of `set` to the end of the scope
//   tiles.set(TileShapes());
//   tiles.zero<0>();           numbers 0 to 7
//   tiles.load<4>(from, pitch); rows that are `pitch` bytes apart, 64 if not given
//   tiles.store<0>(to, pitch);
//   tiles.add_products_bf16<0, 4, 6>();
//   tiles.add_products_of_bytes<0, 4, 6>();   signed ones of register 4, unsigned ones of register 6
//   tiles.add_products_of_signed_bytes<0, 4, 6>();
//
// Register 0 as float32 or int32 [16][16] += register 4 as [16][16 * g] times register 6 as [16][16][g]: row r of the
// latter has the rows r * g to r * g + g - 1 of the right matrix, with their elements of a column side by side. g is 2
// for bfloat16 and 4 for bytes.
#pragma once

#include "../half.h"
#include "grouped_panels.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};

#if !defined(FERRULE_SIMULATED_AMX)

class Tiles {
 public:
  Tiles() = default;
  ~Tiles() {
    if (is_set_) __asm__ volatile("tilerelease");  // so that switching threads need not save the registers
  }
  Tiles(const Tiles&) = delete;
  Tiles& operator=(const Tiles&) = delete;

  void set(const TileShapes& shapes) {
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
    is_set_ = true;
  }
  template <int t>
  HWY_INLINE void zero() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(t));
  }
  template <int t>
  HWY_INLINE void load(const void* from, int64_t pitch = tile_row_bytes) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(pitch), "i"(t) : "memory");
  }
  template <int t>
  HWY_INLINE void store(void* to, int64_t pitch) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(pitch), "i"(t) : "memory");
  }
  template <int c, int a, int b>
  HWY_INLINE void add_products_bf16() {
    __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
  template <int c, int a, int b>
  HWY_INLINE void add_products_of_bytes() {
    __asm__ volatile("tdpbsud %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }
  template <int c, int a, int b>
  HWY_INLINE void add_products_of_signed_bytes() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(c), "i"(a), "i"(b));
  }

 private:
  bool is_set_ = false;
};

#else

class Tiles {
 public:
  void set(const TileShapes& shapes) { shapes_ = shapes; }
  template <int t>
  void zero() {
    memset(registers_[t], 0, tile_bytes);
  }
  template <int t>
  void load(const void* from, int64_t pitch = tile_row_bytes) {
    zero<t>();
    for (int64_t i = 0; i < shapes_.rows[t]; ++i)
      memcpy(registers_[t] + i * tile_row_bytes, static_cast<const char*>(from) + i * pitch, shapes_.row_bytes[t]);
  }
  template <int t>
  void store(void* to, int64_t pitch) const {
    for (int64_t i = 0; i < shapes_.rows[t]; ++i)
      memcpy(static_cast<char*>(to) + i * pitch, registers_[t] + i * tile_row_bytes, shapes_.row_bytes[t]);
  }
  // The even and the odd products are summed apart, then together, then added to c. Subnormal numbers are zeros.
  template <int c, int a, int b>
  void add_products_bf16() {
    for (int64_t i = 0; i < shapes_.rows[c]; ++i)
      for (int64_t j = 0; j < shapes_.row_bytes[c] / 4; ++j) {
        float sums[2] = {};
        for (int64_t k = 0; k < shapes_.row_bytes[a] / 4; ++k)
          for (int64_t odd = 0; odd < 2; ++odd) {
            const float x = flushed(widen(at<BFloat16>(a, i, 2 * k + odd)));
            const float y = flushed(widen(at<BFloat16>(b, k, 2 * j + odd)));
            sums[odd] = flushed(__builtin_fmaf(x, y, sums[odd]));
          }
        float& sum = at<float>(c, i, j);
        sum = flushed(flushed(sum) + flushed(sums[0] + sums[1]));
      }
  }
  template <int c, int a, int b>
  void add_products_of_bytes() {
    add_products<c, a, b, uint8_t>();
  }
  template <int c, int a, int b>
  void add_products_of_signed_bytes() {
    add_products<c, a, b, int8_t>();
  }

 private:
  template <int c, int a, int b, class Byte>
  void add_products() {
    for (int64_t i = 0; i < shapes_.rows[c]; ++i)
      for (int64_t j = 0; j < shapes_.row_bytes[c] / 4; ++j)
        for (int64_t k = 0; k < shapes_.row_bytes[a]; ++k)
          at<uint32_t>(c, i, j) += static_cast<uint32_t>(at<int8_t>(a, i, k) * at<Byte>(b, k / 4, 4 * j + k % 4));
  }
  static float flushed(float x) { return __builtin_fabsf(x) < 0x1p-126f ? __builtin_copysignf(0, x) : x; }
  template <class T>
  T& at(int t, int64_t row, int64_t column) {
    return reinterpret_cast<T*>(registers_[t] + row * tile_row_bytes)[column];
  }

  TileShapes shapes_;
  alignas(64) char registers_[8][tile_bytes];
};

#endif

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
