// What a process knows of its forks.
#pragma once

#include <cstdint>

namespace ferrule {

// Grows by one in the child of each fork: state that a fork breaks remembers the number it was made under.
uint32_t fork_generation() noexcept;

// As long as one exists, a fork of another thread waits, two seconds at most: what runs meanwhile (the system's linker,
// a module's init) would be found half done by the child, and nobody there to finish it.
class HoldsForks {
 public:
  HoldsForks() noexcept;
  ~HoldsForks();
  HoldsForks(const HoldsForks&) = delete;
  HoldsForks& operator=(const HoldsForks&) = delete;
};

}  // namespace ferrule
