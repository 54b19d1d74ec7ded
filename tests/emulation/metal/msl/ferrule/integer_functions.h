// Metal Shading Language Specification, "Integer Functions", and as_type.
#pragma once

// The bits of a value as another type of the same size.
template <class T, class From>
constexpr ferrule_inline T as_type(From from) {
  static_assert(sizeof(T) == sizeof(From), "as_type needs a type of the same size");
  return __builtin_bit_cast(T, from);
}

namespace metal {
using ::as_type;

// ---- overloads, whose arguments are converted as those of other functions
#define FERRULE_EACH_INTEGER(f) f(char) f(uchar) f(short) f(ushort) f(int) f(uint) f(long) f(ulong)
#define FERRULE_OVERLOADS(T)                                                                      \
  constexpr ferrule_inline T min(T x, T y) { return y < x ? y : x; }                              \
  constexpr ferrule_inline T max(T x, T y) { return x < y ? y : x; }                              \
  constexpr ferrule_inline T min3(T x, T y, T z) { return min(x, min(y, z)); }                    \
  constexpr ferrule_inline T max3(T x, T y, T z) { return max(x, max(y, z)); }                    \
  constexpr ferrule_inline T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); } \
  constexpr ferrule_inline T clamp(T x, T least, T most) { return min(max(x, least), most); }     \
  constexpr ferrule_inline T abs(T x) { return x < T(0) ? T(0 - x) : x; }
FERRULE_EACH_INTEGER(FERRULE_OVERLOADS)
#undef FERRULE_OVERLOADS
#undef FERRULE_EACH_INTEGER

template <class T>
using ferrule_element = typename ferrule_shape<T>::element;
template <class T>
using ferrule_if_integer = enable_if_t<__is_integral(ferrule_element<T>) && !__is_same(ferrule_element<T>, bool), int>;
template <class T>
using ferrule_if_integer_vector = enable_if_t<__is_integral(ferrule_element<T>) && (ferrule_shape<T>::count > 1), int>;

#define FERRULE_INTEGER_VECTOR(name)                   \
  template <class V, ferrule_if_integer_vector<V> = 0> \
  constexpr ferrule_inline V name
#define FERRULE_ELEMENTS(count_of, ...)                                   \
  V out{};                                                                \
  for (int i = 0; i < ferrule_shape<V>::count; ++i) out[i] = __VA_ARGS__; \
  return out;
FERRULE_INTEGER_VECTOR(min)
(V x, V y){FERRULE_ELEMENTS(V, min(x[i], y[i]))} FERRULE_INTEGER_VECTOR(max)(V x, V y){
    FERRULE_ELEMENTS(V, max(x[i], y[i]))} FERRULE_INTEGER_VECTOR(abs)(V x){
    FERRULE_ELEMENTS(V, abs(x[i]))} FERRULE_INTEGER_VECTOR(clamp)(V x, V least, V most) {
  FERRULE_ELEMENTS(V, clamp(x[i], least[i], most[i]))
}
#undef FERRULE_INTEGER_VECTOR

// ---- of one integer
template <class T>
struct ferrule_bits {
  enum { count = 8 * sizeof(T) };
  typedef __make_unsigned(T) Unsigned;
};
template <class T>
constexpr ferrule_inline T ferrule_popcount(T x) {
  return static_cast<T>(__builtin_popcountl(static_cast<ulong>(static_cast<typename ferrule_bits<T>::Unsigned>(x))));
}
template <class T>
constexpr ferrule_inline T ferrule_clz(T x) {
  const ulong bits = static_cast<typename ferrule_bits<T>::Unsigned>(x);
  return static_cast<T>(bits == 0 ? int(ferrule_bits<T>::count) : __builtin_clzl(bits) - 64 + ferrule_bits<T>::count);
}
template <class T>
constexpr ferrule_inline T ferrule_ctz(T x) {
  const ulong bits = static_cast<typename ferrule_bits<T>::Unsigned>(x);
  return static_cast<T>(bits == 0 ? int(ferrule_bits<T>::count) : __builtin_ctzl(bits));
}
template <class T>
constexpr ferrule_inline T ferrule_reverse(T x) {
  ulong from = static_cast<typename ferrule_bits<T>::Unsigned>(x), out = 0;
  for (int i = 0; i < ferrule_bits<T>::count; ++i, from >>= 1) out = out << 1 | (from & 1);
  return static_cast<T>(out);
}
template <class T>
constexpr ferrule_inline T ferrule_mulhi(T x, T y) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>((T(-1) < T(0)) ? ulong(((__int128)x * (__int128)y) >> 64)
                                         : ulong(((unsigned __int128)(ulong)x * (ulong)y) >> 64));
  else
    return static_cast<T>((static_cast<long>(x) * static_cast<long>(y)) >> ferrule_bits<T>::count);
}
template <>
constexpr ferrule_inline uint ferrule_mulhi<uint>(uint x, uint y) {
  return static_cast<uint>((static_cast<ulong>(x) * y) >> 32);
}
template <class T>
constexpr ferrule_inline T ferrule_addsat(T x, T y) {
  T sum = 0;
  if (!__builtin_add_overflow(x, y, &sum)) return sum;
  return (T(-1) < T(0)) && x < T(0) ? numeric_limits<T>::min() : numeric_limits<T>::max();
}
template <class T>
constexpr ferrule_inline T ferrule_subsat(T x, T y) {
  T difference = 0;
  if (!__builtin_sub_overflow(x, y, &difference)) return difference;
  return (T(-1) < T(0)) && !(x < T(0)) ? numeric_limits<T>::max() : numeric_limits<T>::min();
}
template <class T>
constexpr ferrule_inline T ferrule_rotate(T x, T by) {
  typedef typename ferrule_bits<T>::Unsigned U;
  const uint bits = ferrule_bits<T>::count, left = static_cast<uint>(by) % bits;
  const U from = static_cast<U>(x);
  return static_cast<T>(left == 0 ? from : static_cast<U>(from << left | static_cast<U>(from >> (bits - left))));
}
template <class T>
constexpr ferrule_inline T ferrule_extract(T x, uint offset, uint count) {
  typedef typename ferrule_bits<T>::Unsigned U;
  const uint bits = ferrule_bits<T>::count;
  if (count == 0) return 0;
  const U moved = static_cast<U>(static_cast<U>(x) << (bits - offset - count));
  return static_cast<T>(static_cast<T>(moved) >> (bits - count));
}
template <class T>
constexpr ferrule_inline T ferrule_insert(T x, T other, uint offset, uint count) {
  typedef typename ferrule_bits<T>::Unsigned U;
  const ulong ones = count >= 64 ? ~0UL : (1UL << count) - 1;
  const U mask = static_cast<U>(ones << offset);
  return static_cast<T>((static_cast<U>(x) & ~mask) | (static_cast<U>(static_cast<U>(other) << offset) & mask));
}
template <class T>
constexpr ferrule_inline T ferrule_absdiff(T x, T y) {
  typedef typename ferrule_bits<T>::Unsigned U;
  return static_cast<T>(x < y ? static_cast<U>(static_cast<U>(y) - static_cast<U>(x))
                              : static_cast<U>(static_cast<U>(x) - static_cast<U>(y)));
}

// ---- of integers and their vectors
#define FERRULE_OF_INTEGERS(name)               \
  template <class T, ferrule_if_integer<T> = 0> \
  constexpr ferrule_inline T name
#define FERRULE_APPLY(scalar, vector)                                  \
  if constexpr (ferrule_shape<T>::count == 1) {                        \
    return scalar;                                                     \
  } else {                                                             \
    T out{};                                                           \
    for (int i = 0; i < ferrule_shape<T>::count; ++i) out[i] = vector; \
    return out;                                                        \
  }
FERRULE_OF_INTEGERS(popcount)
(T x){FERRULE_APPLY(ferrule_popcount(x), ferrule_popcount(x[i]))} FERRULE_OF_INTEGERS(clz)(T x){
    FERRULE_APPLY(ferrule_clz(x), ferrule_clz(x[i]))} FERRULE_OF_INTEGERS(ctz)(T x){
    FERRULE_APPLY(ferrule_ctz(x), ferrule_ctz(x[i]))} FERRULE_OF_INTEGERS(reverse_bits)(T x){
    FERRULE_APPLY(ferrule_reverse(x), ferrule_reverse(x[i]))} FERRULE_OF_INTEGERS(mulhi)(T x, T y){
    FERRULE_APPLY(ferrule_mulhi<T>(x, y), ferrule_mulhi(x[i], y[i]))} FERRULE_OF_INTEGERS(addsat)(T x, T y){
    FERRULE_APPLY(ferrule_addsat(x, y), ferrule_addsat(x[i], y[i]))} FERRULE_OF_INTEGERS(subsat)(T x, T y){
    FERRULE_APPLY(ferrule_subsat(x, y), ferrule_subsat(x[i], y[i]))} FERRULE_OF_INTEGERS(rotate)(T x, T by){
    FERRULE_APPLY(ferrule_rotate(x, by),
                  ferrule_rotate(x[i], by[i]))} FERRULE_OF_INTEGERS(extract_bits)(T x, uint offset, uint count){
    FERRULE_APPLY(ferrule_extract(x, offset, count),
                  ferrule_extract(x[i], offset, count))} FERRULE_OF_INTEGERS(insert_bits)(T x, T other, uint offset,
                                                                                          uint count){
    FERRULE_APPLY(ferrule_insert(x, other, offset, count),
                  ferrule_insert(x[i], other[i], offset, count))} FERRULE_OF_INTEGERS(absdiff)(T x, T y){
    FERRULE_APPLY(ferrule_absdiff(x, y), ferrule_absdiff(x[i], y[i]))} FERRULE_OF_INTEGERS(madhi)(T x, T y, T z) {
  return static_cast<T>(mulhi(x, y) + z);
}
FERRULE_OF_INTEGERS(madsat)(T x, T y, T z) {
  static_assert(sizeof(T) <= 4 && ferrule_shape<T>::count == 1, "the emulator has madsat of numbers of up to 32 bits");
  const __int128 all = static_cast<__int128>(x) * y + z;
  return all > numeric_limits<T>::max()   ? numeric_limits<T>::max()
         : all < numeric_limits<T>::min() ? numeric_limits<T>::min()
                                          : static_cast<T>(all);
}
FERRULE_OF_INTEGERS(hadd)(T x, T y) { return static_cast<T>((x >> 1) + (y >> 1) + (x & y & 1)); }
FERRULE_OF_INTEGERS(rhadd)(T x, T y) { return static_cast<T>((x >> 1) + (y >> 1) + ((x | y) & 1)); }
#undef FERRULE_OF_INTEGERS
#undef FERRULE_APPLY

// Of 24 bits; the upper ones of the arguments are ignored, as a GPU may do.
constexpr ferrule_inline int mul24(int x, int y) { return ((x << 8) >> 8) * ((y << 8) >> 8); }
constexpr ferrule_inline uint mul24(uint x, uint y) { return (x & 0xffffffU) * (y & 0xffffffU); }
constexpr ferrule_inline int mad24(int x, int y, int z) { return mul24(x, y) + z; }
constexpr ferrule_inline uint mad24(uint x, uint y, uint z) { return mul24(x, y) + z; }

}  // namespace metal
