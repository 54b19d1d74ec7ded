// Counts the forks that led to this process.
#pragma once

#include <cstdint>

namespace ferrule {

// Increases by one in the child of each fork. State that a fork breaks stores the generation in which it was made.
uint32_t fork_generation() noexcept;
// Called in the child of a fork.
void begin_fork_generation() noexcept;

}  // namespace ferrule
