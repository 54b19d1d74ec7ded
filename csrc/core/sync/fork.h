// Tracks the forks of the process.
#pragma once

#include <cstdint>

namespace ferrule {

// Increases by one in the child of each fork. State that a fork breaks stores the generation in which it was made.
uint32_t fork_generation() noexcept;

// Delays forks of other threads for its lifetime, by two seconds at most. In the child, a call in progress (in the
// system's loader, or a module's init) would be left half done, without the thread that would finish it.
class HoldsForks {
 public:
  HoldsForks() noexcept;
  ~HoldsForks();
  HoldsForks(const HoldsForks&) = delete;
  HoldsForks& operator=(const HoldsForks&) = delete;
};

}  // namespace ferrule
