// Unsigned keys with the order of the elements. NaN has the greatest key, and both zeros have the same key.
#pragma once

#include <type_traits>

#include "kernels/device.h"

namespace ferrule::cuda {

// `Item` is an integer type, Half, BFloat16, float or double.
template <class Item>
struct SortKey {
  using Bits = std::conditional_t<
      sizeof(Item) == 1, uint8_t,
      std::conditional_t<sizeof(Item) == 2, uint16_t, std::conditional_t<sizeof(Item) == 4, uint32_t, uint64_t>>>;
  using Key = std::conditional_t<sizeof(Item) == 8, uint64_t, uint32_t>;
  static constexpr int bits = 8 * sizeof(Item);  // the others are zero
  static constexpr Key sign = Key{1} << (bits - 1), all = static_cast<Key>(~Key{0}) >> (8 * sizeof(Key) - bits);

  // The bits of infinity; 0 for integers.
  static constexpr Key infinity = static_cast<Key>(std::is_same_v<Item, Half>       ? 0x7c00
                                                   : std::is_same_v<Item, BFloat16> ? 0x7f80
                                                   : std::is_same_v<Item, float>    ? 0x7f800000
                                                   : std::is_same_v<Item, double>   ? 0x7ff0000000000000
                                                                                    : 0);

  static __device__ __forceinline__ Key of(Bits item) {
    const Key given = item;
    if constexpr (infinity != 0) {
      const Key magnitude = given & ~sign;
      if (magnitude > infinity) return all;
      if (magnitude == 0) return sign;
      return (given & sign) != 0 ? ~given & all : given | sign;
    } else {
      return std::is_signed_v<Item> ? given ^ sign : given;
    }
  }
};

}  // namespace ferrule::cuda
