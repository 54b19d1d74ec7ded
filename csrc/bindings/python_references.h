// Keeps Python objects alive while ferrule uses their memory, and releases them later.
#pragma once

#include "errors.h"

namespace ferrule::python {

// Calls function(argument) with the GIL: at once if this thread has it, else in the next drain(). It never waits for
// the GIL, so any thread may call it. While Python is finalizing it does nothing.
void with_gil_later(void (*function)(void*), void* argument);

// An owned reference to `object`, and the function that drops it (an fe_release_function).
void* hold_reference(py::handle object);
void release_reference(void* argument);

// Runs deferred calls and delivers log lines. Needs the GIL.
void drain();
// check(), after the memory that a failed call was given is released.
inline void drain_and_check(fe_error* error) {
  drain();
  check(error);
}

void bind_references(py::module_& module);

}  // namespace ferrule::python
