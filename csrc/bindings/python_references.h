// References to Python objects that keep memory alive while ferrule uses it, and calls that wait for the GIL.
#pragma once

#include "errors.h"

namespace ferrule::python {

// Calls function(argument) with the GIL: at once when this thread has it, else in the next drain(). Never waits for the
// GIL, so any thread may call it. When Python is going away the call is left out.
void with_gil_later(void (*function)(void*), void* argument);

// An owned reference to `object`, and the function that drops it (an fe_release_function).
void* hold_reference(py::handle object);
void release_reference(void* argument);

// Runs what was left for later and delivers log lines. With the GIL.
void drain();

void bind_references(py::module_& module);

}  // namespace ferrule::python
