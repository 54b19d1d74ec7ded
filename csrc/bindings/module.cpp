// The extension module ferrule._ferrule: converts between Python and the host C API.
#include "interruption.h"
#include "module_parts.h"
#include "numpy_array.h"
#include "python_references.h"
#include "values.h"

PYBIND11_MODULE(_ferrule, module) {
  using namespace ferrule::python;
  module.doc() = "The host C API of ferrule. Private: use the package.";
  import_numpy();
  bind_errors(module);
  bind_references(module);
  bind_interruption(module);
  bind_values(module);
  bind_devices(module);
  bind_loading(module);
  bind_array_handle(module);
  bind_arrays(module);
  bind_array_objects(module);
  bind_graphs(module);
  bind_dlpack(module);
  bind_calls(module);
  bind_traces(module);
}
