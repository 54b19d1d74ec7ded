// Metal Shading Language Specification, "Relational Functions". Vectors of truth values are vectors of integers here:
// not zero is true.
#pragma once

namespace metal {

#define FERRULE_TEST(name, ...)                                                     \
  ferrule_inline bool name(float x) { return __VA_ARGS__; }                         \
  ferrule_inline bool name(half given) {                                            \
    const float x = given;                                                          \
    return __VA_ARGS__;                                                             \
  }                                                                                 \
  template <class V, ferrule_if_float_vector<V> = 0>                                \
  ferrule_inline auto name(V x) {                                                   \
    decltype(x == x) out{};                                                         \
    for (int i = 0; i < ferrule_shape<V>::count; ++i) out[i] = name(x[i]) ? -1 : 0; \
    return out;                                                                     \
  }
FERRULE_TEST(isnan, __builtin_isnan(x))
FERRULE_TEST(isinf, __builtin_isinf(x))
FERRULE_TEST(isfinite, __builtin_isfinite(x))
FERRULE_TEST(signbit, __builtin_signbit(x))
#undef FERRULE_TEST
ferrule_inline bool isnormal(float x) { return __builtin_isnormal(x); }
ferrule_inline bool isnormal(half x) { return __builtin_isfinite(float(x)) && __builtin_fabsf(x) >= 0x1p-14f; }
ferrule_inline bool isordered(float x, float y) { return x == x && y == y; }
ferrule_inline bool isunordered(float x, float y) { return x != x || y != y; }
// MSL has none of bfloat.
bool isnan(bfloat) = delete;
bool isinf(bfloat) = delete;
bool isfinite(bfloat) = delete;
bool signbit(bfloat) = delete;

ferrule_inline bool any(bool x) { return x; }
ferrule_inline bool all(bool x) { return x; }
template <class V, ferrule_if_integer_vector<V> = 0>
ferrule_inline bool any(V x) {
  bool found = false;
  for (int i = 0; i < ferrule_shape<V>::count; ++i) found = found || x[i] != 0;
  return found;
}
template <class V, ferrule_if_integer_vector<V> = 0>
ferrule_inline bool all(V x) {
  bool found = true;
  for (int i = 0; i < ferrule_shape<V>::count; ++i) found = found && x[i] != 0;
  return found;
}

// `y` where `condition` is true.
template <class T>
ferrule_inline T select(T x, T y, bool condition) {
  return condition ? y : x;
}
template <class T, class Condition, ferrule_if_integer_vector<Condition> = 0>
ferrule_inline T select(T x, T y, Condition condition) {
  static_assert(int(ferrule_shape<T>::count) == int(ferrule_shape<Condition>::count), "vectors of different sizes");
  T out{};
  for (int i = 0; i < ferrule_shape<T>::count; ++i) out[i] = condition[i] != 0 ? y[i] : x[i];
  return out;
}

}  // namespace metal
