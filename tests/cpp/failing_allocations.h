// Simulated lack of memory: operator new of this program and of the modules it loads fails on request.
#pragma once

#include <cstddef>

namespace ferrule::test {

enum class Shortage { once, lasting };

// During its lifetime, the n-th allocation of this thread fails, and all later ones too if the shortage is lasting. n
// counts from 1; 0 disables failures.
class FailingAllocation {
 public:
  FailingAllocation(std::size_t n, Shortage shortage);
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  ~FailingAllocation();
  // True once an allocation has failed.
  bool has_failed() const;
};

// Calls `call(n)` for n = 1, 2, ... until no allocation fails. `call` makes a FailingAllocation and returns whether it
// failed an allocation. Returns the number of calls with a failing allocation.
template <class Call>
std::size_t for_each_allocation(Call call) {
  std::size_t n = 1;
  while (call(n)) ++n;
  return n - 1;
}

}  // namespace ferrule::test
