// Runs a kernel on all blocks of a grid, spread over OS threads.
#pragma once

#include <functional>
#include <string>

#include "emulation/block.h"

namespace emulation {

// Runs `body` once for each GPU thread. Throws KernelError for a fault, of the block that is first in the grid's order
// among those that have run; the other blocks that have begun end first.
void run_grid(const std::string& kernel, const LaunchShape& shape, const std::function<void()>& body);

// Launches like `kernel<<<shape>>>(arguments...)`; returns when the kernel has ended.
template <class... Parameters, class... Arguments>
void launch(const std::string& name, const LaunchShape& shape, void (*kernel)(Parameters...), Arguments... arguments) {
  run_grid(name, shape, [=] { kernel(arguments...); });
}

// Returns why no GPU since compute capability 3.0 could run a kernel of this shape; empty if it could. For a shape
// other than CUDA's, checks only whether it has threads.
std::string refusal_of(const LaunchShape& shape);

}  // namespace emulation
