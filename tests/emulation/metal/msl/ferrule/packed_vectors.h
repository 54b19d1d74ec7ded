// packed_float3 and the like, whose alignment is that of an element. Metal Shading Language Specification, "Packed
// Vector Types".
#pragma once

// Defines a method of each address space. Without the strict checks one of the generic space serves all.
#ifdef FERRULE_STRICT
#define FERRULE_IN_EACH_SPACE(method, ...)                                                                        \
  method(ferrule_method_thread, thread, __VA_ARGS__) method(ferrule_method_threadgroup, threadgroup, __VA_ARGS__) \
      method(ferrule_method_device, device, __VA_ARGS__) method(ferrule_method_constant, constant, __VA_ARGS__)
#else
#define FERRULE_IN_EACH_SPACE(method, ...) method(, , __VA_ARGS__)
#endif

#define FERRULE_CONVERSION(qualifier, space, Vector, ...) \
  constexpr operator Vector() const qualifier { return Vector{__VA_ARGS__}; }
#define FERRULE_PACKED_TYPES(T)                                                        \
  struct packed_##T##2 {                                                               \
    T x, y;                                                                            \
    packed_##T##2() = default;                                                         \
    constexpr packed_##T##2(T##2 from) : x(from.x), y(from.y) {}                       \
    FERRULE_IN_EACH_SPACE(FERRULE_CONVERSION, T##2, x, y)                              \
  };                                                                                   \
  struct packed_##T##3 {                                                               \
    T x, y, z;                                                                         \
    packed_##T##3() = default;                                                         \
    constexpr packed_##T##3(T##3 from) : x(from.x), y(from.y), z(from.z) {}            \
    FERRULE_IN_EACH_SPACE(FERRULE_CONVERSION, T##3, x, y, z)                           \
  };                                                                                   \
  struct packed_##T##4 {                                                               \
    T x, y, z, w;                                                                      \
    packed_##T##4() = default;                                                         \
    constexpr packed_##T##4(T##4 from) : x(from.x), y(from.y), z(from.z), w(from.w) {} \
    FERRULE_IN_EACH_SPACE(FERRULE_CONVERSION, T##4, x, y, z, w)                        \
  };                                                                                   \
  namespace metal {                                                                    \
  using ::packed_##T##2;                                                               \
  using ::packed_##T##3;                                                               \
  using ::packed_##T##4;                                                               \
  template <>                                                                          \
  struct ferrule_shape<packed_##T##2> : ferrule_packed_shape<T##2> {};                 \
  template <>                                                                          \
  struct ferrule_shape<packed_##T##3> : ferrule_packed_shape<T##3> {};                 \
  template <>                                                                          \
  struct ferrule_shape<packed_##T##4> : ferrule_packed_shape<T##4> {};                 \
  }
FERRULE_PACKED_TYPES(char)
FERRULE_PACKED_TYPES(uchar)
FERRULE_PACKED_TYPES(short)
FERRULE_PACKED_TYPES(ushort)
FERRULE_PACKED_TYPES(int)
FERRULE_PACKED_TYPES(uint)
FERRULE_PACKED_TYPES(long)
FERRULE_PACKED_TYPES(half)
FERRULE_PACKED_TYPES(float)
FERRULE_PACKED_TYPES(bfloat)
#undef FERRULE_PACKED_TYPES
#undef FERRULE_CONVERSION
