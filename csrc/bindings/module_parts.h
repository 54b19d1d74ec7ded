// The bind functions of the extension module that no other header declares, each in the file of its name. The others
// are in errors.h, interruption.h, python_references.h and values.h.
#pragma once

#include <pybind11/pybind11.h>

namespace ferrule::python {

void bind_array_elements(py::module_& module);
void bind_array_handle(py::module_& module);
void bind_array_objects(py::module_& module);
void bind_arrays(py::module_& module);
void bind_calls(py::module_& module);
void bind_devices(py::module_& module);
void bind_dlpack(py::module_& module);
void bind_dtype_table(py::module_& module);
void bind_graphs(py::module_& module);
void bind_length_prefixed_texts(py::module_& module);
void bind_load_report(py::module_& module);
void bind_loading(py::module_& module);
void bind_mapped_file(py::module_& module);
void bind_public_functions(py::module_& module);
void bind_traces(py::module_& module);

}  // namespace ferrule::python
