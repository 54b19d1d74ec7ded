// Parts of 32 numbers of 2 to 6 bits for a panel of columns, packed so that vectors of columns are decoded with few
// instructions. They take as many bytes as in files.
#pragma once

#include "../conversion/block_decoding/bit_fields.h"
#include "../gemm.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t panel_columns = Tile<float>::columns;
constexpr int64_t part = 32;

using Lanes = hn::VFromD<Full<float>>;
using Words = hn::VFromD<Full<uint32_t>>;
constexpr int64_t lanes = lanes_of<float>;

// ---- What the lowest bits of each lane stand for; the bits above them are ignored.

// One of 16 values. `Values::at(i)` is that of the lowest four bits i.
template <class T, class Values>
struct Table16 {
  alignas(64) T values[16];
  consteval Table16() : values{} {
    for (int i = 0; i < 16; ++i) values[i] = static_cast<T>(Values::at(i));
  }
};
template <class Values>
struct OneOf16 {
#if HWY_MAX_BYTES == 64
  // A permutation reads the lowest four bits of each index.
  static constexpr Table16<float, Values> numbers{};
  Lanes table = hn::Load(Full<float>(), numbers.values);
  HWY_INLINE Lanes operator()(Words words) const {
    return hn::TableLookupLanes(table, hn::Indices512<float>{words.raw});
  }
#else
  static constexpr Table16<uint8_t, Values> numbers{};
  hn::VFromD<Full<uint8_t>> table = hn::LoadDup128(Full<uint8_t>(), numbers.values);
  HWY_INLINE Lanes operator()(Words words) const {
    // The index of the highest byte, whose value then has its sign at the right place; the others get entry 0.
    const auto index = hn::ShiftLeft<24>(hn::And(words, hn::Set(Full<uint32_t>(), 15)));
    const auto bytes = hn::TableLookupBytes(table, hn::BitCast(Full<uint8_t>(), index));
    return hn::ConvertTo(Full<float>(), hn::ShiftRight<24>(hn::BitCast(Full<int32_t>(), bytes)));
  }
#endif
};

// A number of `bits` bits minus `offset`.
template <int bits, int offset>
struct Below16 {
  static constexpr int at(int i) { return (i & ((1 << bits) - 1)) - offset; }
};
template <int bits, int offset>
struct Offset {
  HWY_INLINE Lanes operator()(Words words) const {
    const Full<float> d;
    // The bits of 2^23 with a number below are those of their sum.
    const auto magic = hn::Set(Full<uint32_t>(), 0x4b000000), mask = hn::Set(Full<uint32_t>(), (1u << bits) - 1);
    return hn::Sub(hn::BitCast(d, hn::OrAnd(magic, words, mask)), hn::Set(d, 0x1p23f + offset));
  }
};
#if HWY_MAX_BYTES == 64
template <int bits, int offset>
requires(bits <= 4) struct Offset<bits, offset> : OneOf16<Below16<bits, offset>> {
};
// A permutation of two registers reads five bits.
template <int offset>
struct Offset<5, offset> {
  Lanes low = hn::Iota(Full<float>(), -offset), high = hn::Iota(Full<float>(), 16 - offset);
  HWY_INLINE Lanes operator()(Words words) const { return Lanes{_mm512_permutex2var_ps(low.raw, words.raw, high.raw)}; }
};
#endif

// ---- The numbers

// A word of a column has as many numbers as fit into 32 bits. If those are 30 in all words, the two last numbers are in
// the two highest bits of the words.
template <int bits>
struct PackedNumbers {
  static constexpr int per_word = 32 / bits;
  static constexpr bool has_rest = per_word * bits != 32;
  uint32_t words[bits][panel_columns];

  // Reads 40 bytes, of which the last 8 do not matter.
  void put(int64_t column, const uint8_t* numbers) {
    for (int t = 0; t < bits; ++t) words[t][column] = word_of(numbers + per_word * t);
    if constexpr (has_rest) {
      const uint32_t rest = numbers[30] | static_cast<uint32_t>(numbers[31]) << bits;
      for (int t = 0; t < bits; ++t) words[t][column] |= rest >> 2 * t << 30;
    }
  }

  // w[part][panel_columns] = finish(value(number), element, first column of the vector)
  template <class Value, class Finish>
  HWY_INLINE void decode(float* w, Value value, Finish finish) const {
    for (int64_t j = 0; j < panel_columns; j += lanes) {
      Words rest = hn::Zero(Full<uint32_t>());
      decode_words<0>(w + j, j, rest, value, finish);
      if constexpr (has_rest) {
        hn::StoreU(finish(value(rest), 30, j), Full<float>(), w + 30 * panel_columns + j);
        hn::StoreU(finish(value(hn::ShiftRight<bits>(rest)), 31, j), Full<float>(), w + 31 * panel_columns + j);
      }
    }
  }

 private:
  static HWY_INLINE uint32_t word_of(const uint8_t* numbers) {
    constexpr int first = per_word < 8 ? per_word : 8;
    uint64_t word = gather<first>(numbers);
    if constexpr (per_word > 8) word |= gather<per_word - 8>(numbers + 8) << 8 * bits;
    return static_cast<uint32_t>(word);
  }
  template <int count>
  static HWY_INLINE uint64_t gather(const uint8_t* numbers) {
    constexpr uint64_t mask = (each_byte >> 8 * (8 - count)) * ((1 << bits) - 1);
    return gather_bits(eight_bytes(numbers), mask);
  }

  template <int t, class Value, class Finish>
  HWY_INLINE void decode_words(float* w, int64_t j, Words& rest, const Value& value, const Finish& finish) const {
    const auto word = hn::LoadU(Full<uint32_t>(), words[t] + j);
    if constexpr (has_rest) {
      constexpr uint32_t two = 3u << 2 * t;
      rest = hn::OrAnd(rest, hn::ShiftRight<30 - 2 * t>(word), hn::Set(Full<uint32_t>(), two));
    }
    decode_word<t, 0>(word, w, j, value, finish);
    if constexpr (t + 1 < bits) decode_words<t + 1>(w, j, rest, value, finish);
  }
  template <int t, int i, class Value, class Finish>
  static HWY_INLINE void decode_word(Words word, float* w, int64_t j, const Value& value, const Finish& finish) {
    constexpr int64_t element = t * per_word + i;
    hn::StoreU(finish(value(hn::ShiftRight<bits * i>(word)), element, j), Full<float>(), w + element * panel_columns);
    if constexpr (i + 1 < per_word) decode_word<t, i + 1>(word, w, j, value, finish);
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
