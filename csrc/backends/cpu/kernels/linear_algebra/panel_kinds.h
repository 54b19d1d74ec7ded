// Kinds of panels: what blocks of dtypes have in common, whose weights are numbers of 2 to 8 bits, times scales.
//
// put() writes everything of a column except its numbers, which `packed` takes for four columns at once.
//
// decode() of all panels gives a sink `part` elements of k. They have the bits of decode_part; with `is_scaled` they do
// when they are multiplied by the sink's `scale`, one for each column.
//
// decode_integers() gives integers that bfloat16 holds, and for each column `scales_per_part` numbers in the sink's
// `scale`; with `has_rest` as many in `rest`. A weight is integer * scale + rest, and neither part is much larger than
// the weight.
//
// decode_bytes() gives quads of bytes instead (packed_numbers.h). An integer is a byte minus `Bytes::above`, or with
// `has_rest` minus the number of its column in the sink's `centre`, which is like `rest`.
#pragma once

#include "../conversion/block_decoding.h"
#include "packed_numbers.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// ---- The numbers of blocks, and integers of parts

template <DType dtype, int bits>
struct PanelNumbers {
  static constexpr int64_t parts = Block<dtype>::elements / part;
  PackedNumbers<bits> numbers[parts];

  // Stores the numbers of four columns' blocks, from `column` on.
  void put(int64_t column, const Block<dtype>* const* blocks) {
    for (int64_t k = 0; k < parts; ++k) {
      uint8_t unpacked[4][part];
      for (int c = 0; c < 4; ++c) part_numbers(*blocks[c], k, unpacked[c]);
      numbers[k].put(column, unpacked);
    }
  }
};

// Widens the columns of a panel. widen_all of half.h does the same, but g++ 12 warns of an endless loop if its number
// of elements is constant.
HWY_INLINE void widen_columns(const Float16* from, float* to) {
#if HWY_MAX_BYTES == 64  // a load of 64 bytes would wait for two stores of 32
  for (int64_t j = 0; j < panel_columns; j += 16)
    _mm512_storeu_ps(to + j, _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + j))));
#elif defined(__F16C__)
  for (int64_t j = 0; j < panel_columns; j += 8)
    _mm256_storeu_ps(to + j, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + j))));
#else
  for (int64_t j = 0; j < panel_columns; ++j) to[j] = widen(from[j]);
#endif
}

// products[j] = whole[j] * integers[j]
template <class T>
HWY_INLINE void scale_integers(const float* whole, const T* integers, float* products) {
  const Full<float> d;
  const Full<int32_t> di;
  const hn::Rebind<T, Full<int32_t>> narrow;
  for (int64_t j = 0; j < panel_columns; j += lanes) {
    const auto integer = hn::ConvertTo(d, hn::PromoteTo(di, hn::LoadU(narrow, integers + j)));
    hn::StoreU(hn::Mul(hn::LoadU(d, whole + j), integer), d, products + j);
  }
}

constexpr auto as_they_are = [](Lanes number, int64_t, int64_t) { return number; };

// The scale of element `element` of a part, which has 32 / per_scale scales for each column.
template <int per_scale>
HWY_INLINE Lanes scale_at(const float* scales, int64_t element, int64_t j) {
  return hn::LoadU(Full<float>(), scales + element / per_scale * panel_columns + j);
}

#if HWY_MAX_BYTES == 64
// Indices for TableLookupBytes: the lowest byte of each word, four times.
HWY_INLINE hn::VFromD<Full<uint8_t>> first_of_four() {
  alignas(16) static constexpr uint8_t indices[16] = {0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12};
  return hn::LoadDup128(Full<uint8_t>(), indices);
}
#endif

// Gives the sink the values of numbers, or of numbers minus those of their column in `centre`, which has one for each
// `per_scale` elements.
template <class Value, int bits, class Sink>
HWY_INLINE void give_integers(const PackedNumbers<bits>& numbers, Sink& sink) {
#if HWY_MAX_BYTES == 64
  if constexpr (bits < 8) {
    using Values = typename Value::Values;
    const std::conditional_t<bits == 6, BFloat16OneOf64<Values>, BFloat16OneOf32<Values, bits == 5 ? 5 : 4>> value;
    numbers.decode_pairs(
        sink, [](Words quad, auto, auto) { return quad; }, value);
    return;
  }
#endif
  numbers.decode(sink, Value(), as_they_are);
}
template <int per_scale, int bits, class Sink>
HWY_INLINE void give_centred(const PackedNumbers<bits>& numbers, const float* centre, Sink& sink) {
#if HWY_MAX_BYTES == 64
  constexpr int middle = bits == 5 ? 32 : 16;
  const Full<uint32_t> d;
  const std::conditional_t<bits == 5, BFloat16OneOf64<Below<6, middle>>, BFloat16OneOf32<Below<5, middle>, 5>> value;
  const auto mask = hn::Set(d, 0x01010101u * ((1u << bits) - 1));
  Words offsets[part / per_scale][vectors];  // the number to add to each byte
  for (int64_t i = 0; i < part / per_scale; ++i)
    for_vectors_of_panel([&](auto v) {
      // The lowest bits of a sum with 2^23 are those of an integer.
      const auto own = hn::Load(Full<float>(), centre + i * panel_columns + v.value * lanes);
      const auto offset = hn::BitCast(Full<uint8_t>(), hn::Sub(hn::Set(Full<float>(), 0x1p23f + middle), own));
      offsets[i][v.value] = hn::BitCast(d, hn::TableLookupBytes(offset, first_of_four()));
    });
  numbers.decode_pairs(
      sink,
      [&](Words quad, auto q, auto v) FERRULE_ALWAYS_INLINE {
        return hn::Add(hn::And(quad, mask), offsets[q.value * (part / per_scale) / 8][v.value]);
      },
      value);
#else
  numbers.decode(sink, Offset<bits, 0>(), [&](Lanes number, int64_t element, int64_t j) {
    return hn::Sub(number, scale_at<per_scale>(centre, element, j));
  });
#endif
}

// Weights are s * number + m, whose parts may be far larger than their sum. With a number c next to -m / s they are
// s * (number - c) + rest, where |s * (number - c)| + |rest| is at most about 3 |s * number + m|. rest: c * s + m,
// which a float32 holds if s and m are halves. Puts c into `m`.
template <int bits>
HWY_INLINE void move_to_centre(const float* scale, float* m, float* rest) {
  const Full<float> d;
  for (int64_t j = 0; j < panel_columns; j += lanes) {
    const auto s = hn::Load(d, scale + j), least = hn::Load(d, m + j);
    const auto quotient = hn::Mul(hn::Neg(least), hn::ApproximateReciprocal(s));  // may be NaN, which is not greater
    const auto largest = hn::Set(d, (1 << bits) - 1);
    const auto centre = hn::IfThenElseZero(hn::Gt(quotient, hn::Zero(d)), hn::Round(hn::Min(largest, quotient)));
    hn::Store(hn::MulAdd(centre, s, least), d, rest + j);
    hn::Store(centre, d, m + j);
  }
}

// ---- Kinds of panels

// One scale for a block, and integers as weights.
template <DType dtype, int bits, class Value>
struct ScaledPanel {
  using Bytes = typename Value::Bytes;
  static constexpr bool is_scaled = true, has_rest = false;
  static constexpr int64_t scales_per_part = 1;
  Float16 scales[panel_columns];
  PanelNumbers<dtype, bits> packed;

  void put(int64_t column, const Block<dtype>& block) { scales[column] = block.scale; }
  template <class Sink>
  HWY_INLINE void decode(int64_t k, Sink& sink) const {
    widen_columns(scales, sink.scale);
    packed.numbers[k].decode(sink, Value(), as_they_are);
  }
  template <class Sink>
  HWY_INLINE void decode_integers(int64_t k, Sink& sink) const {
    widen_columns(scales, sink.scale);
    give_integers<Value>(packed.numbers[k], sink);
  }
  template <class Sink>
  HWY_INLINE void decode_bytes(int64_t k, Sink& sink) const {
    widen_columns(scales, sink.scale);
    packed.numbers[k].decode_quads(sink, Bytes());
  }
};

// An integer times the block's scale for each `per_scale` elements.
template <DType dtype, int bits, int per_scale, class Value>
struct PartScaledPanel {
  using Bytes = typename Value::Bytes;
  static constexpr bool is_scaled = per_scale == part, has_rest = false;
  static constexpr int64_t scales_per_part = part / per_scale, count = Block<dtype>::elements / per_scale;
  Float16 scales[panel_columns];
  int8_t part_scales[count][panel_columns];
  PanelNumbers<dtype, bits> packed;

  void put(int64_t column, const Block<dtype>& block) {
    scales[column] = scale_of(block);
    for (int64_t i = 0; i < count; ++i) part_scales[i][column] = static_cast<int8_t>(part_scale(block, i));
  }
  template <class Sink>
  HWY_INLINE void decode(int64_t k, Sink& sink) const {
    if constexpr (is_scaled) {
      scales_of(k, sink.scale);
      packed.numbers[k].decode(sink, Value(), as_they_are);
    } else {
      alignas(64) float s[scales_per_part * panel_columns];
      scales_of(k, s);
      packed.numbers[k].decode(sink, Value(), [&](Lanes number, int64_t element, int64_t j) {
        return hn::Mul(number, scale_at<per_scale>(s, element, j));
      });
    }
  }
  template <class Sink>
  HWY_INLINE void decode_integers(int64_t k, Sink& sink) const {
    scales_of(k, sink.scale);
    give_integers<Value>(packed.numbers[k], sink);
  }
  template <class Sink>
  HWY_INLINE void decode_bytes(int64_t k, Sink& sink) const {
    scales_of(k, sink.scale);
    packed.numbers[k].decode_quads(sink, Bytes());
  }

 private:
  HWY_INLINE void scales_of(int64_t k, float* s) const {
    alignas(64) float whole[panel_columns];
    widen_columns(scales, whole);
    for (int64_t j = 0; j < panel_columns; ++j) whole[j] *= scale_unit<dtype>;
    for (int64_t i = 0; i < scales_per_part; ++i)
      scale_integers(whole, part_scales[scales_per_part * k + i], s + i * panel_columns);
  }
};

// Floating-point numbers of one byte as scales of `per_scale` elements each. Their products with numbers may overflow.
template <DType dtype, int per_scale, class Scale>
struct ByteScaledPanel {
 private:
  struct Fp4Values {
    static constexpr int at(int i) { return fp4_values[i]; }
  };

 public:
  using Bytes = ByteOneOf16<Fp4Values>;
  static constexpr bool is_scaled = false, has_rest = false;
  static constexpr int64_t scales_per_part = part / per_scale, count = Block<dtype>::elements / per_scale;
  uint8_t scales[count][panel_columns];
  PanelNumbers<dtype, 4> packed;

  void put(int64_t column, const Block<dtype>& block) {
    for (int64_t i = 0; i < count; ++i) scales[i][column] = Scale::byte(block, i);
  }
  template <class Sink>
  HWY_INLINE void decode(int64_t k, Sink& sink) const {
    alignas(64) float s[scales_per_part * panel_columns];
    scales_of(k, s);
    packed.numbers[k].decode(sink, OneOf16<Fp4Values>(), [&](Lanes number, int64_t element, int64_t j) {
      return hn::Mul(number, scale_at<per_scale>(s, element, j));
    });
  }
  template <class Sink>
  HWY_INLINE void decode_integers(int64_t k, Sink& sink) const {
    integer_scales(k, sink.scale);
    give_integers<OneOf16<Fp4Values>>(packed.numbers[k], sink);
  }
  template <class Sink>
  HWY_INLINE void decode_bytes(int64_t k, Sink& sink) const {
    integer_scales(k, sink.scale);
    packed.numbers[k].decode_quads(sink, Bytes());
  }

 private:
  HWY_INLINE void scales_of(int64_t k, float* s) const {
    for (int64_t i = 0; i < scales_per_part; ++i)
      for (int64_t j = 0; j < panel_columns; ++j)
        s[i * panel_columns + j] = Scale::value(scales[scales_per_part * k + i][j]);
  }
  // Gives the scales of part `k`. A scale is infinite if its product with the greatest number overflows.
  HWY_INLINE void integer_scales(int64_t k, float* s) const {
    scales_of(k, s);
    for (int64_t j = 0; j < scales_per_part * panel_columns; ++j) {
      const float most = s[j] * fp4_values[7];
      s[j] = most - most == 0 ? s[j] : most;
    }
  }
};

// A scale and the least number of a block.
template <DType dtype, int bits>
struct LeastPanel {
  using Bytes = ByteAbove<bits, 0>;
  static constexpr bool is_scaled = false, has_rest = true;
  static constexpr int64_t scales_per_part = 1;
  Float16 scales[panel_columns], leasts[panel_columns];
  PanelNumbers<dtype, bits> packed;

  void put(int64_t column, const Block<dtype>& block) {
    scales[column] = block.scale;
    leasts[column] = block.least;
  }
  template <class Sink>
  HWY_INLINE void decode(int64_t k, Sink& sink) const {
    alignas(64) float s[panel_columns], m[panel_columns];
    widen_columns(scales, s);
    widen_columns(leasts, m);
    packed.numbers[k].decode(sink, Offset<bits, 0>(), [&](Lanes number, int64_t element, int64_t j) {
      return hn::MulAdd(number, scale_at<part>(s, element, j), scale_at<part>(m, element, j));  // an exact product
    });
  }
  template <class Sink>
  HWY_INLINE void decode_integers(int64_t k, Sink& sink) const {
    alignas(64) float centre[panel_columns];
    centre_columns(sink.scale, centre, sink.rest);
    give_centred<part>(packed.numbers[k], centre, sink);
  }
  template <class Sink>
  HWY_INLINE void decode_bytes(int64_t k, Sink& sink) const {
    centre_columns(sink.scale, sink.centre, sink.rest);
    packed.numbers[k].decode_quads(sink, Bytes());
  }

 private:
  HWY_INLINE void centre_columns(float* scale, float* centre, float* rest) const {
    widen_columns(scales, scale);
    widen_columns(leasts, centre);
    move_to_centre<bits>(scale, centre, rest);
  }
};

// A block's scale and minimum, times two integers for each `per_scale` elements; `share_bytes`: integers of 4 bits, of
// which two are in one byte.
template <DType dtype, int bits, int per_scale, bool share_bytes>
struct PartLeastPanel {
  using Bytes = ByteAbove<bits, 0>;
  static constexpr bool is_scaled = false, has_rest = true;
  static constexpr int64_t scales_per_part = part / per_scale, count = Block<dtype>::elements / per_scale;
  Float16 scales[panel_columns], leasts[panel_columns];
  uint8_t integers[share_bytes ? count : 2 * count][panel_columns];
  PanelNumbers<dtype, bits> packed;

  void put(int64_t column, const Block<dtype>& block) {
    scales[column] = block.scale;
    leasts[column] = block.least;
    for (int64_t i = 0; i < count; ++i) {
      const int scale = part_scale(block, i), least = part_least(block, i);
      if constexpr (share_bytes) {
        integers[i][column] = static_cast<uint8_t>(scale | least << 4);
      } else {
        integers[2 * i][column] = static_cast<uint8_t>(scale);
        integers[2 * i + 1][column] = static_cast<uint8_t>(least);
      }
    }
  }
  template <class Sink>
  HWY_INLINE void decode(int64_t k, Sink& sink) const {
    alignas(64) float s[scales_per_part * panel_columns], m[scales_per_part * panel_columns];
    scales_of(k, s, m);
    packed.numbers[k].decode(sink, Offset<bits, 0>(), [&](Lanes number, int64_t element, int64_t j) {
      // The product has at most 11 + 6 + 5 bits, and so is exact.
      return hn::MulSub(number, scale_at<per_scale>(s, element, j), scale_at<per_scale>(m, element, j));
    });
  }
  template <class Sink>
  HWY_INLINE void decode_integers(int64_t k, Sink& sink) const {
    alignas(64) float centre[scales_per_part * panel_columns];
    centre_columns(k, sink.scale, centre, sink.rest);
    give_centred<per_scale>(packed.numbers[k], centre, sink);
  }
  template <class Sink>
  HWY_INLINE void decode_bytes(int64_t k, Sink& sink) const {
    centre_columns(k, sink.scale, sink.centre, sink.rest);
    packed.numbers[k].decode_quads(sink, Bytes());
  }

 private:
  HWY_INLINE void centre_columns(int64_t k, float* scale, float* centre, float* rest) const {
    scales_of(k, scale, centre);
    for (int64_t at = 0; at < scales_per_part * panel_columns; at += panel_columns) {
      const Full<float> d;  // g++ would store halves of vectors, and a load of a whole one would wait for them
      for (int64_t j = at; j < at + panel_columns; j += lanes)
        hn::Store(hn::Neg(hn::Load(d, centre + j)), d, centre + j);
      move_to_centre<bits>(scale + at, centre + at, rest + at);
    }
  }
  HWY_INLINE void scales_of(int64_t k, float* s, float* m) const {
    alignas(64) float scale[panel_columns], least[panel_columns];
    widen_columns(scales, scale);
    widen_columns(leasts, least);
    for (int64_t i = 0; i < scales_per_part; ++i) {
      uint8_t own[2][panel_columns];
      const int64_t at = scales_per_part * k + i;
      if constexpr (share_bytes)
        for (int64_t j = 0; j < panel_columns; ++j) {
          own[0][j] = integers[at][j] & 15;
          own[1][j] = integers[at][j] >> 4;
        }
      scale_integers(scale, share_bytes ? own[0] : integers[2 * at], s + i * panel_columns);
      scale_integers(least, share_bytes ? own[1] : integers[2 * at + 1], m + i * panel_columns);
    }
  }
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
