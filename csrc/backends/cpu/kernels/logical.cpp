// Elementwise logic: nonzero is true.
#include "elementwise.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

struct LogicalAnd {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != T(0)) & (b != T(0));
  }
};
struct LogicalOr {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != T(0)) | (b != T(0));
  }
};
struct LogicalXor {
  template <class T>
  bool operator()(T a, T b) const {
    return (a != T(0)) != (b != T(0));
  }
};
struct LogicalNot {
  template <class T>
  bool operator()(T a) const {
    return a == T(0);
  }
};

}  // namespace

ELEMENTWISE(logical_and, (compare<LogicalAnd, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(logical_or, (compare<LogicalOr, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(logical_xor, (compare<LogicalXor, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))
ELEMENTWISE(logical_not, (test<LogicalNot, bool, FERRULE_FLOATS, FERRULE_INTEGERS>()))

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
