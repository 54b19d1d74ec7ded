// Bytes as factors of products: those of A are made signed and those of B unsigned, as instructions want them, by
// flipping their highest bits. That moves each factor by 128, which the sums of rows and of columns correct.
#pragma once

#include "grouped_panels.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class ResultElement>
struct ByteFactors {
  using Element = uint8_t;
  using Sum = uint32_t;  // modulo 2^32
  using Result = ResultElement;
  using Own = ResultElement;
  static constexpr uint32_t no_note = 0;  // of a sum
  uint8_t flip_a, flip_b;

  explicit ByteFactors(const Call& call)
      : flip_a(call.in[0].dtype == DType::u8 ? 0x80 : 0), flip_b(call.in[1].dtype == DType::i8 ? 0x80 : 0) {}

  static HWY_INLINE GroupWords with_a(GroupWords sums, GroupWords words) {
    const auto bytes = hn::BitCast(Full<int16_t>(), words);  // signed ones
    const auto even = hn::ShiftRight<8>(hn::ShiftLeft<8>(bytes)), odd = hn::ShiftRight<8>(bytes);
    const auto pairs = hn::BitCast(Full<int32_t>(), hn::Add(even, odd));
    const auto sum = hn::Add(hn::ShiftRight<16>(hn::ShiftLeft<16>(pairs)), hn::ShiftRight<16>(pairs));
    return hn::Add(sums, hn::BitCast(Full<uint32_t>(), sum));
  }
  static HWY_INLINE GroupWords with_b(GroupWords sums, GroupWords words) {
    const auto mask = hn::Set(Full<uint32_t>(), 0xff00ff);
    const auto pairs = hn::Add(hn::And(words, mask), hn::And(hn::ShiftRight<8>(words), mask));
    return hn::Add(sums, hn::Add(hn::And(pairs, hn::Set(Full<uint32_t>(), 0xffff)), hn::ShiftRight<16>(pairs)));
  }
  static uint32_t note_of(GroupWords sums) { return hn::GetLane(hn::SumOfLanes(Full<uint32_t>(), sums)); }

  // (x + flip_a) * (y - flip_b), summed over K
  template <class Panels>
  void correct(const Panels& panels, char* a, char* b, int64_t k, int64_t rows, int64_t columns, Sum* sums) const {
    if (flip_a == 0 && flip_b == 0) return;
    const uint32_t *of_a = panels.notes(a), *of_b = panels.notes(b);
    const uint32_t both = static_cast<uint32_t>(k) * flip_a * flip_b;
    for (int64_t i = 0; i < rows; ++i) {
      const uint32_t of_row = flip_b * of_a[i] + both;
      for (int64_t j = 0; j < columns; ++j) sums[i * block + j] += flip_a * of_b[j] - of_row;
    }
  }
  static void put(const Sum* sums, int64_t count, Result* out) {
    for (int64_t j = 0; j < count; ++j) out[j] = static_cast<Result>(sums[j]);
  }
};

inline bool are_bytes(const Call& call) {
  const auto is_byte = [](DType dtype) { return dtype == DType::i8 || dtype == DType::u8; };
  return call.in_count >= 2 && is_byte(call.in[0].dtype) && is_byte(call.in[1].dtype) && call.in[0].rank > 0 &&
         call.in[1].rank > 0;
}
constexpr DTypes byte_dtypes = one_of(DType::i8) | one_of(DType::u8);

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
