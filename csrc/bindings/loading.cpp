// Loading and unloading of backends.
#include "environment.h"
#include "handles.h"
#include "python_references.h"
#include "text.h"

#include "module_parts.h"

namespace ferrule::python {
namespace {

class LoadReport : public BoundClass {
 public:
  explicit LoadReport(fe_load_report* handle) : handle_(handle) {}

  std::string format(const Text& name) const {
    fe_string* text = nullptr;
    check(fe_load_report_format(handle_.get(), name.c_str(), &text));
    return take_text(text);
  }

  // `versions`: of each candidate, used if its module reports none.
  std::string explain(const Text& name, const std::vector<std::string>& versions) const {
    fe_load_report_info info{};
    info.struct_size = sizeof info;
    check(fe_load_report_info_get(handle_.get(), &info));
    if (versions.size() != info.candidate_count)
      raise(FE_INVALID_ARGUMENT, "there are " + std::to_string(versions.size()) + " versions for " +
                                     std::to_string(info.candidate_count) + " candidates");
    std::vector<const char*> pointers;
    pointers.reserve(versions.size());
    for (const std::string& version : versions) pointers.push_back(version.c_str());
    fe_string* text = nullptr;
    check(fe_load_report_explain(handle_.get(), name.c_str(), pointers.data(), &text));
    return take_text(text);
  }

 private:
  LoadReportHandle handle_;
};

// (report or None, exception or None)
py::tuple load_all(const Text& options) {
  fe_load_report* handle = nullptr;
  fe_error* const error = without_gil_reading_environment([&] { return fe_load_all(options.c_str(), &handle); });
  py::object report = py::none();
  if (handle != nullptr) report = py::cast(LoadReport(handle));
  py::object raised = py::none();
  if (error != nullptr) raised = exception_of(error);
  drain();
  return py::make_tuple(report, raised);
}

Backend load(const Text& path, const Text& options) {
  fe_backend_ref* backend = nullptr;
  check(without_gil_reading_environment([&] { return fe_load(path.c_str(), options.c_str(), &backend); }));
  drain();
  return Backend(backend);
}

Backend reload(const Text& name, bool force) {
  fe_backend_ref* backend = nullptr;
  drain();
  check(without_gil_reading_environment(
      [&] { return force ? fe_reload_by_force(name.c_str(), &backend) : fe_reload(name.c_str(), &backend); }));
  drain();
  return Backend(backend);
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

}  // namespace

void bind_loading(py::module_& module) {
  bound_class<LoadReport>(module, "LoadReport")
      .def("format", &LoadReport::format, argument("name"))
      .def("explain", &LoadReport::explain, argument("name"), argument("versions"));
  module.def("load_all", &load_all, argument("options"));
  module.def("load", &load, argument("path"), argument("options"));
  module.def("reload", &reload, argument("name"), argument("force"));
  module.def("unload", &unload, argument("name"));
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
}

}  // namespace ferrule::python
