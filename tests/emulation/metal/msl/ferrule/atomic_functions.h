// Metal Shading Language Specification, "Atomic Functions": relaxed, on device and threadgroup memory. Each may be the
// question of a loop that waits for another thread.
#pragma once

namespace metal {

enum memory_order { memory_order_relaxed = 0 };

template <class T>
struct ferrule_is_atomic {
  enum {
    value = __is_same(T, int) || __is_same(T, uint) || __is_same(T, float) || __is_same(T, bool) || __is_same(T, ulong)
  };
};
template <class T>
struct atomic {
  static_assert(ferrule_is_atomic<T>::value, "MSL has atomic int, uint, float, bool and ulong");
  T ferrule_value;
};
template <class T>
using _atomic = atomic<T>;
typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<float> atomic_float;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;

// The type of an argument that does not choose the function.
template <class T>
struct ferrule_given {
  typedef T type;
};
template <class T>
struct ferrule_bits_of {
  typedef T type;
};
template <>
struct ferrule_bits_of<float> {
  typedef uint type;
};

#define FERRULE_ATOMIC_VALUE typename ferrule_given<T>::type

#ifdef FERRULE_STRICT
#define FERRULE_PLACE(space) (volatile space Bits*)(&at->ferrule_value)
#else
#define FERRULE_PLACE(space) (volatile __generic Bits*)(&at->ferrule_value)
#endif
#define FERRULE_ATOMICS(space)                                                                                         \
  template <class T>                                                                                                   \
  ferrule_inline T atomic_load_explicit(const volatile space atomic<T>* at, memory_order, ferrule_place) {             \
    ferrule_host_poll("atomic_load_explicit", ferrule_at);                                                             \
    typedef typename ferrule_bits_of<T>::type Bits;                                                                    \
    return __builtin_bit_cast(T, __atomic_load_n((const volatile space Bits*)(&at->ferrule_value), __ATOMIC_RELAXED)); \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  ferrule_inline void atomic_store_explicit(volatile space atomic<T>* at, FERRULE_ATOMIC_VALUE value, memory_order,    \
                                            ferrule_place) {                                                           \
    ferrule_host_poll("atomic_store_explicit", ferrule_at);                                                            \
    typedef typename ferrule_bits_of<T>::type Bits;                                                                    \
    __atomic_store_n((volatile space Bits*)(&at->ferrule_value), __builtin_bit_cast(Bits, value), __ATOMIC_RELAXED);   \
  }                                                                                                                    \
  template <class T>                                                                                                   \
  ferrule_inline bool atomic_compare_exchange_weak_explicit(volatile space atomic<T>* at, thread T* expected,          \
                                                            FERRULE_ATOMIC_VALUE value, memory_order, memory_order,    \
                                                            ferrule_place) {                                           \
    ferrule_host_poll("atomic_compare_exchange_weak_explicit", ferrule_at);                                            \
    typedef typename ferrule_bits_of<T>::type Bits;                                                                    \
    Bits found = __builtin_bit_cast(Bits, *expected);                                                                  \
    const bool is_changed = ferrule_compare_exchange(FERRULE_PLACE(space), found, __builtin_bit_cast(Bits, value));    \
    *expected = __builtin_bit_cast(T, found);                                                                          \
    return is_changed;                                                                                                 \
  }                                                                                                                    \
  FERRULE_ATOMIC_CHANGE(space, add, true, old + value)                                                                 \
  FERRULE_ATOMIC_CHANGE(space, max, (__is_integral(T)), old < value ? value : old)

#define FERRULE_ATOMIC_CHANGE(space, name, is_allowed, ...)                                                     \
  template <class T>                                                                                            \
  ferrule_inline T atomic_fetch_##name##_explicit(volatile space atomic<T>* at, FERRULE_ATOMIC_VALUE value,     \
                                                  memory_order, ferrule_place) {                                \
    static_assert(is_allowed && !__is_same(T, bool), "MSL does not have this function of this type");           \
    ferrule_host_poll("atomic_fetch_" #name "_explicit", ferrule_at);                                           \
    typedef typename ferrule_bits_of<T>::type Bits;                                                             \
    Bits found = __atomic_load_n((volatile space Bits*)(&at->ferrule_value), __ATOMIC_RELAXED);                 \
    for (;;) {                                                                                                  \
      const T old = __builtin_bit_cast(T, found);                                                               \
      const T changed = static_cast<T>(__VA_ARGS__);                                                            \
      if (ferrule_compare_exchange(FERRULE_PLACE(space), found, __builtin_bit_cast(Bits, changed))) return old; \
    }                                                                                                           \
  }

// True if `at` was what was expected; else `found` becomes what it is.
#ifdef FERRULE_STRICT
template <class Pointer, class Bits>
bool ferrule_compare_exchange(Pointer at, thread Bits& found, Bits value);
#else
template <class Bits>
ferrule_inline bool ferrule_compare_exchange(volatile __generic Bits* at, thread Bits& found, Bits value) {
  Bits expected = found;
  const bool is_changed = __atomic_compare_exchange(at, &expected, &value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  found = expected;
  return is_changed;
}
#endif
FERRULE_ATOMICS(device)
FERRULE_ATOMICS(threadgroup)
#undef FERRULE_ATOMIC_CHANGE
#undef FERRULE_ATOMICS
#undef FERRULE_PLACE
#undef FERRULE_ATOMIC_VALUE

}  // namespace metal
