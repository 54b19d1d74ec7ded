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
template <class NumberValues>
struct OneOf16 {
  using Values = NumberValues;
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
struct Below {
  static constexpr int at(int i) { return (i & ((1 << bits) - 1)) - offset; }
};
template <int bits, int offset>
struct Offset {
  using Values = Below<bits, offset>;
  HWY_INLINE Lanes operator()(Words words) const {
    const Full<float> d;
    // The bits of 2^23 with a number below are those of their sum.
    const auto magic = hn::Set(Full<uint32_t>(), 0x4b000000), mask = hn::Set(Full<uint32_t>(), (1u << bits) - 1);
    return hn::Sub(hn::BitCast(d, hn::OrAnd(magic, words, mask)), hn::Set(d, 0x1p23f + offset));
  }
};
#if HWY_MAX_BYTES == 64
template <int bits, int offset>
requires(bits <= 4) struct Offset<bits, offset> : OneOf16<Below<bits, offset>> {
};
// A permutation of two registers reads five bits.
template <int offset>
struct Offset<5, offset> {
  using Values = Below<5, offset>;
  Lanes low = hn::Iota(Full<float>(), -offset), high = hn::Iota(Full<float>(), 16 - offset);
  HWY_INLINE Lanes operator()(Words words) const { return Lanes{_mm512_permutex2var_ps(low.raw, words.raw, high.raw)}; }
};
#endif

#if HWY_MAX_BYTES == 64
// The same as bfloat16, whose indices are in the lowest bits of 16-bit lanes.
using Halves = hn::VFromD<Full<uint16_t>>;
constexpr uint16_t bfloat16_bits(int i) { return __builtin_bit_cast(uint32_t, static_cast<float>(i)) >> 16; }
template <class Values, int count>
struct BFloat16Table {
  alignas(64) uint16_t values[count];
  consteval BFloat16Table() : values{} {
    for (int i = 0; i < count; ++i) values[i] = bfloat16_bits(Values::at(i));
  }
};
// One of 2^bits values, at most 32.
template <class Values, int bits>
struct BFloat16OneOf32 {
  struct Repeated {
    static constexpr int at(int i) { return Values::at(i & ((1 << bits) - 1)); }
  };
  static constexpr BFloat16Table<Repeated, 32> numbers{};
  Halves table = hn::Load(Full<uint16_t>(), numbers.values);
  HWY_INLINE Halves operator()(Halves indices) const {
    return Halves{_mm512_permutexvar_epi16(indices.raw, table.raw)};
  }
};
template <class Values>
struct BFloat16OneOf64 {
  static constexpr BFloat16Table<Values, 64> numbers{};
  Halves low = hn::Load(Full<uint16_t>(), numbers.values), high = hn::Load(Full<uint16_t>(), numbers.values + 32);
  HWY_INLINE Halves operator()(Halves indices) const {
    return Halves{_mm512_permutex2var_epi16(low.raw, indices.raw, high.raw)};
  }
};
#endif

// ---- The numbers

// A word of a column has as many numbers as fit into 32 bits. Where each half of the word has as many, it has the even
// ones in the lower half and the odd ones in the upper half. If the words have 30 numbers, the two last ones are in the
// highest bits of the words or halves.
template <int bits>
struct PackedNumbers {
  static constexpr int per_word = 32 / bits, per_half = 16 / bits;
  static constexpr bool has_halves = 2 * per_half == per_word, has_rest = per_word * bits != 32;
  static_assert(has_halves || has_rest);
  static constexpr int rest_bits = has_halves ? 1 : 2;  // of a half or a word
  uint32_t words[bits][panel_columns];

  // Reads 40 bytes, of which the last 8 do not matter.
  void put(int64_t column, const uint8_t* numbers) {
    const uint32_t even = numbers[30], odd = numbers[31];
    for (int t = 0; t < bits; ++t) {
      uint32_t& word = words[t][column];
      word = word_of(numbers + per_word * t);
      if constexpr (has_rest && has_halves)
        word |= (even >> t & 1) << 15 | (odd >> t & 1) << 31;
      else if constexpr (has_rest)
        word |= (even | odd << bits) >> 2 * t << 30;
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
        if constexpr (has_rest) add_rest(rest[v.value], word[v.value], t);
      });
      decode_word<0>(word, t * per_word, sink, value, finish);
    }
    if constexpr (has_rest) {
      for_vectors_of_panel([&](auto v) {
        constexpr int64_t j = v.value * lanes;
        sink.template add<v.value>(finish(value(rest[v.value]), 30, j), 30);
        sink.template add<v.value>(finish(value(hn::ShiftRight < has_halves ? 16 : bits > (rest[v.value])), 31, j), 31);
      });
    }
  }

#if HWY_MAX_BYTES == 64
  // Gives the sink value(numbers, pair, vector) for each pair of elements, with the number of an element in each half
  // of a lane, above which are other bits.
  template <class Sink, class Value>
  HWY_INLINE void decode_pairs(Sink& sink, Value value) const {
    constexpr int step = has_halves ? 1 : 2;  // words that begin and end with a pair
    const Full<uint16_t> d16;
    Words rest[vectors];
    for (Words& each : rest) each = hn::Zero(Full<uint32_t>());
#pragma GCC unroll 1
    for (int t = 0; t < bits; t += step)
      for_vectors_of_panel([&](auto v) {
        Words word[step];
        for (int i = 0; i < step; ++i) {
          word[i] = hn::LoadU(Full<uint32_t>(), words[t + i] + v.value * lanes);
          if constexpr (has_rest) add_rest(rest[v.value], word[i], t + i);
        }
        for_each_pair<step * per_word / 2>([&](auto i) {
          const int64_t pair = t * per_word / 2 + i.value;
          sink.template add_pair<v.value>(value(hn::BitCast(d16, pair_of<i.value>(word)), pair, v), pair);
        });
      });
    if constexpr (has_rest)
      for_vectors_of_panel([&](auto v) {
        const Words both = has_halves ? rest[v.value] : in_halves<0, bits>(rest[v.value], rest[v.value]);
        sink.template add_pair<v.value>(value(hn::BitCast(d16, both), 15, v), 15);
      });
  }
#endif

 private:
  // Where number i of a word begins.
  static constexpr int place(int i) { return has_halves ? i % 2 * 16 + i / 2 * bits : i * bits; }

  static HWY_INLINE void add_rest(Words& rest, Words word, int t) {
    const Full<uint32_t> d;
    if constexpr (has_halves)
      rest = hn::OrAnd(rest, hn::ShiftRightSame(word, 15 - t), hn::Set(d, 0x10001u << t));
    else
      rest = hn::OrAnd(rest, hn::ShiftRightSame(word, 30 - 2 * t), hn::Set(d, 3u << 2 * t));
  }

  static HWY_INLINE uint32_t word_of(const uint8_t* numbers) {
    constexpr int first = per_word < 8 ? per_word : 8;
    uint64_t word = gather<first>(numbers);
    if constexpr (per_word > 8) word |= gather<per_word - 8>(numbers + 8) << place(8);
    return static_cast<uint32_t>(word);
  }
  // The numbers at the places of the first of a word.
  template <int count>
  static HWY_INLINE uint64_t gather(const uint8_t* numbers) {
    constexpr uint64_t mask = (each_byte >> 8 * (8 - count)) * ((1 << bits) - 1);
    const uint64_t bytes = eight_bytes(numbers);
    if constexpr (!has_halves) return gather_bits(bytes, mask);
    constexpr uint64_t even = mask & 0x00ff00ff00ff00ff;
    return gather_bits(bytes, even) | gather_bits(bytes >> 8, even) << 16;
  }

  // The vectors of columns take turns, so that a sum of one does not wait for itself.
  template <int i, class Sink, class Value, class Finish>
  static HWY_INLINE void decode_word(const Words* word, int64_t first, Sink& sink, const Value& value,
                                     const Finish& finish) {
    for_vectors_of_panel([&](auto v) {
      const auto number = value(hn::ShiftRight<place(i)>(word[v.value]));
      sink.template add<v.value>(finish(number, first + i, v.value * lanes), first + i);
    });
    if constexpr (i + 1 < per_word) decode_word<i + 1>(word, first, sink, value, finish);
  }

#if HWY_MAX_BYTES == 64
  // The numbers at bit `low` of one word and at bit `high` of another, in halves.
  template <int low, int high>
  static HWY_INLINE Words in_halves(Words even, Words odd) {
    const Words upper = high < 16 ? hn::ShiftLeft<(16 - high) & 31>(odd) : hn::ShiftRight<(high - 16) & 31>(odd);
    const Words lower = hn::And(hn::ShiftRight<low>(even), hn::Set(Full<uint32_t>(), 0xffff));
    return hn::OrAnd(lower, upper, hn::Set(Full<uint32_t>(), 0xffff0000));
  }
  // Pair i of the words.
  template <int i>
  static HWY_INLINE Words pair_of(const Words* word) {
    if constexpr (has_halves)
      return hn::BitCast(Full<uint32_t>(), hn::ShiftRight<bits * i>(hn::BitCast(Full<uint16_t>(), word[0])));
    else
      return in_halves<place(2 * i % per_word), place((2 * i + 1) % per_word)>(word[2 * i / per_word],
                                                                               word[(2 * i + 1) / per_word]);
  }
  template <int count, class F, int i = 0>
  static HWY_INLINE void for_each_pair(const F& f) {
    f(Number<i>{});
    if constexpr (i + 1 < count) for_each_pair<count, F, i + 1>(f);
  }
#endif
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
