// Traces.
#include "handles.h"
#include "text.h"

#include "module_parts.h"

#include <cstddef>
#include <string_view>
#include <unordered_map>

namespace ferrule::python {
namespace {

class Trace : public BoundClass {
 public:
  explicit Trace(std::size_t max_events) {
    fe_trace* trace = nullptr;
    check(fe_trace_begin(max_events, &trace));
    handle_.reset(trace);
  }

  void end() const {
    check(without_gil([&] { return fe_trace_end(handle_.get()); }));
  }

  // Returns (begin, end, dropped); times in ns.
  py::tuple info() const {
    const fe_trace_info info = read_info();
    return py::make_tuple(info.begin_ns, info.end_ns, info.dropped);
  }

  // Returns (kind, name, detail, kernel, device, queue, thread, begin, end, bytes read, bytes written) of each event.
  py::list events() const {
    const std::size_t count = read_info().event_count;
    std::unordered_map<std::string_view, py::str> texts;  // most texts occur many times
    const auto text = [&](const char* words) {
      const auto found = texts.find(words);
      return found != texts.end() ? found->second : texts.emplace(words, decoded(words)).first->second;
    };
    py::list events;
    for (std::size_t i = 0; i < count; ++i) {
      const auto event =
          filled<fe_trace_event>([&](fe_trace_event* out) { return fe_trace_event_get(handle_.get(), i, out); });
      events.append(py::make_tuple(text(fe_trace_kind_name(event.kind)), text(event.name), text(event.detail),
                                   text(event.kernel), text(event.device), event.queue, event.thread, event.begin_ns,
                                   event.end_ns, event.bytes_read, event.bytes_written));
    }
    return events;
  }

 private:
  // Waits for end() of another thread, which asks modules for the times of their work.
  fe_trace_info read_info() const {
    return filled<fe_trace_info>(
        [this](fe_trace_info* out) { return without_gil([&] { return fe_trace_info_get(handle_.get(), out); }); });
  }

  TraceHandle handle_;
};

}  // namespace

void bind_traces(py::module_& module) {
  bound_class<Trace>(module, "Trace")
      .def(py::init<std::size_t>(), argument("max_events"))
      .def("end", &Trace::end)
      .def("info", &Trace::info)
      .def("events", &Trace::events);
}

}  // namespace ferrule::python
