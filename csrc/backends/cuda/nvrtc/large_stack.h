// Calls that need more stack than a thread of the caller may have.
#pragma once

#include <functional>

namespace ferrule::cuda {

// Calls `work` in a thread with a stack of 8 MiB, as a main thread has, and waits. Throws what it throws, or
// std::system_error if there can be no thread. The thread gets no signals.
void call_with_large_stack(const std::function<void()>& work);

}  // namespace ferrule::cuda
