// What a process knows of its forks.
#pragma once

#include <cstdint>

namespace ferrule {

// Grows by one in the child of each fork: state that a fork breaks remembers the number it was made under.
uint32_t fork_generation() noexcept;

}  // namespace ferrule
