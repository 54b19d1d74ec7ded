// iota: 0, 1, 2, ...; arange: with a start and a step.
#include "simd.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
fe_error* count_up(const Call& call) {
  T* out = reinterpret_cast<T*>(call.out[0].data);
  return parallel(call, call.out[0].shape[0], 32768, [out](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(i);
  });
}

template <class T, class Wide>
fe_error* evenly_spaced(const Call& call) {
  const Wide start = *reinterpret_cast<const Wide*>(call.in[0].data);
  const Wide step = *reinterpret_cast<const Wide*>(call.in[1].data);
  T* const out = reinterpret_cast<T*>(call.out[0].data);
  return parallel(call, call.out[0].shape[0], 32768, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = static_cast<T>(start + static_cast<Wide>(i) * step);
  });
}

bool accepts_arange(const Call& call) {
  const DType dtype = call.out[0].dtype;
  const bool is_whole = dtype >= DType::i8 && dtype <= DType::u64;
  if (!is_whole && dtype != DType::f32 && dtype != DType::f64) return false;
  const DType wide = is_whole ? DType::i64 : DType::f64;
  return call.in[0].dtype == wide && call.in[1].dtype == wide && call.in[0].rank == 0 && call.in[1].rank == 0;
}

bool accepts(const Call& call) {
  const DType dtype = call.out[0].dtype;
  return dtype == DType::f32 || dtype == DType::f64 || (dtype >= DType::i8 && dtype <= DType::u64);
}

}  // namespace

KERNEL(iota, .accepts = accepts) {
  switch (call.out[0].dtype) {
    case DType::f32:
      return count_up<float>(call);
    case DType::f64:
      return count_up<double>(call);
    case DType::i8:
    case DType::u8:
      return count_up<uint8_t>(call);
    case DType::i16:
    case DType::u16:
      return count_up<uint16_t>(call);
    case DType::i32:
    case DType::u32:
      return count_up<uint32_t>(call);
    default:
      return count_up<uint64_t>(call);
  }
}

KERNEL(arange, .accepts = accepts_arange) {
  switch (call.out[0].dtype) {
    case DType::f32:
      return evenly_spaced<float, double>(call);
    case DType::f64:
      return evenly_spaced<double, double>(call);
    case DType::i8:
    case DType::u8:
      return evenly_spaced<uint8_t, uint64_t>(call);
    case DType::i16:
    case DType::u16:
      return evenly_spaced<uint16_t, uint64_t>(call);
    case DType::i32:
    case DType::u32:
      return evenly_spaced<uint32_t, uint64_t>(call);
    default:
      return evenly_spaced<uint64_t, uint64_t>(call);
  }
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
