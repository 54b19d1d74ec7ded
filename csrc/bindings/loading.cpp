// Loading and unloading of backends.
#include "environment.h"
#include "load_report.h"
#include "python_references.h"

#include "module_parts.h"

#include <optional>
#include <vector>

namespace ferrule::python {
namespace {

// The texts as C strings, and a final NULL, so that an empty list is not NULL.
std::vector<const char*> pointers_to(const std::vector<Text>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (const Text& text : texts) pointers.push_back(text.c_str());
  pointers.push_back(nullptr);
  return pointers;
}

const char* pointer_to(const std::optional<Text>& text) { return text ? text->c_str() : nullptr; }

// (report or None, exception or None)
py::tuple load_all(const std::optional<std::vector<Text>>& dirs, const std::vector<Text>& extra_roots,
                   const std::vector<Text>& only, const std::vector<Text>& require, const std::optional<Text>& select,
                   const std::optional<Text>& probe, const std::optional<Text>& trust, bool reprobe) {
  const std::vector<Text> none;
  const auto folders = pointers_to(dirs ? *dirs : none), more = pointers_to(extra_roots), chosen = pointers_to(only),
             required = pointers_to(require);
  fe_load_options options{};
  options.struct_size = sizeof options;
  options.dirs = dirs ? folders.data() : nullptr;
  options.dir_count = folders.size() - 1;
  options.extra_roots = more.data();
  options.extra_root_count = extra_roots.size();
  options.only = chosen.data();
  options.only_count = only.size();
  options.require = required.data();
  options.require_count = require.size();
  options.select = pointer_to(select);
  options.probe = pointer_to(probe);
  options.trust = pointer_to(trust);
  options.reprobe = reprobe ? 1 : 0;
  fe_load_report* handle = nullptr;
  fe_error* const error = without_gil_reading_environment([&] { return fe_load_all(&options, &handle); });
  py::object report = py::none();
  if (handle != nullptr) report = py::cast(LoadReport(handle));
  py::object raised = py::none();
  if (error != nullptr) raised = exception_of(error);
  drain();
  return py::make_tuple(report, raised);
}

Backend load(const Text& path, const std::optional<Text>& as_name, const std::optional<Text>& probe,
             const std::optional<Text>& trust) {
  fe_load_options options{};
  options.struct_size = sizeof options;
  options.as_name = pointer_to(as_name);
  options.probe = pointer_to(probe);
  options.trust = pointer_to(trust);
  fe_backend_ref* backend = nullptr;
  check(without_gil_reading_environment([&] { return fe_load(path.c_str(), &options, &backend); }));
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
  module.def("load_all", &load_all, argument_or_none("dirs"), argument("extra_roots"), argument("only"),
             argument("require"), argument_or_none("select"), argument_or_none("probe"), argument_or_none("trust"),
             argument("reprobe"));
  module.def("load", &load, argument("path"), argument_or_none("as_name"), argument_or_none("probe"),
             argument_or_none("trust"));
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
