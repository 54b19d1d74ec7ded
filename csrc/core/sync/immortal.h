// Objects of the process that are never destroyed.
#pragma once

#include <memory>

namespace ferrule {

// The one T of the process. It outlives every thread and every static object, as at the end of the process no driver is
// called; and it is made while libferrule is loaded, so that no fork finds it half made.
template <class T>
class Immortal {
 public:
  static T& get() {
    static_cast<void>(&made_at_load);
    return made();
  }

 private:
  static T& made() {
    static T& one = *std::make_unique<T>().release();
    return one;
  }
  inline static T& made_at_load = made();
};

}  // namespace ferrule
