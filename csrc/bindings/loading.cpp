// Loading and unloading of backends.
#include "environment.h"
#include "handles.h"
#include "lending.h"
#include "text.h"

#include "parts.h"

namespace ferrule::python {
namespace {

// (report as JSON or None, exception or None)
py::tuple load_all(const Text& options) {
  fe_string* report = nullptr;
  fe_error* const error = without_gil_reading_environment([&] { return fe_load_all(options.c_str(), &report); });
  py::object text = py::none();
  if (report != nullptr) text = py::str(take_text(report));
  py::object raised = py::none();
  if (error != nullptr) raised = exception_of(error);
  drain();
  return py::make_tuple(text, raised);
}

std::unique_ptr<Backend> load(const Text& path, const Text& options) {
  fe_backend_ref* backend = nullptr;
  check(without_gil_reading_environment([&] { return fe_load(path.c_str(), options.c_str(), &backend); }));
  drain();
  return std::make_unique<Backend>(backend);
}

std::unique_ptr<Backend> reload(const Text& name) {
  fe_backend_ref* backend = nullptr;
  drain();
  check(without_gil_reading_environment([&] { return fe_reload(name.c_str(), &backend); }));
  drain();
  return std::make_unique<Backend>(backend);
}

void unload(const Text& name) {
  drain();
  check(without_gil_reading_environment([&] { return fe_unload(name.c_str()); }));
}

std::string executable_dir() {
  fe_string* text = nullptr;
  check(fe_executable_dir(&text));
  return take_text(text);
}

std::string report_text(const Text& report) {
  fe_string* text = nullptr;
  check(fe_load_report_text(report.c_str(), &text));
  return take_text(text);
}

std::string report_explain(const Text& report, const Text& name) {
  fe_string* text = nullptr;
  check(fe_load_report_explain(report.c_str(), name.c_str(), &text));
  return take_text(text);
}

}  // namespace

void bind_loading(py::module_& module) {
  module.def("load_all", &load_all, py::arg("options"));
  module.def("load", &load, py::arg("path"), py::arg("options"));
  module.def("reload", &reload, py::arg("name"));
  module.def("unload", &unload, py::arg("name"));
  module.def("shutdown", [] {
    drain();
    check(without_gil_reading_environment([] { return fe_shutdown(); }));
  });
  module.def("refresh", [] {
    drain();
    check(without_gil_reading_environment([] { return fe_refresh(); }));
    drain();
  });
  module.def("executable_dir", &executable_dir);
  module.def("report_text", &report_text, py::arg("report"));
  module.def("report_explain", &report_explain, py::arg("report"), py::arg("name"));
}

}  // namespace ferrule::python
