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

constexpr int vectors = static_cast<int>(Tile<float>::vectors);  // of a panel
static_assert(vectors == 2 && vectors * lanes == panel_columns);

// Calls f with Number<0> and Number<1>.
template <class F>
HWY_INLINE void for_vectors_of_panel(F f) {
  f(Number<0>{});
  f(Number<1>{});
}

// ---- Where decoded weights go: add<v>() gets vector v of the columns, for each element of a part in order. `scale`
// gets the scales of columns, where there are any.

// w[part][panel_columns]
struct StoredWeights {
  float *w, *scale;

  template <int v>
  HWY_INLINE void add(Lanes weights, int64_t element) {
    hn::Store(weights, Full<float>(), w + element * panel_columns + v * lanes);
  }
};

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

  // Gives the sink finish(value(number), element, first column of the vector).
  template <class Sink, class Value, class Finish>
  HWY_INLINE void decode(Sink& sink, Value value, Finish finish) const {
    Words rest[vectors];
    for (Words& each : rest) each = hn::Zero(Full<uint32_t>());
      // g++ would load the words and the row of all turns at once, and then store what it has no registers for.
#pragma GCC unroll 1
    for (int t = 0; t < bits; ++t) {
      Words word[vectors];
      for_vectors_of_panel([&](auto v) {
        word[v.value] = hn::LoadU(Full<uint32_t>(), words[t] + v.value * lanes);
        if constexpr (has_rest) {
          const auto two = hn::Set(Full<uint32_t>(), 3u << 2 * t);
          rest[v.value] = hn::OrAnd(rest[v.value], hn::ShiftRightSame(word[v.value], 30 - 2 * t), two);
        }
      });
      decode_word<0>(word, t * per_word, sink, value, finish);
    }
    if constexpr (has_rest) {
      for_vectors_of_panel([&](auto v) {
        constexpr int64_t j = v.value * lanes;
        sink.template add<v.value>(finish(value(rest[v.value]), 30, j), 30);
        sink.template add<v.value>(finish(value(hn::ShiftRight<bits>(rest[v.value])), 31, j), 31);
      });
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

  // The vectors of columns take turns, so that a sum of one does not wait for itself.
  template <int i, class Sink, class Value, class Finish>
  static HWY_INLINE void decode_word(const Words* word, int64_t first, Sink& sink, const Value& value,
                                     const Finish& finish) {
    for_vectors_of_panel([&](auto v) {
      const auto number = value(hn::ShiftRight<bits * i>(word[v.value]));
      sink.template add<v.value>(finish(number, first + i, v.value * lanes), first + i);
    });
    if constexpr (i + 1 < per_word) decode_word<i + 1>(word, first, sink, value, finish);
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
