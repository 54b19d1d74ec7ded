// Metal Shading Language Specification, "Uniform Type" and "Array of ...": metal::array.
#pragma once

namespace metal {

template <class T, size_t N>
struct array {
  T ferrule_elements[N];
#define FERRULE_METHODS(qualifier, space, ...)                                                  \
  constexpr space const T& operator[](size_t i) const qualifier { return ferrule_elements[i]; } \
  constexpr space const T* data() const qualifier { return ferrule_elements; }
#define FERRULE_CHANGING_METHODS(qualifier, space, ...)                             \
  constexpr space T& operator[](size_t i) qualifier { return ferrule_elements[i]; } \
  constexpr space T* data() qualifier { return ferrule_elements; }
  FERRULE_IN_EACH_SPACE(FERRULE_METHODS)
#ifdef FERRULE_STRICT
  FERRULE_CHANGING_METHODS(ferrule_method_thread, thread)
  FERRULE_CHANGING_METHODS(ferrule_method_threadgroup, threadgroup)
  FERRULE_CHANGING_METHODS(ferrule_method_device, device)
#else
  FERRULE_CHANGING_METHODS(, )
#endif
#undef FERRULE_METHODS
#undef FERRULE_CHANGING_METHODS
  static constexpr size_t size() { return N; }
};

}  // namespace metal
