// Metal Shading Language Specification, "Type Traits Functions".
#pragma once

namespace metal {

template <class T, T V>
struct integral_constant {
  static constexpr constant T value = V;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const { return V; }
};
template <bool V>
using bool_constant = integral_constant<bool, V>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <class... Conditions>
struct _disjunction : bool_constant<(Conditions::value || ...)> {};
template <class... Conditions>
struct _conjunction : bool_constant<(Conditions::value && ...)> {};

template <bool Condition, class T = void>
struct enable_if {};
template <class T>
struct enable_if<true, T> {
  typedef T type;
};
template <bool Condition, class T = void>
using enable_if_t = typename enable_if<Condition, T>::type;

template <bool Condition, class T, class Other>
struct conditional {
  typedef T type;
};
template <class T, class Other>
struct conditional<false, T, Other> {
  typedef Other type;
};
template <bool Condition, class T, class Other>
using conditional_t = typename conditional<Condition, T, Other>::type;

#define FERRULE_TRANSFORMATION(name, builtin) \
  template <class T>                          \
  struct name {                               \
    typedef builtin(T) type;                  \
  };                                          \
  template <class T>                          \
  using name##_t = builtin(T);
FERRULE_TRANSFORMATION(remove_reference, __remove_reference_t)
FERRULE_TRANSFORMATION(remove_const, __remove_const)
FERRULE_TRANSFORMATION(remove_volatile, __remove_volatile)
FERRULE_TRANSFORMATION(remove_cv, __remove_cv)
FERRULE_TRANSFORMATION(remove_pointer, __remove_pointer)
FERRULE_TRANSFORMATION(remove_extent, __remove_extent)
FERRULE_TRANSFORMATION(make_signed, __make_signed)
FERRULE_TRANSFORMATION(make_unsigned, __make_unsigned)
#undef FERRULE_TRANSFORMATION
template <class T>
using decay_t = __decay(T);

template <class T>
struct remove_addrspace {
  typedef T type;
};
#define FERRULE_WITHOUT_SPACE(space) \
  template <class T>                 \
  struct remove_addrspace<space T> { \
    typedef T type;                  \
  };
FERRULE_WITHOUT_SPACE(thread)
FERRULE_WITHOUT_SPACE(threadgroup)
FERRULE_WITHOUT_SPACE(device)
#ifdef FERRULE_STRICT
FERRULE_WITHOUT_SPACE(constant)
#else
FERRULE_WITHOUT_SPACE(__global)
FERRULE_WITHOUT_SPACE(__generic)
#endif
#undef FERRULE_WITHOUT_SPACE
template <class T>
using remove_addrspace_t = typename remove_addrspace<T>::type;

#define FERRULE_PROPERTY(name, ...)              \
  template <class T>                             \
  struct name : bool_constant<(__VA_ARGS__)> {}; \
  template <class T>                             \
  constexpr constant bool name##_v = (__VA_ARGS__);
template <class T, class Other>
struct is_same : bool_constant<__is_same(T, Other)> {};
template <class T, class Other>
constexpr constant bool is_same_v = __is_same(T, Other);
FERRULE_PROPERTY(is_integral, __is_integral(T))
FERRULE_PROPERTY(is_floating_point, __is_floating_point(T))
FERRULE_PROPERTY(is_arithmetic, __is_arithmetic(T))
FERRULE_PROPERTY(is_signed, __is_signed(T))
FERRULE_PROPERTY(is_unsigned, __is_unsigned(T))
FERRULE_PROPERTY(is_const, __is_const(T))
FERRULE_PROPERTY(is_void, __is_same(__remove_cv(T), void))
FERRULE_PROPERTY(is_pointer, __is_pointer(T))
FERRULE_PROPERTY(is_reference, __is_reference(T))
FERRULE_PROPERTY(is_array, __is_array(T))
FERRULE_PROPERTY(is_enum, __is_enum(T))
FERRULE_PROPERTY(is_class, __is_class(T))
FERRULE_PROPERTY(is_union, __is_union(T))
FERRULE_PROPERTY(is_trivial, __is_trivial(T))
FERRULE_PROPERTY(is_trivially_copyable, __is_trivially_copyable(T))
FERRULE_PROPERTY(is_scalar, __is_scalar(T))
#undef FERRULE_PROPERTY
template <class Base, class T>
constexpr constant bool is_base_of_v = __is_base_of(Base, T);
template <class From, class To>
constexpr constant bool is_convertible_v = __is_convertible(From, To);

template <class T>
constexpr ferrule_inline T&& ferrule_any() noexcept;
template <class T>
T declval() noexcept;

}  // namespace metal
