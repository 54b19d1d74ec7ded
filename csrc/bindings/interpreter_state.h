// Tells whether this thread holds the GIL, and whether Python is finalizing; the stable ABI has no functions for that.
// Any thread may ask, also without the GIL and after the end of Python.
#pragma once

namespace ferrule::python {

// Looks up functions that each CPython has, though not in its stable ABI. Called once, when the extension is imported.
void find_interpreter_functions();

// False also if it is not known.
bool has_gil() noexcept;
// Handles are then not released.
bool is_finalizing() noexcept;

}  // namespace ferrule::python
