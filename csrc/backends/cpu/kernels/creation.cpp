// iota: 0, 1, 2, ...
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

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
