// Constructors of vectors and their properties. Metal Shading Language Specification, "Vector Constructors". The
// emulator writes `ferrule_make<float4>(x)` for `float4(x)`.
#pragma once

namespace metal {

// The element type and the number of elements of a number or a vector.
template <class T>
struct ferrule_shape {
  typedef T element;
  typedef T vector;
  enum { count = 1 };
};
template <class T, int N>
struct ferrule_shape<T __attribute__((ext_vector_type(N)))> {
  typedef T element;
  typedef T vector __attribute__((ext_vector_type(N)));
  enum { count = N };
};
template <class V, class Part>
ferrule_inline int ferrule_put(thread V& out, int at, Part given) {
  typedef typename ferrule_shape<V>::element Element;
  if constexpr (ferrule_shape<Part>::count > 1) {
    const typename ferrule_shape<Part>::vector part = given;
    for (int i = 0; i < ferrule_shape<Part>::count; ++i) out[at + i] = ferrule_cast<Element>(part[i]);
    return at + ferrule_shape<Part>::count;
  } else {
    out[at] = ferrule_cast<Element>(given);
    return at + 1;
  }
}

template <class V, class... Parts>
ferrule_inline V ferrule_joined(Parts... parts) {
  static_assert((0 + ... + ferrule_shape<Parts>::count) == ferrule_shape<V>::count,
                "the constructor of a vector needs a number for each of its elements");
  V out;
  int at = 0;
  ((at = ferrule_put(out, at, parts)), ...);
  return out;
}

template <class V, class Part>
constexpr ferrule_inline V ferrule_converted(Part given) {
  typedef typename ferrule_shape<V>::element Element;
  if constexpr (ferrule_shape<Part>::count > 1) {
    static_assert(int(ferrule_shape<Part>::count) == int(ferrule_shape<V>::count), "vectors of different sizes");
    const typename ferrule_shape<Part>::vector part = given;
    return __builtin_convertvector(part, V);
  } else {
    return static_cast<V>(ferrule_cast<Element>(given));
  }
}

template <class T, class... Parts>
constexpr ferrule_inline T ferrule_make(Parts... parts) {
  typedef typename ferrule_shape<T>::vector V;
  typedef typename ferrule_shape<T>::element Element;
  if constexpr (sizeof...(Parts) == 0)
    return T(V{});
  else if constexpr (sizeof...(Parts) == ferrule_shape<T>::count)
    return T(V{ferrule_cast<Element>(parts)...});
  else if constexpr (sizeof...(Parts) == 1)
    return T(ferrule_converted<V>(parts...));
  else
    return T(ferrule_joined<V>(parts...));
}

}  // namespace metal
using metal::ferrule_make;
