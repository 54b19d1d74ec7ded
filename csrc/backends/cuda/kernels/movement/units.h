// Units of 1 to 16 bytes, the words in which kernels move bytes: as wide as all addresses allow.
#pragma once

#include "kernels/device.h"

namespace ferrule::cuda {

struct alignas(16) Unit16 {
  uint32_t words[4];
};

// The greatest power of two up to 16 that divides each of the numbers whose bits are given.
__device__ __forceinline__ uint32_t unit_bytes(uint64_t bits) {
  const auto low = static_cast<uint32_t>(bits & 15u);
  return low == 0 ? 16 : low & (~low + 1);
}

// Calls `work` with a value of the given size: an unsigned integer, or `Wide` for 16 bytes.
template <class Wide = Unit16, class Work>
__device__ __forceinline__ void with_unit(uint32_t bytes, const Work& work) {
  switch (bytes) {
    case 1:
      return work(uint8_t{});
    case 2:
      return work(uint16_t{});
    case 4:
      return work(uint32_t{});
    case 8:
      return work(uint64_t{});
    default:
      return work(Wide{});
  }
}

template <class Unit>
__device__ __forceinline__ Unit load_unit(Address from, int64_t offset) {
  return *pointer<const Unit>(from + static_cast<uint64_t>(offset));
}
template <class Unit>
__device__ __forceinline__ void store_unit(Address to, int64_t offset, Unit unit) {
  *pointer<Unit>(to + static_cast<uint64_t>(offset)) = unit;
}

// Offset of element number `index`, in the unit of the strides.
template <class Number>
__device__ __forceinline__ int64_t offset_in(const Layout& layout, Number index) {
  int64_t offset = 0;
#pragma unroll 1
  for (uint32_t axis = 0; axis < layout.rank; ++axis) {
    const auto size = static_cast<Number>(layout.shape[axis]);
    const Number rest = axis + 1 == layout.rank ? 0 : index / size;
    offset += static_cast<int64_t>(index - rest * size) * layout.strides[axis];
    index = rest;
  }
  return offset;
}

// Calls `load(number, slot)` and then `store(number, slot)` for the numbers below `count`, spread over the grid. A
// thread's loads of four slots are in flight together. Numbers have 32 bits if `count` does, because they are divided;
// those of 64 bits need so many registers that there is one slot.
inline constexpr int unit_slots = 4;
template <class Number, class Load, class Store>
__device__ __forceinline__ void for_each_slot(uint64_t count, const Load& load, const Store& store) {
  constexpr int slots = sizeof(Number) == 8 ? 1 : unit_slots;
  const uint64_t tile = uint64_t{blockDim.x} * slots;
  for (uint64_t first = blockIdx.x * tile + threadIdx.x; first < count; first += gridDim.x * tile) {
#pragma unroll
    for (int slot = 0; slot < slots; ++slot)
      if (const uint64_t number = first + static_cast<uint64_t>(slot) * blockDim.x; number < count)
        load(static_cast<Number>(number), slot);
#pragma unroll
    for (int slot = 0; slot < slots; ++slot)
      if (const uint64_t number = first + static_cast<uint64_t>(slot) * blockDim.x; number < count)
        store(static_cast<Number>(number), slot);
  }
}

// Calls `work` with a Number of 32 bits if `count` has no more, otherwise of 64.
template <class Work>
__device__ __forceinline__ void with_number(uint64_t count, const Work& work) {
  if (count <= UINT32_MAX)
    work(uint32_t{});
  else
    work(uint64_t{});
}

}  // namespace ferrule::cuda
