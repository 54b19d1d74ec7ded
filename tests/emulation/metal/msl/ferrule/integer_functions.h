// Metal Shading Language Specification, "Integer Functions", as far as kernels use them, and as_type.
#pragma once

// The bits of a value as another type of the same size.
template <class T, class From>
constexpr ferrule_inline T as_type(From from) {
  static_assert(sizeof(T) == sizeof(From), "as_type needs a type of the same size");
  return __builtin_bit_cast(T, from);
}

namespace metal {
using ::as_type;

// Overloads, whose arguments are converted as those of other functions.
#define FERRULE_OVERLOADS(T)                                         \
  constexpr ferrule_inline T min(T x, T y) { return y < x ? y : x; } \
  constexpr ferrule_inline T max(T x, T y) { return x < y ? y : x; } \
  constexpr ferrule_inline T clamp(T x, T least, T most) { return min(max(x, least), most); }
FERRULE_OVERLOADS(char)
FERRULE_OVERLOADS(uchar)
FERRULE_OVERLOADS(short)
FERRULE_OVERLOADS(ushort)
FERRULE_OVERLOADS(int)
FERRULE_OVERLOADS(uint)
FERRULE_OVERLOADS(long)
FERRULE_OVERLOADS(ulong)
#undef FERRULE_OVERLOADS

constexpr ferrule_inline uint clz(uint x) { return x == 0 ? 32 : static_cast<uint>(__builtin_clz(x)); }
constexpr ferrule_inline ulong clz(ulong x) { return x == 0 ? 64 : static_cast<ulong>(__builtin_clzl(x)); }

}  // namespace metal
