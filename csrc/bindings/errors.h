// ferrule's errors as Python exceptions. The classes are Python's (ferrule/_errors.py); here they are only raised.
#pragma once

#include <ferrule/ferrule.h>
#include <pybind11/pybind11.h>

#include <string>

namespace ferrule::python {

namespace py = pybind11;

// The exception for an error, which is released. With the GIL.
py::object exception_of(fe_error* error);
// Raises the exception for an error, which is released; nothing for success. With the GIL.
void check(fe_error* error);
[[noreturn]] void raise(fe_code code, const std::string& message);

// True when Python is going away: what it owned is then left as it is.
bool is_finalizing() noexcept;

void bind_errors(py::module_& module);

}  // namespace ferrule::python
