// Null and other invalid arguments of every slot: the slot must return an error with a message and not change its
// output parameters.
#include "conformance/argument_stage.h"

namespace ferrule::conformance {

void refuse(Report& report, const std::string& what, const std::function<fe_error*()>& call) {
  report.now(what);
  expect_error(report, take(call()), what);
}

std::string BadRange::text() const {
  return std::to_string(size) + " bytes from byte " + std::to_string(offset) + " of 64";
}

namespace {

void device_properties(Stage& s, Report& report) {
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  refuse_nulls(report, "device_properties", s.b.device_properties, {"the backend", "", "the result"}, s.b.self, 0,
               &properties);
}

void device_option(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_option)) throw NotApplicable{"it has no slot device_option"};
  fe_option_info info{};
  info.struct_size = sizeof info;
  refuse_nulls(report, "device_option", s.b.device_option, {"the backend", "", "the result"}, s.b.self, 0, &info);
  refuse(report, "device_option of an option that is not there",
         [&] { return s.b.device_option(s.b.self, 1000, &info); });
}

void device_open(Stage& s, Report& report) {
  fe_module_device* out = nullptr;
  refuse_nulls(report, "device_open", s.b.device_open, {"the backend", "", "", "", "the result"}, s.b.self, 0, nullptr,
               0, &out);
  const fe_option option{sizeof option, "key", "value"};
  refuse_nulls(report, "device_open", s.b.device_open, {"", "", "two options", "", ""}, s.b.self, 0, &option, 2, &out);
}

void device_memory(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_memory)) throw NotApplicable{"it has no slot device_memory"};
  uint64_t bytes = 0;
  refuse_nulls(report, "device_memory", s.b.device_memory, {"the device", "the free bytes", "all bytes"}, s.device,
               &bytes, &bytes);
}

void buffer_allocate(Stage& s, Report& report) {
  fe_module_buffer* out = nullptr;
  refuse_nulls(report, "buffer_allocate", s.b.buffer_allocate, {"the device", "", "", "the result"}, s.device, 64, 64,
               &out);
  const auto refuse_size = [&](const std::string& what, uint64_t size, uint64_t alignment) {
    refuse(report, what, [&] { return s.b.buffer_allocate(s.device, size, alignment, &out); });
  };
  for (const uint64_t alignment : {0, 3})
    refuse_size("buffer_allocate with an alignment of " + std::to_string(alignment), 64, alignment);
  refuse_size("buffer_allocate of 2^62 bytes", uint64_t{1} << 62, 64);
}

void buffer_borrow(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, buffer_borrow)) throw NotApplicable{"it has no slot buffer_borrow"};
  alignas(4096) static std::array<char, 4096> memory;
  fe_module_buffer* out = nullptr;
  refuse_nulls(report, "buffer_borrow", s.b.buffer_borrow, {"the device", "the memory", "", "", "the result"}, s.device,
               memory.data(), memory.size(), FE_ACCESS_READ, &out);
}

void queues(Stage& s, Report& report) {
  if (!s.opened.backend.has_queues()) throw NotApplicable{"it has no queues"};
  fe_module_queue* out = nullptr;
  refuse_nulls(report, "queue_create", s.b.queue_create, {"the device", "", "the result"}, s.device, FE_QUEUE_COMPUTE,
               &out);
  for (const int kind : {FE_QUEUE_DOWNLOAD + 1, 1000, -1})
    refuse_and_keep<fe_module_queue>(report, "queue_create of kind " + std::to_string(kind), [&](fe_module_queue** to) {
      return s.b.queue_create(s.device, static_cast<fe_queue_kind>(kind), to);
    });
  refuse_nulls(report, "queue_reset", s.b.queue_reset, {"the queue"}, s.queue());
}

void events(Stage& s, Report& report) {
  if (!s.opened.backend.has_queues()) throw NotApplicable{"it has no queues"};
  fe_module_event* out = nullptr;
  refuse_nulls(report, "event_record", s.b.event_record, {"the queue", "the result"}, s.queue(), &out);
  const Event event(s.opened.device, s.queue());
  refuse_nulls(report, "event_wait", s.b.event_wait, {"the event", ""}, event.handle(), 0);
  if (FE_HAS_SLOT(&s.b, queue_wait_event))
    refuse_nulls(report, "queue_wait_event", s.b.queue_wait_event, {"the queue", "the event"}, s.queue(),
                 event.handle());
  uint64_t ns = 0;
  if (FE_HAS_SLOT(&s.b, event_time))
    refuse_nulls(report, "event_time", s.b.event_time, {"the event", "the result"}, event.handle(), &ns);
}

void compile(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  fe_module_executable* out = nullptr;
  refuse_nulls(report, "compile", s.b.compile, {"the device", "the view", "the result"}, s.device, &graph->view(),
               &out);
}

void supports_slot(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  fe_requirements out{};
  out.struct_size = sizeof out;
  const auto refused = [&](const char* argument, const std::function<int()>& call) {
    report.now(std::string("supports with null for ") + argument);
    if (call() != 0) report.problem(std::string("supports with null for ") + argument + " says yes");
  };
  refused("the device", [&] { return s.b.supports(nullptr, &graph->view(), 0, &out); });
  refused("the view", [&] { return s.b.supports(s.device, nullptr, 0, &out); });
  refused("the result", [&] { return s.b.supports(s.device, &graph->view(), 0, nullptr); });
  report.now("supports of a node that is not there");
  if (s.b.supports(s.device, &graph->view(), 1, &out) != 0) report.problem("supports says yes to node 1 of 1");
}

void prepare(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, prepare_size) || !FE_HAS_SLOT(&s.b, prepare)) throw NotApplicable{"it prepares no constants"};
  const auto graph = graph_of(samples().front());
  const fe_graph_view* const view = &graph->view();
  const Buffer buffer(s.opened.device, 4096);
  const fe_binding binding{sizeof(fe_binding), buffer.handle(), 0, 1}, empty{sizeof(fe_binding), nullptr, 0, 1};
  uint64_t size = 0;
  std::array<char, 128> key{};
  refuse_nulls(report, "prepare_size", s.b.prepare_size, {"the device", "the view", "", "", "the size", "the key", ""},
               s.device, view, 0, 0, &size, key.data(), key.size());
  refuse(report, "prepare_size of a node that is not there",
         [&] { return s.b.prepare_size(s.device, view, 1, 0, &size, key.data(), key.size()); });
  refuse(report, "prepare_size of an input that is not there",
         [&] { return s.b.prepare_size(s.device, view, 0, 70, &size, key.data(), key.size()); });
  refuse_nulls(report, "prepare", s.b.prepare, {"the device", "the view", "", "", "the source", "the target"}, s.device,
               view, 0, 0, &binding, &binding);
  refuse(report, "prepare with null for the source's buffer",
         [&] { return s.b.prepare(s.device, view, 0, 0, &empty, &binding); });
  refuse(report, "prepare with null for the target's buffer",
         [&] { return s.b.prepare(s.device, view, 0, 0, &binding, &empty); });
}

void init_without_table(Stage& s, Report& report) {
  const Module& module = s.opened.module;
  const std::string what = "init with null for the table";
  report.now(what);
  expect_error(report, module.init_nothing(), what);
}

constexpr std::array cases = {
    ArgumentCase{"init", init_without_table},
    ArgumentCase{"device_properties", device_properties},
    ArgumentCase{"device_option", device_option},
    ArgumentCase{"device_open", device_open},
    ArgumentCase{"device_memory", device_memory},
    ArgumentCase{"buffer_allocate", buffer_allocate},
    ArgumentCase{"buffer_borrow", buffer_borrow},
    ArgumentCase{"queues", queues},
    ArgumentCase{"events", events},
    ArgumentCase{"supports", supports_slot},
    ArgumentCase{"compile", compile},
    ArgumentCase{"prepare", prepare},
};

void run(const Subject& subject, Report& report, const void* argument) {
  Stage stage(subject);
  static_cast<const ArgumentCase*>(argument)->run(stage, report);
}

}  // namespace

void add_argument_cases(Checks& checks, std::span<const ArgumentCase> added) {
  for (const ArgumentCase& one : added)
    checks.push_back({std::string("arguments.") + one.name, "arguments that no slot takes are errors", run, &one});
}

void add_null_argument_checks(Checks& checks) { add_argument_cases(checks, cases); }

}  // namespace ferrule::conformance
