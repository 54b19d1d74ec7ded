// The bind functions of the extension module that no other header declares, each in the file of its name. The others
// are in errors.h, interruption.h, python_references.h and values.h.
#pragma once

#include <pybind11/pybind11.h>

namespace ferrule::python {

void bind_array_handle(pybind11::module_& module);
void bind_array_objects(pybind11::module_& module);
void bind_arrays(pybind11::module_& module);
void bind_calls(pybind11::module_& module);
void bind_devices(pybind11::module_& module);
void bind_dlpack(pybind11::module_& module);
void bind_graphs(pybind11::module_& module);
void bind_loading(pybind11::module_& module);
void bind_traces(pybind11::module_& module);

}  // namespace ferrule::python
