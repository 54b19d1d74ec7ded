// Elementwise operations on bits. A shift by the width or more gives the same result as repeated shifts by one bit.
#include "elementwise.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct And {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};
struct Or {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};
struct Xor {
  template <class T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};
struct Invert {
  bool operator()(bool a) const { return !a; }
  template <class T>
  T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
// A negative count is also at least the width when it is taken as unsigned.
template <class T>
constexpr bool past_width(T count) {
  return static_cast<uint64_t>(static_cast<int64_t>(count)) >= sizeof(T) * 8;
}
struct LeftShift {
  template <class T>
  T operator()(T a, T n) const {
    return past_width(n) ? T(0) : static_cast<T>(static_cast<uint64_t>(a) << (static_cast<uint64_t>(n) & 63));
  }
};
struct RightShift {
  template <class T>
  T operator()(T a, T n) const {
    if (past_width(n)) return static_cast<T>(a < T(0) ? T(-1) : T(0));
    return static_cast<T>(a >> (static_cast<uint64_t>(n) & 63));
  }
};

}  // namespace

ELEMENTWISE(bitwise_and, (binary<And, bool, FERRULE_INTEGERS>()))
ELEMENTWISE(bitwise_or, (binary<Or, bool, FERRULE_INTEGERS>()))
ELEMENTWISE(bitwise_xor, (binary<Xor, bool, FERRULE_INTEGERS>()))
ELEMENTWISE(bitwise_invert, (unary<Invert, bool, FERRULE_INTEGERS>()))
ELEMENTWISE(bitwise_left_shift, (binary<LeftShift, FERRULE_INTEGERS>()))
ELEMENTWISE(bitwise_right_shift, (binary<RightShift, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
