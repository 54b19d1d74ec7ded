// Constructors of vectors, their properties, and packed vectors. Metal Shading Language Specification, "Vector
// Constructors" and "Packed Vector Types". The emulator writes `ferrule_make<float4>(x)` for `float4(x)`.
#pragma once

namespace metal {

// Of a vector or a number: its elements.
template <class T>
struct ferrule_shape {
  typedef T element;
  enum { count = 1 };
};
template <class T, int N>
struct ferrule_shape<T __attribute__((ext_vector_type(N)))> {
  typedef T element;
  enum { count = N };
};
template <class T>
constexpr constant bool ferrule_is_vector = ferrule_shape<T>::count > 1;

template <class V, class Part>
ferrule_inline int ferrule_put(thread V& out, int at, Part part) {
  typedef typename ferrule_shape<V>::element Element;
  if constexpr (ferrule_is_vector<Part>) {
    for (int i = 0; i < ferrule_shape<Part>::count; ++i) out[at + i] = static_cast<Element>(part[i]);
    return at + ferrule_shape<Part>::count;
  } else {
    out[at] = static_cast<Element>(part);
    return at + 1;
  }
}

template <class V, class... Parts>
struct ferrule_maker {
  static ferrule_inline V make(Parts... parts) {
    static_assert((0 + ... + ferrule_shape<Parts>::count) == ferrule_shape<V>::count,
                  "the constructor of a vector needs a number for each of its elements");
    V out;
    int at = 0;
    ((at = ferrule_put(out, at, parts)), ...);
    return out;
  }
};
template <class V, class Part>
struct ferrule_maker<V, Part> {
  static constexpr ferrule_inline V make(Part part) {
    typedef typename ferrule_shape<V>::element Element;
    if constexpr (ferrule_is_vector<Part>) {
      static_assert(ferrule_shape<Part>::count == ferrule_shape<V>::count, "vectors of different sizes");
      return __builtin_convertvector(part, V);
    } else {
      return static_cast<V>(static_cast<Element>(part));
    }
  }
};

#define FERRULE_ALL_NUMBERS(V) ferrule_shape<V>::count == sizeof...(Parts)

template <class V, class... Parts>
constexpr ferrule_inline V ferrule_make(Parts... parts) {
  typedef typename ferrule_shape<V>::element Element;
  if constexpr (sizeof...(Parts) == 0)
    return V{};
  else if constexpr (sizeof...(Parts) == ferrule_shape<V>::count)
    return V{static_cast<Element>(parts)...};
  else
    return ferrule_maker<V, Parts...>::make(parts...);
}
#undef FERRULE_ALL_NUMBERS

}  // namespace metal
using metal::ferrule_make;
