// Keys: unsigned integers as wide as the elements, with the order of the elements. Zeros of both signs have the same
// key, and all NaNs have the greatest one, so an element of a floating-point dtype is not always known from its key.
#pragma once

#include "element_types.h"
#include "float8.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class Key>
constexpr Key high_bit = Key{1} << (8 * sizeof(Key) - 1);

// All bits set if the condition holds. Arithmetic, so that compilers make vectors of loops over keys.
template <class Bits>
HWY_INLINE Bits mask_of(bool condition) {
  return static_cast<Bits>(Bits{0} - static_cast<Bits>(condition));
}
template <class Bits>
HWY_INLINE bool is_nan_bits(Bits bits, Bits infinity) {
  return static_cast<Bits>(bits & ~high_bit<Bits>) > infinity;
}
template <class Bits>
HWY_INLINE Bits key_of_float(Bits bits, Bits infinity) {
  const Bits negative = mask_of<Bits>((bits & high_bit<Bits>) != 0);
  const Bits ordered = static_cast<Bits>(bits ^ (negative | high_bit<Bits>));
  const Bits number = static_cast<Bits>(ordered + static_cast<Bits>(bits == high_bit<Bits>));  // -0 as 0
  return static_cast<Bits>(number | mask_of<Bits>(is_nan_bits(bits, infinity)));
}
template <class Bits>
HWY_INLINE Bits bits_of_key(Bits key) {
  return static_cast<Bits>(key ^ (mask_of<Bits>((key & high_bit<Bits>) == 0) | high_bit<Bits>));
}

template <size_t bytes>
struct UnsignedOf;
template <>
struct UnsignedOf<1> {
  using Type = uint8_t;
};
template <>
struct UnsignedOf<2> {
  using Type = uint16_t;
};
template <>
struct UnsignedOf<4> {
  using Type = uint32_t;
};
template <>
struct UnsignedOf<8> {
  using Type = uint64_t;
};

// The key type, the key, and the element with a key: of the numbers that have the same key, the canonical one.
template <class T>
struct Keys {
  static constexpr bool exact = true;  // whether every element is known from its key
  using Key = typename UnsignedOf<sizeof(T)>::Type;
  static constexpr Key flip = T(-1) < T(0) ? high_bit<Key> : Key{0};
  static HWY_INLINE Key of(T x) { return static_cast<Key>(static_cast<Key>(x) ^ flip); }
  static HWY_INLINE T element(Key key) { return static_cast<T>(static_cast<Key>(key ^ flip)); }
  static HWY_INLINE bool is_nan(Key) { return false; }
  static HWY_INLINE bool is_lost(T) { return false; }
};

template <class T, class Bits, Bits infinity, Bits nan>
struct FloatKeys {
  static constexpr bool exact = false;
  using Key = Bits;
  static constexpr Key zero = high_bit<Key>;
  static HWY_INLINE Key of(T x) { return key_of_float(__builtin_bit_cast(Bits, x), infinity); }
  static HWY_INLINE T element(Key key) {
    const Bits bits = is_nan(key) ? nan : bits_of_key(key);
    return __builtin_bit_cast(T, bits);
  }
  static HWY_INLINE bool is_nan(Key key) { return key == static_cast<Key>(~Key{0}); }
  // Whether the element is not known from its key: -0, or another NaN than the usual one.
  static HWY_INLINE bool is_lost(T x) {
    const Bits bits = __builtin_bit_cast(Bits, x);
    return (bits == high_bit<Bits>) | (is_nan_bits(bits, infinity) & (bits != nan));
  }
};
template <>
struct Keys<float> : FloatKeys<float, uint32_t, 0x7f800000, 0x7fc00000> {};
template <>
struct Keys<double> : FloatKeys<double, uint64_t, 0x7ff0000000000000, 0x7ff8000000000000> {};
template <>
struct Keys<Float16> : FloatKeys<Float16, uint16_t, 0x7c00, 0x7e00> {};
template <>
struct Keys<BFloat16> : FloatKeys<BFloat16, uint16_t, 0x7f80, 0x7fc0> {};
template <>  // with the greatest number, as there is no infinity
struct Keys<Float8E4M3> : FloatKeys<Float8E4M3, uint8_t, 0x7e, 0x7f> {};
template <>
struct Keys<Float8E5M2> : FloatKeys<Float8E5M2, uint8_t, 0x7c, 0x7e> {};

template <class T>
using KeyOf = typename Keys<T>::Key;

// Signed integers are sorted as unsigned ones, whose keys differ from theirs in the highest bit: one function for both.
template <class T>
struct SortedAs {
  using Type = T;
  static constexpr KeyOf<T> flip = 0;
};
template <class T>
struct SortedAsUnsigned {
  using Type = typename UnsignedOf<sizeof(T)>::Type;
  static constexpr Type flip = high_bit<Type>;
};
template <>
struct SortedAs<int8_t> : SortedAsUnsigned<int8_t> {};
template <>
struct SortedAs<int16_t> : SortedAsUnsigned<int16_t> {};
template <>
struct SortedAs<int32_t> : SortedAsUnsigned<int32_t> {};
template <>
struct SortedAs<int64_t> : SortedAsUnsigned<int64_t> {};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
