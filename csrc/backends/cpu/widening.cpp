#include "widening.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <numeric>

namespace ferrule::cpu {

Widening widening(const Operand& half) {
  Widening w{half, half};
  std::array<int32_t, FE_MAX_RANK> order{};
  const auto rank = static_cast<size_t>(half.rank);
  std::iota(order.begin(), order.begin() + rank, 0);
  std::stable_sort(order.begin(), order.begin() + rank,
                   [&](int32_t a, int32_t b) { return std::abs(half.strides[a]) > std::abs(half.strides[b]); });
  int64_t stride = 1;
  for (int32_t i = half.rank; i-- > 0;) {
    const int32_t axis = order[static_cast<size_t>(i)];
    const bool repeats = half.strides[axis] == 0 && half.shape[axis] > 1;
    w.from.shape[i] = repeats ? 1 : half.shape[axis];
    w.from.strides[i] = half.strides[axis];
    w.wide.strides[axis] = repeats ? 0 : stride;
    stride *= w.from.shape[i];
  }
  w.wide.dtype = DType::f32;
  w.wide.item_size = 4;
  return w;
}

Conversion conversion(const Operand& from, Address from_address, DType to, Address to_address) {
  Conversion c;
  const uint32_t in = c.body.input(from.dtype);
  c.body.output(c.body.apply("astype", std::span(&in, 1), to, nullptr));
  c.body.finish({from.shape, static_cast<size_t>(from.rank)}, std::span(&from, 1), false);
  c.from = from_address;
  c.to = to_address;
  return c;
}

}  // namespace ferrule::cpu
