// The extension module ferrule._ferrule: converts between Python and the host C API.
#include "interruption.h"
#include "module_parts.h"
#include "numpy_array.h"
#include "python_references.h"
#include "values.h"

#include <ferrule/ferrule.h>

#include <string_view>

// pybind11's own start waits forever in a subinterpreter before Python 3.12, which refuses the module there: the thread
// has two thread states, and PyGILState_Ensure waits for the other. So the start is a function that PyInit__ferrule
// calls.
#undef PYBIND11_PLUGIN_IMPL
#define PYBIND11_PLUGIN_IMPL(name) static PyObject* start##name()

PYBIND11_MODULE(_ferrule, module) {
  using namespace ferrule::python;
  module.doc() = "The host C API of ferrule. Private: use the package.";
  import_numpy();
  bind_dtype_table(module);
  bind_errors(module);
  bind_references(module);
  bind_interruption(module);
  bind_values(module);
  bind_devices(module);
  bind_load_report(module);
  bind_loading(module);
  bind_array_handle(module);
  bind_arrays(module);
  bind_array_elements(module);
  bind_array_objects(module);
  bind_graphs(module);
  bind_dlpack(module);
  bind_length_prefixed_texts(module);
  bind_mapped_file(module);
  bind_calls(module);
  bind_traces(module);
  bind_public_functions(module);
}

extern "C" PYBIND11_EXPORT PyObject* PyInit__ferrule();
extern "C" PYBIND11_EXPORT PyObject* PyInit__ferrule() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main())
    PyErr_SetString(PyExc_ImportError, "ferrule works in the main interpreter only, and this is a subinterpreter");
  else if (std::string_view(fe_version()) != FERRULE_VERSION)
    PyErr_Format(PyExc_ImportError, "it is of version %s, and the libferrule of this process is of version %s",
                 FERRULE_VERSION, fe_version());
  else
    return start_ferrule();
  return nullptr;
}
