// Backends, devices, and information about the process.
#include "environment.h"
#include "handles.h"
#include "interruption.h"
#include "python_references.h"
#include "text.h"
#include "values.h"

#include "module_parts.h"

namespace ferrule::python {
namespace {

template <class Function, class... Arguments>
std::string json_of(Function function, Arguments... arguments) {
  fe_string* text = nullptr;
  // The calls here and below release the GIL: they may wait for a lock of the core, whose owner may need the GIL.
  check(without_gil_reading_environment([&] { return function(arguments..., &text); }));
  return take_text(text);
}

template <class Handle, class Owner>
std::vector<Owner> snapshot(auto list) {
  Handle** handles = nullptr;
  std::size_t count = 0;
  check(list(&handles, &count));
  std::vector<Owner> owners;
  owners.reserve(count);
  for (std::size_t i = 0; i < count; ++i) owners.emplace_back(handles[i]);
  fe_list_free(static_cast<void*>(handles));
  return owners;
}

py::object bytes_or_none(uint64_t bytes) {
  return bytes == UINT64_MAX ? py::object(py::none()) : py::object(py::int_(bytes));
}

fe_error* synchronize(const Device& device, Interruption& interruption) {
  return without_gil([&] { return fe_synchronize(device.get(), Interruption::poll, &interruption); });
}

void bind_backend(py::module_& module) {
  bound_class<Backend>(module, "Backend")
      .def("info",
           [](const Backend& self) { return json_of(fe_backend_info, static_cast<const fe_backend_ref*>(self.get())); })
      .def(
          "proc",
          [](const Backend& self, const Text& name) -> py::object {
            fe_proc function = nullptr;
            check(fe_backend_get_proc(self.get(), name.c_str(), &function));
            if (function == nullptr) return py::none();
            return py::int_(reinterpret_cast<uintptr_t>(function));
          },
          argument("name"));
  module.def("backends", [] { return snapshot<fe_backend_ref, Backend>(fe_backends); });
}

void bind_device(py::module_& module) {
  bound_class<Device>(module, "Device")
      .def_property_readonly("name", [](const Device& self) { return std::string(fe_device_name(self.get())); })
      .def("info",
           [](const Device& self) { return json_of(fe_device_info, static_cast<const fe_device*>(self.get())); })
      .def_property_readonly("id", [](const Device& self) { return fe_device_id(self.get()); })
      .def("backends",
           [](const Device& self) {
             return snapshot<fe_backend_ref, Backend>(
                 [&](fe_backend_ref*** out, std::size_t* count) { return fe_device_backends(self.get(), out, count); });
           })
      .def(
          "view",
          [](const Device& self, const Text& backend) {
            fe_device* device = nullptr;
            check(fe_device_view(self.get(), backend.c_str(), &device));
            return Device(device);
          },
          argument("backend"))
      .def("backend",
           [](const Device& self) {
             fe_backend_ref* backend = nullptr;
             check(fe_device_backend(self.get(), &backend));
             return Backend(backend);
           })
      .def(
          "open",
          [](const Device& self, const Text& options) {
            check(without_gil_reading_environment([&] { return fe_device_open(self.get(), options.c_str()); }));
          },
          argument("options"))
      .def("memory",
           [](const Device& self) {
             uint64_t free = UINT64_MAX, total = UINT64_MAX;
             check(without_gil([&] { return fe_device_memory(self.get(), &free, &total); }));
             return py::make_tuple(bytes_or_none(free), bytes_or_none(total));
           })
      .def("memory_stats",
           [](const Device& self) {
             drain();
             return json_of(fe_memory_stats, self.get());
           })
      .def("trim",
           [](const Device& self) {
             Interruption interruption;
             interruption.check(synchronize(self, interruption));  // Ctrl-C interrupts only this call
             check(without_gil([&] { return fe_trim(self.get()); }));
           })
      .def("synchronize",
           [](const Device& self) {
             Interruption interruption;
             interruption.check(synchronize(self, interruption));
           })
      .def(
          "set_memory_limit",
          [](const Device& self, uint64_t bytes) {
            check(without_gil([&] { return fe_set_memory_limit(self.get(), bytes); }));
          },
          argument("bytes"))
      .def("reset",
           [](const Device& self) {
             Interruption interruption;
             fe_error* const error = synchronize(self, interruption);
             if (error != nullptr && fe_error_code(error) == FE_CANCELLED) interruption.check(error);
             fe_error_release(error);  // the reset has an own one
             check(without_gil([&] { return fe_queue_reset(self.get()); }));
           })
      .def(
          "supports",
          [](const Device& self, const Text& op, const py::sequence& dtypes) {
            std::vector<fe_dtype> ids;
            for (const py::object dtype : dtypes) ids.push_back(dtype_of(dtype));
            int answer = 0;
            check(without_gil_reading_environment(
                [&] { return fe_supports(self.get(), op.c_str(), ids.data(), ids.size(), &answer); }));
            return answer != 0;
          },
          argument("op"), argument("dtypes"))
      .def(
          "same_as",
          [](const Device& self, const Device& other) { return fe_device_equal(self.get(), other.get()) != 0; },
          argument("other"));
  module.def(
      "devices", [](bool unified) { return snapshot<fe_device, Device>(unified ? fe_devices : fe_device_views); },
      argument("unified"));
  module.def(
      "device_by_name",
      [](const Text& name, const py::object& backend) {
        fe_device* device = nullptr;
        const Text given = backend.is_none() ? Text() : text_of(backend);
        check(fe_device_by_name(name.c_str(), backend.is_none() ? nullptr : given.c_str(), &device));
        return Device(device);
      },
      argument("name"), argument_or_none("backend"));
  module.def("best_device", [] {
    fe_device* device = nullptr;
    check(fe_device_best(&device));
    if (device == nullptr) raise(FE_NOT_FOUND, "there is no device");
    return Device(device);
  });
}

}  // namespace

void bind_devices(py::module_& module) {
  bind_backend(module);
  bind_device(module);
  module.def("ops", [] { return json_of(fe_ops); });
  module.def("stats", [] {
    drain();
    return json_of(fe_stats);
  });
  module.def(
      "set_thread_count",
      [](uint32_t count) { check(without_gil_reading_environment([&] { return fe_set_thread_count(count); })); },
      argument("count"));
  module.def("thread_count", &fe_thread_count);
  module.def("version", [] { return std::string(fe_version()); });
}

}  // namespace ferrule::python
