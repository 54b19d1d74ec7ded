// Keeps Python objects alive while ferrule uses their memory, and releases them later.
#pragma once

#include "errors.h"

namespace ferrule::python {

// Calls function(argument) with the GIL: at once if this thread has it, else in the next drain(). It never waits for
// the GIL, so any thread may call it. While Python is finalizing it does nothing.
void with_gil_later(void (*function)(void*), void* argument);

// lend returns a new reference to `object`, and end_loan is the fe_release_function that ends it.
void* lend(py::handle object);
void end_loan(void* argument);

// Runs deferred calls and delivers log lines. Needs the GIL.
void drain();

void bind_lending(py::module_& module);

}  // namespace ferrule::python
