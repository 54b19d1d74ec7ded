// Which step of a load is about to enter a module, for who watches the process from outside.
#pragma once

namespace ferrule {

using StepCallback = void (*)(void* argument, const char* step);

// Null ends it. A load that is running on another thread may still call the former one.
void set_step_callback(StepCallback callback, void* argument) noexcept;
void begin_step(const char* step);

}  // namespace ferrule
