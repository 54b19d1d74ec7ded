// Parts of 32 numbers of 2 to 8 bits for a panel of columns, packed so that vectors of columns are decoded with few
// instructions. They take about as many bytes as in files.
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

// Decoded numbers go to a sink: add<v>() gets vector v of the columns, for each element of a part in order. Its `scale`
// gets the scales of columns, where there are any.

// ---- What the lowest bits of each lane stand for; the bits above them are ignored.

// One of 16 values. `Values::at(i)` is that of the lowest four bits i.
template <class T, class Values, int more = 0>
struct Table16 {
  alignas(64) T values[16];
  consteval Table16() : values{} {
    for (int i = 0; i < 16; ++i) values[i] = static_cast<T>(Values::at(i) + more);
  }
};
// The values of the bytes of quads, plus `above`, as unsigned bytes.
template <class Values>
struct ByteOneOf16 {
  static constexpr int above = 128, largest = 255;
  static constexpr Table16<uint8_t, Values, above> numbers{};
  hn::VFromD<Full<uint8_t>> table = hn::LoadDup128(Full<uint8_t>(), numbers.values);
  HWY_INLINE Words operator()(Words quad) const {
    return hn::BitCast(Full<uint32_t>(), hn::TableLookupBytes(table, hn::BitCast(Full<uint8_t>(), quad)));
  }
};
template <int bits, int offset>
struct ByteAbove {
  static constexpr int above = offset, largest = (1 << bits) - 1;
  HWY_INLINE Words operator()(Words quad) const { return quad; }
};
template <class NumberValues>
struct OneOf16 {
  using Values = NumberValues;
  using Bytes = ByteOneOf16<Values>;
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
  using Bytes = ByteAbove<bits, offset>;
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
  using Bytes = ByteAbove<bits, offset>;
};
// A permutation of two registers reads five bits.
template <int offset>
struct Offset<5, offset> {
  using Values = Below<5, offset>;
  using Bytes = ByteAbove<5, offset>;
  Lanes low = hn::Iota(Full<float>(), -offset), high = hn::Iota(Full<float>(), 16 - offset);
  HWY_INLINE Lanes operator()(Words words) const { return Lanes{_mm512_permutex2var_ps(low.raw, words.raw, high.raw)}; }
};
#endif

#if HWY_MAX_BYTES == 64
// Tables that give values as bfloat16. The indices are in the lowest bits of 16-bit lanes.
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

// For lambdas: g++ makes functions of large ones, which read whatever they refer to from memory.
#define FERRULE_ALWAYS_INLINE __attribute__((always_inline))

// Calls f with Number<0> to Number<count - 1>.
template <int count, int i = 0, class F>
HWY_INLINE void for_numbers(const F& f) {
  f(Number<i>{});
  if constexpr (i + 1 < count) for_numbers<count, i + 1>(f);
}

// Each lane shifted to the right by `places`, or to the left if that is negative.
template <int places, class Vector>
HWY_INLINE Vector shifted(Vector x) {
  if constexpr (places < 0)
    return hn::ShiftLeft<-places>(x);
  else
    return hn::ShiftRight<places>(x);
}

// The bits of `yes` where `mask` has ones, and those of `no` elsewhere.
template <class Vector>
HWY_INLINE Vector bits_from(Vector mask, Vector yes, Vector no) {
#if HWY_MAX_BYTES == 64
  return hn::IfVecThenElse(mask, yes, no);  // of whole lanes on other targets
#else
  return hn::Or(hn::And(mask, yes), hn::AndNot(mask, no));
#endif
}

// 16 bytes in the order of quads, which is that of PackedNumbers.
HWY_INLINE hn::VFromD<hn::FixedTag<uint8_t, 16>> in_quads(hn::VFromD<hn::FixedTag<uint8_t, 16>> bytes) {
  alignas(16) static constexpr uint8_t order[16] = {0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15};
  return hn::TableLookupBytes(bytes, hn::Load(hn::FixedTag<uint8_t, 16>(), order));
}

// The numbers of a part for each column, in two planes: the lowest 8, 4 or 2 bits of each number, then the others.
//
// The numbers of a part are eight quads. The bytes of quads 2g and 2g + 1 are elements 0, 4, 1, 5 and 2, 6, 3, 7 of
// elements 8g to 8g + 7, so that two elements that follow each other are at one place of the halves of a word. A word
// of a plane of b bits has 8 / b quads, each from another bit of the bytes on.
template <int bits>
struct PackedNumbers {
  static constexpr int low = bits >= 8 ? 8 : bits >= 4 ? 4 : 2, high = bits - low;
  static_assert(high >= 0 && high <= 2);
  uint32_t words[bits][panel_columns];  // first those of the lowest bits

  // The numbers of four columns.
  void put(int64_t column, const uint8_t (*numbers)[part]) {
    const hn::FixedTag<uint64_t, 2> d64;
    FourWords quads[8];
    for (int q = 0; q < 8; q += 4) {
      FourWords of[4];  // the quads of each column
      for (int c = 0; c < 4; ++c)
        of[c] = hn::BitCast(d32, in_quads(hn::LoadU(hn::FixedTag<uint8_t, 16>(), numbers[c] + q * 4)));
      for (int half = 0; half < 2; ++half) {
        const auto first = hn::BitCast(
            d64, half == 0 ? hn::InterleaveLower(d32, of[0], of[1]) : hn::InterleaveUpper(d32, of[0], of[1]));
        const auto last = hn::BitCast(
            d64, half == 0 ? hn::InterleaveLower(d32, of[2], of[3]) : hn::InterleaveUpper(d32, of[2], of[3]));
        quads[q + 2 * half] = hn::BitCast(d32, hn::InterleaveLower(d64, first, last));
        quads[q + 2 * half + 1] = hn::BitCast(d32, hn::InterleaveUpper(d64, first, last));
      }
    }
    put_plane<low, 0>(quads, column, words);
    if constexpr (high > 0) put_plane<high, low>(quads, column, words + low);
  }

  // Gives the sink finish(value(number), element, first column of the vector) for the elements in order; above the bits
  // of a number are others.
  template <class Sink, class Value, class Finish>
  HWY_INLINE void decode(Sink& sink, Value value, Finish finish) const {
    // g++ would load the words and the row of all turns at once, and then store what it has no registers for.
#pragma GCC unroll 1
    for (int t = 0; t < low; t += words_per_turn) {
      Turn turn[vectors];
      for_vectors_of_panel([&](auto v) { turn[v.value] = turn_of(t, v.value); });
      for_numbers<words_per_turn * 32 / low>([&](auto i) FERRULE_ALWAYS_INLINE {
        const int64_t element = t * (32 / low) + i.value;
        for_vectors_of_panel([&](auto v) {
          const Words number = number_at<quad_in_turn(i.value), i.value % 2 * 16 + i.value / 4 % 2 * 8>(turn[v.value]);
          sink.template add<v.value>(finish(value(number), element, v.value * lanes), element);
        });
      });
    }
  }

  // Gives the sink value(quad), whose bytes are numbers, for each quad in order.
  template <class Sink, class Value>
  HWY_INLINE void decode_quads(Sink& sink, Value value) const {
    const auto mask = hn::Set(Full<uint32_t>(), 0x01010101u * ((1u << bits) - 1));
    for_numbers<8>([&](auto q) FERRULE_ALWAYS_INLINE {
      for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE {
        Words quad = quad_at<q.value>(v.value * lanes);
        if constexpr (bits < 8) quad = hn::And(quad, mask);
        sink.template add_quad<v.value, q.value>(value(quad));
      });
    });
  }
#if HWY_MAX_BYTES == 64
  // Gives the sink value(indices) for each pair of elements. `indices` has in the lowest byte of each half what
  // index(quad, number of the quad, vector) has there; the bytes of a quad have other bits above those of a number.
  template <class Sink, class Index, class Value>
  HWY_INLINE void decode_pairs(Sink& sink, Index index, Value value) const {
    for_numbers<8>([&](auto q) FERRULE_ALWAYS_INLINE {
      for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE {
        const Halves both = hn::BitCast(Full<uint16_t>(), index(quad_at<q.value>(v.value * lanes), q, v));
        constexpr int64_t pair = q.value / 2 * 4 + q.value % 2;
        sink.template add_pair<v.value>(value(both), pair);
        sink.template add_pair<v.value>(value(hn::ShiftRight<8>(both)), pair + 2);
      });
    });
  }
#endif

 private:
  static constexpr int words_per_turn = low == 8 ? 2 : 1;  // eight elements at least, which are complete pairs
  struct Turn {
    Words low[words_per_turn], high;  // the quads of a turn are from the lowest bits of `high` on
  };

  static constexpr hn::FixedTag<uint32_t, 4> d32{};
  using FourWords = hn::VFromD<hn::FixedTag<uint32_t, 4>>;
  template <int plane, int from>
  static HWY_INLINE void put_plane(const FourWords* quads, int64_t column, uint32_t (*to)[panel_columns]) {
    constexpr int per_word = 8 / plane;
    const auto mask = hn::Set(d32, 0x01010101u * ((1u << plane) - 1));
    for (int t = 0; t < plane; ++t) {
      auto word = hn::And(hn::ShiftRight<from>(quads[t * per_word]), mask);
      for (int q = 1; q < per_word; ++q)
        word = hn::Or(word, hn::ShiftLeftSame(hn::And(hn::ShiftRight<from>(quads[t * per_word + q]), mask), plane * q));
      hn::StoreU(word, d32, to[t] + column);
    }
  }

  HWY_INLINE Turn turn_of(int t, int64_t v) const {
    const Full<uint32_t> d;
    Turn turn;
    for (int i = 0; i < words_per_turn; ++i) turn.low[i] = hn::LoadU(d, words[t + i] + v * lanes);
    if constexpr (high > 0) {
      constexpr int per_upper = 8 / high;
      const int first = t * (8 / low);  // quad
      turn.high =
          hn::ShiftRightSame(hn::LoadU(d, words[low + first / per_upper] + v * lanes), first % per_upper * high);
    } else {
      turn.high = turn.low[0];
    }
    return turn;
  }
  // Quad q of the vector of columns from j on; above the bits of a number are others.
  template <int q>
  HWY_INLINE Words quad_at(int64_t j) const {
    const Full<uint32_t> d;
    constexpr int per_word = 8 / low;
    const Words lower = shifted<low*(q % per_word)>(hn::LoadU(d, words[q / per_word] + j));
    if constexpr (high == 0) {
      return lower;
    } else {
      constexpr int per_upper = 8 / high;
      const Words upper = shifted<high*(q % per_upper) - low>(hn::LoadU(d, words[low + q / per_upper] + j));
      return bits_from(hn::Set(d, 0x01010101u * ((1u << low) - 1)), lower, upper);
    }
  }
  static constexpr int quad_in_turn(int element) { return element / 8 * 2 + element / 2 % 2; }
  // The numbers of a quad at bit `place` of each lane.
  template <int quad, int place>
  static HWY_INLINE Words number_at(const Turn& turn) {
    if constexpr (low == 8) {
      return shifted<place>(turn.low[quad]);
    } else {
      const Words lower = shifted<place + low * quad>(turn.low[0]);
      if constexpr (high == 0) return lower;
      const auto mask = hn::Set(Full<uint32_t>(), (1 << low) - 1);
      return bits_from(mask, lower, shifted<place + high * quad - low>(turn.high));
    }
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
