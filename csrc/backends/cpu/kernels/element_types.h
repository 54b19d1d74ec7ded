// The C++ types of the elements of plain dtypes.
#pragma once

#include "half.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class T>
constexpr bool is_float = static_cast<T>(0.5) != T(0);

// The type of the elements of a dtype that is stored as `Stored` (ferrule/dtypes.h).
template <DType dtype, class Stored>
struct ElementOf {
  using Type = Stored;
};
template <class Stored>
struct ElementOf<DType::f16, Stored> {
  using Type = Float16;
};
template <class Stored>
struct ElementOf<DType::bf16, Stored> {
  using Type = BFloat16;
};
// Whether a dtype of this class has numbers of type `Element`: not only their bits, as for float8.
template <fe_dtype_class kind, class Stored, class Element>
constexpr bool is_real = kind == FE_CLASS_SIGNED || kind == FE_CLASS_UNSIGNED ||
                         (kind == FE_CLASS_FLOAT && (is_float<Stored> || !__is_same(Stored, Element)));

template <fe_dtype_class kind, DType dtype, class Stored, class F>
void with_element(F f) {
  using Element = typename ElementOf<dtype, Stored>::Type;
  if constexpr (is_real<kind, Stored, Element>) f(Element{});
}
// Calls f with a value of the type that represents a dtype of real numbers; bool is uint8_t. Does nothing for others.
template <class F>
void with_type(DType dtype, F f) {
  switch (dtype == DType::boolean ? DType::u8 : dtype) {
#define FERRULE_CASE(id, abbreviation, name, kind, stored, ...)    \
  case DType::abbreviation:                                        \
    with_element<FE_CLASS_##kind, DType::abbreviation, stored>(f); \
    break;
    FE_DTYPES(FERRULE_CASE, FE_NO_DTYPE)
#undef FERRULE_CASE
    default:
      break;
  }
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
