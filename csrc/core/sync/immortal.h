// Global objects that are never destroyed.
#pragma once

#include <memory>

namespace ferrule {

// The process's single T. It is never destroyed, so it outlives all threads and static objects, and no driver is called
// when the process ends. It is constructed while libferrule is loaded, so that no fork interrupts its construction.
template <class T>
class Immortal {
 public:
  static T& get() {
    static_cast<void>(&made_at_load);
    return make_once();
  }

 private:
  static T& make_once() {
    static T& one = *std::make_unique<T>().release();
    return one;
  }
  inline static T& made_at_load = make_once();
};

}  // namespace ferrule
