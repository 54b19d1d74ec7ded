// Memory that runs out: the operator new of this program, and of the modules that it loads, fails when a test says so.
#pragma once

#include <cstddef>

namespace ferrule::test {

enum class Shortage { once, lasting };

// Within its life, the n-th allocation of this thread fails, and with a lasting shortage all that follow. n counts
// from 1; 0 fails none.
class FailingAllocation {
 public:
  FailingAllocation(std::size_t n, Shortage shortage);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
  // True once an allocation has failed.
  bool has_failed() const;
};

// Calls `call(n)` for n = 1, 2, ... until it no longer makes an n-th allocation within the FailingAllocation that
// `call` makes and returns the answer of. Returns how many calls had a failing allocation.
template <class Call>
std::size_t for_each_allocation(Call call) {
  std::size_t n = 1;
  while (call(n)) ++n;
  return n - 1;
}

}  // namespace ferrule::test
