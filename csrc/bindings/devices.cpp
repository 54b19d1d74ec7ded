// Backends, devices, and information about the process.
#include "environment.h"
#include "handles.h"
#include "interruption.h"
#include "python_references.h"
#include "text.h"
#include "values.h"

#include "module_parts.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ferrule::python {
namespace {

using namespace py::literals;

constexpr std::pair<uint32_t, const char*> capability_names[] = {{FE_CAPABILITY_ASYNCHRONOUS, "asynchronous"},
                                                                 {FE_CAPABILITY_EVENTS, "events"},
                                                                 {FE_CAPABILITY_HOST_BUFFERS, "host_buffers"},
                                                                 {FE_CAPABILITY_BORROWS, "borrows"}};

// The functions below call the core without the GIL: it may wait for a lock whose holder calls a module, and a function
// of the module or a callback that it calls may need the GIL. Listing devices also reads the environment.
template <class Struct, class Get>
Struct filled_without_gil(Get get) {
  return filled<Struct>([&](Struct* out) { return without_gil([&] { return get(out); }); });
}

// The structs that `get(index, &made)` fills, up to the first index that is not found.
template <class Struct, class Get>
std::vector<Struct> all_of(Get get) {
  std::vector<Struct> list;
  for (std::size_t i = 0;; ++i) {
    Struct made{};
    made.struct_size = sizeof made;
    fe_error* const error = without_gil([&] { return get(i, &made); });
    if (error != nullptr && fe_error_code(error) == FE_NOT_FOUND) {
      fe_error_release(error);
      return list;
    }
    check(error);
    list.push_back(made);
  }
}

template <class Handle, class Owner>
std::vector<Owner> snapshot(auto list) {
  Handle** handles = nullptr;
  std::size_t count = 0;
  check(without_gil_reading_environment([&] { return list(&handles, &count); }));
  std::vector<Owner> owners;
  owners.reserve(count);
  for (std::size_t i = 0; i < count; ++i) owners.emplace_back(handles[i]);
  fe_list_free(static_cast<void*>(handles));
  return owners;
}

// The device that `find(&device)` gives.
template <class Find>
Device found(Find find) {
  fe_device* device = nullptr;
  check(without_gil_reading_environment([&] { return find(&device); }));
  return Device(device);
}

py::object bytes_or_none(uint64_t bytes) {
  return bytes == UINT64_MAX ? py::object(py::none()) : py::object(py::int_(bytes));
}

fe_backend_details details_of(const Backend& backend) {
  return filled_without_gil<fe_backend_details>(
      [&](fe_backend_details* out) { return fe_backend_details_get(backend.get(), out); });
}

py::dict backend_info(const Backend& backend) {
  const fe_backend_details details = details_of(backend);
  const auto reported = all_of<fe_feature>(
      [&](std::size_t index, fe_feature* out) { return fe_backend_feature(backend.get(), index, out); });
  py::dict features;
  for (const fe_feature& feature : reported) features[decoded(feature.name)] = decoded(feature.value);
  py::dict info("name"_a = decoded(details.name), "variant"_a = decoded(details.variant),
                "version"_a = decoded(details.version), "path"_a = decoded(details.path),
                "static"_a = std::string_view(details.path) == "static", "closed"_a = details.closed != 0);
  if (details.has_rank != 0) info["rank"] = details.rank;
  info["features"] = features;
  return info;
}

std::vector<Backend> backends_of(const Device& device) {
  return snapshot<fe_backend_ref, Backend>(
      [&](fe_backend_ref*** out, std::size_t* count) { return fe_device_backends(device.get(), out, count); });
}

fe_device_details details_of(const Device& device) {
  return filled<fe_device_details>([&](fe_device_details* out) { return fe_device_details_get(device.get(), out); });
}

// "00112233-4455-6677-8899-aabbccddeeff"
std::string uuid_text(const uint8_t (&uuid)[16]) {
  static constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += {digits[uuid[i] / 16], digits[uuid[i] % 16]};
  }
  return text;
}

py::dict device_info(const Device& device) {
  const fe_device_details details = details_of(device);
  py::list backends, capabilities, options;
  for (const Backend& backend : backends_of(device)) backends.append(decoded(details_of(backend).name));
  for (const auto& [bit, name] : capability_names)
    if ((details.capabilities & bit) != 0) capabilities.append(name);
  const auto known = all_of<fe_option_info>(
      [&](std::size_t index, fe_option_info* out) { return fe_device_option(device.get(), index, out); });
  for (const fe_option_info& option : known)
    options.append(
        py::dict("key"_a = decoded(option.key), "type"_a = decoded(option.type), "doc"_a = decoded(option.doc)));
  return py::dict(
      "name"_a = decoded(fe_device_name(device.get())), "kind"_a = decoded(fe_device_kind_name(details.kind)),
      "index"_a = details.index, "description"_a = decoded(details.description), "detail"_a = decoded(details.detail),
      "backend"_a = decoded(details.backend), "backends"_a = backends,
      "host_memory"_a = (details.capabilities & FE_CAPABILITY_HOST_BUFFERS) != 0, "capabilities"_a = capabilities,
      "total_memory"_a = details.total_memory, "max_allocation"_a = details.max_allocation,
      "borrow_alignment"_a = details.borrow_alignment,
      "uuid"_a = details.has_uuid != 0 ? py::object(py::str(uuid_text(details.uuid))) : py::object(py::none()),
      "pci_address"_a = decoded(details.pci_address), "open"_a = details.open != 0, "options"_a = options);
}

// Keys and values are texts.
void open(const Device& device, const py::dict& options) {
  std::vector<std::pair<Text, Text>> texts;
  for (const auto& [key, value] : options) texts.emplace_back(text_of(key), text_of(value));
  std::vector<fe_option> list;
  list.reserve(texts.size());
  for (const auto& [key, value] : texts) list.push_back({sizeof(fe_option), key.c_str(), value.c_str()});
  check(without_gil_reading_environment([&] { return fe_device_open(device.get(), list.data(), list.size()); }));
}

py::tuple memory_stats(const Device& device) {
  drain();
  const auto stats =
      filled_without_gil<fe_memory_stats>([&](fe_memory_stats* out) { return fe_memory_stats_get(device.get(), out); });
  return py::make_tuple(stats.live, stats.cached, stats.prepared, stats.borrowed, stats.peak);
}

py::dict stats() {
  drain();
  const auto counters = filled_without_gil<fe_stats>(fe_stats_get);
  return py::dict("compiles"_a = counters.compiles, "executions"_a = counters.executions,
                  "cache_hits"_a = counters.cache_hits, "transfers"_a = counters.transfers,
                  "threads"_a = counters.threads);
}

fe_error* synchronize(const Device& device, Interruption& interruption) {
  return without_gil([&] { return fe_synchronize(device.get(), Interruption::poll, &interruption); });
}

void bind_backend(py::module_& module) {
  bound_class<Backend>(module, "Backend")
      .def_property_readonly("name", [](const Backend& self) { return decoded(details_of(self).name); })
      .def_property_readonly("variant", [](const Backend& self) { return decoded(details_of(self).variant); })
      .def_property_readonly("version", [](const Backend& self) { return decoded(details_of(self).version); })
      .def_property_readonly("path", [](const Backend& self) { return decoded(details_of(self).path); })
      .def("info", &backend_info)
      .def(
          "proc",
          [](const Backend& self, const Text& name) -> py::object {
            fe_proc function = nullptr;
            check(without_gil([&] { return fe_backend_get_proc(self.get(), name.c_str(), &function); }));
            if (function == nullptr) return py::none();
            return py::int_(reinterpret_cast<uintptr_t>(function));
          },
          argument("name"));
  module.def("backends", [] { return snapshot<fe_backend_ref, Backend>(fe_backends); });
}

void bind_device(py::module_& module) {
  bound_class<Device>(module, "Device")
      .def_property_readonly("name", [](const Device& self) { return std::string(fe_device_name(self.get())); })
      .def_property_readonly("kind", [](const Device& self) { return fe_device_kind_name(details_of(self).kind); })
      .def("info", &device_info)
      .def_property_readonly("id", [](const Device& self) { return fe_device_id(self.get()); })
      .def("backends", &backends_of)
      .def(
          "view",
          [](const Device& self, const Text& backend) {
            return found([&](fe_device** out) { return fe_device_view(self.get(), backend.c_str(), out); });
          },
          argument("backend"))
      .def("backend",
           [](const Device& self) {
             fe_backend_ref* backend = nullptr;
             check(fe_device_backend(self.get(), &backend));
             return Backend(backend);
           })
      .def("open", &open, argument("options"))
      .def("memory",
           [](const Device& self) {
             uint64_t free = UINT64_MAX, total = UINT64_MAX;
             check(without_gil([&] { return fe_device_memory(self.get(), &free, &total); }));
             return py::make_tuple(bytes_or_none(free), bytes_or_none(total));
           })
      .def("memory_stats", &memory_stats)
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
        const Text given = backend.is_none() ? Text() : text_of(backend);
        const char* const view = backend.is_none() ? nullptr : given.c_str();
        return found([&](fe_device** out) { return fe_device_by_name(name.c_str(), view, out); });
      },
      argument("name"), argument_or_none("backend"));
  module.def("best_device", [] { return found(fe_device_best); });
}

}  // namespace

void bind_devices(py::module_& module) {
  bind_backend(module);
  bind_device(module);
  module.def("stats", &stats);
  module.def(
      "set_thread_count",
      [](uint32_t count) { check(without_gil_reading_environment([&] { return fe_set_thread_count(count); })); },
      argument("count"));
  module.def("thread_count", &fe_thread_count);
  module.def("version", [] { return std::string(fe_version()); });
}

}  // namespace ferrule::python
