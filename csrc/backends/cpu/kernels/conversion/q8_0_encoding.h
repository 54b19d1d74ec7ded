// Blocks of q8_0 of float32 numbers; see block_encoding.h.
#pragma once

#include "../block_layouts.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr Float16 nan_scale = {0x7e00};

constexpr float inverse_of(float scale) { return scale == 0 ? 0.0f : 1.0f / scale; }

HWY_INLINE void quantize(const float* x, Block<DType::q8_0>& block) {
  const Full<float> d;
  constexpr int64_t lanes = lanes_of<float>;
  auto largest = hn::Zero(d);
  auto are_numbers = hn::Eq(largest, largest);
  for (int64_t i = 0; i < 32; i += lanes) {
    const auto v = hn::LoadU(d, x + i);
    are_numbers = hn::And(are_numbers, hn::Eq(v, v));
    largest = hn::Max(largest, hn::Abs(v));
  }
  const bool has_nan = !hn::AllTrue(d, are_numbers);
  const float scale = hn::GetLane(hn::MaxOfLanes(d, largest)) / 127.0f;
  block.scale = has_nan ? nan_scale : narrow_f16(scale);
  const auto inverse = hn::Set(d, has_nan ? 0.0f : inverse_of(scale)), most = hn::Set(d, 127.0f);
  // Half-way cases are rounded away from zero; what leaves [-127, 127] becomes 0.
  for (int64_t i = 0; i < 32; i += lanes) {
    const auto v = hn::Mul(hn::LoadU(d, x + i), inverse), magnitude = hn::Abs(v), whole = hn::Floor(magnitude);
    const auto half = hn::Floor(hn::Mul(hn::Set(d, 2.0f), hn::Sub(magnitude, whole)));
    const auto rounded = hn::Add(whole, half);
    const auto within = hn::CopySign(hn::IfThenElseZero(hn::Le(rounded, most), rounded), v);
    const auto number = hn::ConvertTo(Full<int32_t>(), within);
    hn::StoreU(hn::DemoteTo(hn::Rebind<int8_t, Full<int32_t>>(), number), hn::Rebind<int8_t, Full<int32_t>>(),
               block.numbers + i);
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
