// Counts of integers, and sums of weights by integer. Weights are added in their order by one thread: the sums depend
// on nothing else.
#include "element_types.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The type in which the weights of a key are added: integers wrap.
template <class T>
struct Added {
  using Type = uint64_t;
};
template <>
struct Added<float> {
  using Type = double;
};
template <>
struct Added<double> {
  using Type = double;
};
template <>
struct Added<Float16> {
  using Type = double;
};
template <>
struct Added<BFloat16> {
  using Type = double;
};

template <class Key, class Weight>
void add_weights(const Call& call) {
  using Sum = typename Added<Weight>::Type;
  const Operand &x = call.in[0], &weights = call.in[1];
  const auto* const keys = reinterpret_cast<const Key*>(x.data);
  const auto* const values = reinterpret_cast<const Weight*>(weights.data);
  auto* const sums = reinterpret_cast<Sum*>(call.scratch);
  const int64_t size = call.out[0].shape[0], count = x.shape[0];
  for (int64_t i = 0; i < size; ++i) sums[i] = 0;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t key = keys[i * x.strides[0]];  // read once: the owner of borrowed memory may write to it meanwhile
    if (static_cast<uint64_t>(key) >= static_cast<uint64_t>(size)) continue;
    const Weight weight = values[i * weights.strides[0]];
    if constexpr (is_half<Weight>)
      sums[key] += static_cast<double>(widen(weight));
    else
      sums[key] += static_cast<Sum>(weight);
  }
  auto* const out = reinterpret_cast<Weight*>(call.out[0].data);
  for (int64_t i = 0; i < size; ++i) {
    if constexpr (is_half<Weight>)
      out[i] = stored<Weight>(round_to_odd(sums[i]));
    else
      out[i] = static_cast<Weight>(sums[i]);
  }
}

uint64_t scratch_size(const Call& call) { return static_cast<uint64_t>(call.out[0].shape[0]) * sizeof(uint64_t); }

bool accepts(const Call& call) {
  const DType key = call.in[0].dtype, weight = call.in[1].dtype;
  if ((key != DType::i32 && key != DType::i64) || call.out[0].dtype != weight || weight == DType::boolean) return false;
  bool is_known = false;
  with_type(weight, [&](auto) { is_known = true; });
  return is_known;
}

}  // namespace

KERNEL(bincount, .accepts = accepts, .scratch_size = scratch_size) {
  with_type(call.in[1].dtype, [&](auto zero) {
    if (call.in[0].dtype == DType::i32)
      add_weights<int32_t, decltype(zero)>(call);
    else
      add_weights<int64_t, decltype(zero)>(call);
  });
  return nullptr;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
