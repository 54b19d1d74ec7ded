// Host API: traces.
#include "core/trace/trace.h"

#include "core/api/handles.h"

#include <optional>

using namespace ferrule;

struct fe_trace {
  explicit fe_trace(std::shared_ptr<TraceSession> begun) : session(std::move(begun)) {}
  const std::shared_ptr<TraceSession> session;
  mutable LongMutex mutex;
  std::optional<TraceSession::Result> result;  // set when it has ended
};

namespace {

template <class Function>
fe_error* with_result(const fe_trace* trace, const char* function, const Function& use) {
  return guarded([&] {
    const std::scoped_lock lock(given(trace, function, "trace").mutex);
    if (!trace->result) fail_argument("{}: the trace is still being recorded; call fe_trace_end", function);
    use(*trace->result);
  });
}

}  // namespace

extern "C" {

const char* fe_trace_kind_name(fe_trace_kind kind) {
  static constexpr const char* names[] = {"record",  "compile", "pass",     "evaluate", "submit",
                                          "segment", "kernel",  "transfer", "wait"};
  const auto number = static_cast<std::size_t>(kind);
  return number < std::size(names) ? names[number] : nullptr;
}

fe_error* fe_trace_begin(size_t max_events, fe_trace** out) {
  return guarded([&] {
    fe_trace*& place = given(out, "trace_begin", "out");
    if (max_events == 0) fail_argument("trace_begin: max_events is 0, and must be at least 1");
    place = std::make_unique<fe_trace>(TraceSession::begin(max_events)).release();
  });
}

fe_error* fe_trace_end(fe_trace* trace) {
  return guarded([&] {
    const std::scoped_lock lock(given(trace, "trace_end", "trace").mutex);
    if (!trace->result) trace->result = trace->session->end();
  });
}

void fe_trace_release(fe_trace* trace) { delete trace; }

fe_error* fe_trace_info_get(const fe_trace* trace, fe_trace_info* out) {
  return with_result(trace, "trace_info", [&](const TraceSession::Result& result) {
    fe_trace_info info{};
    info.event_count = result.events.size();
    info.dropped = result.dropped;
    info.begin_ns = result.begin_ns;
    info.end_ns = result.end_ns;
    fill_struct("trace_info", out, info);
  });
}

fe_error* fe_trace_event_get(const fe_trace* trace, size_t index, fe_trace_event* out) {
  return with_result(trace, "trace_event", [&](const TraceSession::Result& result) {
    if (index >= result.events.size()) fail_argument("trace_event: index is {}, of {}", index, result.events.size());
    const TraceEvent& event = result.events[index];
    const TraceLabel& label = *event.label;
    fe_trace_event info{};
    info.kind = event.kind;
    info.queue = event.queue;
    info.thread = event.thread;
    info.begin_ns = event.begin_ns;
    info.end_ns = event.end_ns;
    info.bytes_read = label.bytes_read;
    info.bytes_written = label.bytes_written;
    info.name = label.name.c_str();
    info.detail = label.detail.c_str();
    info.kernel = label.kernel.c_str();
    info.device = label.device.c_str();
    fill_struct("trace_event", out, info);
  });
}
}
