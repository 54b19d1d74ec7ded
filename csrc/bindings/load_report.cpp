#include "load_report.h"

#include "module_parts.h"

namespace ferrule::python {
namespace {

using namespace py::literals;

py::list list_of(const char* const* texts, std::size_t count) {
  py::list list(count);
  for (std::size_t i = 0; i < count; ++i) list[i] = decoded(texts[i]);
  return list;
}

py::object number_or_none(int32_t has_number, int32_t number) {
  return has_number != 0 ? py::object(py::int_(number)) : py::object(py::none());
}

py::dict dict_of(const fe_load_times& times) {
  return py::dict("find"_a = times.find, "read"_a = times.read, "hash"_a = times.hash, "probe"_a = times.probe,
                  "open"_a = times.open, "init"_a = times.init);
}

py::dict dict_of(const fe_load_root& root) {
  return py::dict("path"_a = decoded(root.path), "origin"_a = decoded(root.origin), "candidates"_a = root.candidates,
                  "problem"_a = decoded(root.problem));
}

py::dict dict_of(const fe_load_candidate& of) {
  const fe_load_times& times = of.times;
  return py::dict("path"_a = decoded(of.path), "root"_a = decoded(of.root), "name"_a = decoded(of.name),
                  "variant"_a = decoded(of.variant), "version"_a = decoded(of.version),
                  "state"_a = decoded(fe_load_state_name(of.state)), "reason"_a = decoded(of.reason),
                  "rank"_a = number_or_none(of.has_rank, of.rank), "score"_a = number_or_none(of.has_score, of.score),
                  "devices"_a = list_of(of.devices, of.device_count), "probed"_a = decoded(of.probed),
                  "notes"_a = list_of(of.notes, of.note_count), "output"_a = decoded(of.output),
                  "files"_a = list_of(of.files, of.file_count), "times"_a = dict_of(times),
                  "milliseconds"_a = times.find + times.read + times.hash + times.probe + times.open + times.init);
}

// The elements of a list of the report, each read by `get(report, index, &element)`.
template <class Element>
py::list rows(const fe_load_report* report, std::size_t count,
              fe_error* (*get)(const fe_load_report*, std::size_t, Element*)) {
  py::list list(count);
  for (std::size_t i = 0; i < count; ++i)
    list[i] = dict_of(filled<Element>([&](Element* out) { return get(report, i, out); }));
  return list;
}

py::list remaining(const fe_load_report* report, std::size_t count) {
  py::list list(count);
  for (std::size_t i = 0; i < count; ++i) {
    const char *path = nullptr, *reason = nullptr;
    check(fe_load_report_remaining(report, i, &path, &reason));
    list[i] = py::dict("path"_a = decoded(path), "reason"_a = decoded(reason));
  }
  return list;
}

fe_load_report_info info_of(const fe_load_report* report) {
  return filled<fe_load_report_info>([&](fe_load_report_info* out) { return fe_load_report_info_get(report, out); });
}

}  // namespace

std::string LoadReport::format(const Text& name) const {
  fe_string* text = nullptr;
  check(fe_load_report_format(handle_.get(), name.c_str(), &text));
  return take_text(text);
}

std::string LoadReport::explain(const Text& name, const std::vector<std::string>& versions) const {
  const std::size_t count = info_of(handle_.get()).candidate_count;
  if (versions.size() != count)
    raise(FE_INVALID_ARGUMENT,
          "there are " + std::to_string(versions.size()) + " versions for " + std::to_string(count) + " candidates");
  std::vector<const char*> pointers;
  pointers.reserve(versions.size());
  for (const std::string& version : versions) pointers.push_back(version.c_str());
  fe_string* text = nullptr;
  check(fe_load_report_explain(handle_.get(), name.c_str(), pointers.data(), &text));
  return take_text(text);
}

py::dict LoadReport::data() const {
  const fe_load_report* const report = handle_.get();
  const fe_load_report_info info = info_of(report);
  return py::dict("roots"_a = rows(report, info.root_count, fe_load_report_root),
                  "candidates"_a = rows(report, info.candidate_count, fe_load_report_candidate),
                  "remaining"_a = remaining(report, info.remaining_count),
                  "policy"_a = py::dict("select"_a = decoded(info.select), "probe"_a = decoded(info.probe),
                                        "trust"_a = decoded(info.trust)),
                  "times"_a = dict_of(info.times), "milliseconds"_a = info.milliseconds);
}

void bind_load_report(py::module_& module) {
  bound_class<LoadReport>(module, "LoadReport")
      .def("format", &LoadReport::format, argument("name"))
      .def("explain", &LoadReport::explain, argument("name"), argument("versions"))
      .def("data", &LoadReport::data);
}

}  // namespace ferrule::python
