// argmax and argmin: the index of the first extreme; the first NaN, if there is one.
#include "op_attributes.h"
#include "reduce.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

static_assert(sizeof(fe_argmax_attributes) == sizeof(fe_argmin_attributes));

// True if b replaces a that came before it. NaN is more extreme than anything but an earlier NaN.
template <class Op, class T>
HWY_INLINE bool replaces(T a, T b) {
  if (a != a) return false;
  if (b != b) return true;
  return __is_same(Op, Max) ? b > a : b < a;
}

// Blocks: the extreme of a block is found with vectors, its place only if it replaces the best so far.
template <class Op, class T>
int64_t extreme_index(const Nest& reduced, const T* x, int64_t length) {
  using Value = Computed<T>;
  alignas(64) T fetched[block_elements];
  alignas(64) Value wide[is_half<T> ? block_elements : 1];
  Value best{};
  int64_t index = -1;
  for (int64_t first = 0; first < length; first += block_elements) {
    const int64_t n = smaller(block_elements, length - first);
    const T* items = x + first;
    if (!reduced.contiguous()) {
      fetch(reduced, x, first, n, fetched);
      items = fetched;
    }
    const Value* block = computed(items, n, wide);
    const Value extreme = reduce_block<Op, Value>(block, n);
    if (index >= 0 && !replaces<Op>(best, extreme)) continue;
    int64_t i = 0;
    if (extreme == extreme)
      while (block[i] != extreme) ++i;
    else
      while (block[i] == block[i]) ++i;
    best = extreme;
    index = first + i;
  }
  return index;
}

template <class Op, class T>
fe_error* find(const Call& call) {
  const Split dims = split(call.in[0], uint32_t{1} << attributes_of<fe_argmax_attributes>(call).axis);
  const int64_t outputs = dims.kept.count(), length = dims.reduced.count();
  const T* x = reinterpret_cast<const T*>(call.in[0].data);
  int64_t* out = reinterpret_cast<int64_t*>(call.out[0].data);
  if (length == 0 && outputs > 0)
    return call.host->error_create(FE_INVALID_ARGUMENT, "argmax, argmin: no elements to choose from");
  return parallel(call, outputs, larger(1, 16384 / larger(1, length)), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = extreme_index<Op, T>(dims.reduced, x + dims.kept.offset(i), length);
  });
}

template <class Op>
fe_error* find_in(const Call& call) {
  switch (call.in[0].dtype) {
    case DType::f32:
      return find<Op, float>(call);
    case DType::f64:
      return find<Op, double>(call);
    case DType::f16:
      return find<Op, Float16>(call);
    case DType::bf16:
      return find<Op, BFloat16>(call);
    case DType::boolean:
    case DType::u8:
      return find<Op, uint8_t>(call);
    case DType::i8:
      return find<Op, int8_t>(call);
    case DType::i16:
      return find<Op, int16_t>(call);
    case DType::i32:
      return find<Op, int32_t>(call);
    case DType::i64:
      return find<Op, int64_t>(call);
    case DType::u16:
      return find<Op, uint16_t>(call);
    case DType::u32:
      return find<Op, uint32_t>(call);
    default:
      return find<Op, uint64_t>(call);
  }
}
bool accepts(const Call& call) {
  const DType in = call.in[0].dtype;
  return call.out[0].dtype == DType::i64 && in != DType::c64 && in != DType::c128 && in != DType::f8e4m3 &&
         in != DType::f8e5m2;
}

}  // namespace

KERNEL(argmax, .accepts = accepts) { return find_in<Max>(call); }
KERNEL(argmin, .accepts = accepts) { return find_in<Min>(call); }

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
