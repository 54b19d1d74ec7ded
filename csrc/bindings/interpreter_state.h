// Tells whether this thread holds the GIL, and whether Python is finalizing. Any thread may ask, also without the GIL
// and after the end of Python.
#pragma once

#include <Python.h>

namespace ferrule::python {

inline bool has_gil() noexcept { return PyGILState_Check() != 0; }

// Handles are then not released.
inline bool is_finalizing() noexcept {
#if PY_VERSION_HEX >= 0x030D0000
  return Py_IsInitialized() == 0 || Py_IsFinalizing() != 0;
#else
  return Py_IsInitialized() == 0 || _Py_IsFinalizing() != 0;
#endif
}

}  // namespace ferrule::python
