// The bind functions of the extension module that no other header declares, each in the file of its name. The others
// are in errors.h, interruption.h, python_references.h and values.h.
#pragma once

#include <nanobind/nanobind.h>

namespace ferrule::python {

void bind_array_handle(nb::module_& module);
void bind_array_objects(nb::module_& module);
void bind_arrays(nb::module_& module);
void bind_calls(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_dlpack(nb::module_& module);
void bind_graphs(nb::module_& module);
void bind_loading(nb::module_& module);
void bind_traces(nb::module_& module);

}  // namespace ferrule::python
