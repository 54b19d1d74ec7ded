// Null and other invalid arguments of every slot: the slot must return an error with a message and not change its
// output parameters.
#include "conformance/argument_stage.h"

namespace ferrule::conformance {

std::string with_null(const char* slot, const char* argument) {
  return std::string(slot) + " with null for " + argument;
}

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
  refuse_null(report, "device_properties", "the backend",
              [&] { return s.b.device_properties(nullptr, 0, &properties); });
  refuse_null(report, "device_properties", "the result", [&] { return s.b.device_properties(s.b.self, 0, nullptr); });
}

void device_option(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_option)) throw NotApplicable{"it has no slot device_option"};
  fe_option_info info{};
  info.struct_size = sizeof info;
  refuse_null(report, "device_option", "the backend", [&] { return s.b.device_option(nullptr, 0, &info); });
  refuse_null(report, "device_option", "the result", [&] { return s.b.device_option(s.b.self, 0, nullptr); });
  refuse(report, "device_option of an option that is not there",
         [&] { return s.b.device_option(s.b.self, 1000, &info); });
}

void device_open(Stage& s, Report& report) {
  refuse_null_and_keep<fe_module_device>(report, "device_open", "the backend", [&](fe_module_device** out) {
    return s.b.device_open(nullptr, 0, nullptr, 0, out);
  });
  refuse_null(report, "device_open", "the result", [&] { return s.b.device_open(s.b.self, 0, nullptr, 0, nullptr); });
  refuse_null_and_keep<fe_module_device>(report, "device_open", "two options", [&](fe_module_device** out) {
    return s.b.device_open(s.b.self, 0, nullptr, 2, out);
  });
}

void device_memory(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_memory)) throw NotApplicable{"it has no slot device_memory"};
  uint64_t bytes = 0;
  refuse_null(report, "device_memory", "the device", [&] { return s.b.device_memory(nullptr, &bytes, &bytes); });
  refuse_null(report, "device_memory", "the free bytes", [&] { return s.b.device_memory(s.device, nullptr, &bytes); });
  refuse_null(report, "device_memory", "all bytes", [&] { return s.b.device_memory(s.device, &bytes, nullptr); });
}

void buffer_allocate(Stage& s, Report& report) {
  refuse_null_and_keep<fe_module_buffer>(report, "buffer_allocate", "the device", [&](fe_module_buffer** out) {
    return s.b.buffer_allocate(nullptr, 64, 64, out);
  });
  refuse_null(report, "buffer_allocate", "the result", [&] { return s.b.buffer_allocate(s.device, 64, 64, nullptr); });
  const auto refuse_size = [&](const std::string& what, uint64_t size, uint64_t alignment) {
    fe_module_buffer* out = sentinel<fe_module_buffer>();
    refuse(report, what, [&] { return s.b.buffer_allocate(s.device, size, alignment, &out); });
  };
  for (const uint64_t alignment : {0, 3})
    refuse_size("buffer_allocate with an alignment of " + std::to_string(alignment), 64, alignment);
  refuse_size("buffer_allocate of 2^62 bytes", uint64_t{1} << 62, 64);
}

void buffer_borrow(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, buffer_borrow)) throw NotApplicable{"it has no slot buffer_borrow"};
  alignas(4096) static std::array<char, 4096> memory;
  refuse_null_and_keep<fe_module_buffer>(report, "buffer_borrow", "the device", [&](fe_module_buffer** out) {
    return s.b.buffer_borrow(nullptr, memory.data(), memory.size(), FE_ACCESS_READ, out);
  });
  refuse_null_and_keep<fe_module_buffer>(report, "buffer_borrow", "the memory", [&](fe_module_buffer** out) {
    return s.b.buffer_borrow(s.device, nullptr, memory.size(), FE_ACCESS_READ, out);
  });
  refuse_null(report, "buffer_borrow", "the result",
              [&] { return s.b.buffer_borrow(s.device, memory.data(), memory.size(), FE_ACCESS_READ, nullptr); });
}

void queues(Stage& s, Report& report) {
  if (!s.opened.backend.has_queues()) throw NotApplicable{"it has no queues"};
  refuse_null_and_keep<fe_module_queue>(report, "queue_create", "the device", [&](fe_module_queue** out) {
    return s.b.queue_create(nullptr, FE_QUEUE_COMPUTE, out);
  });
  refuse_null(report, "queue_create", "the result",
              [&] { return s.b.queue_create(s.device, FE_QUEUE_COMPUTE, nullptr); });
  for (const int kind : {FE_QUEUE_DOWNLOAD + 1, 1000, -1})
    refuse_and_keep<fe_module_queue>(
        report, "queue_create of kind " + std::to_string(kind),
        [&](fe_module_queue** out) { return s.b.queue_create(s.device, static_cast<fe_queue_kind>(kind), out); });
  refuse_null(report, "queue_reset", "the queue", [&] { return s.b.queue_reset(nullptr); });
}

void events(Stage& s, Report& report) {
  if (!s.opened.backend.has_queues()) throw NotApplicable{"it has no queues"};
  refuse_null_and_keep<fe_module_event>(report, "event_record", "the queue",
                                        [&](fe_module_event** out) { return s.b.event_record(nullptr, out); });
  refuse_null(report, "event_record", "the result", [&] { return s.b.event_record(s.queue(), nullptr); });
  refuse_null(report, "event_wait", "the event", [&] { return s.b.event_wait(nullptr, 0); });
  const Event event(s.opened.device, s.queue());
  if (FE_HAS_SLOT(&s.b, queue_wait_event)) {
    refuse_null(report, "queue_wait_event", "the queue", [&] { return s.b.queue_wait_event(nullptr, event.handle()); });
    refuse_null(report, "queue_wait_event", "the event", [&] { return s.b.queue_wait_event(s.queue(), nullptr); });
  }
  if (!FE_HAS_SLOT(&s.b, event_time)) return;
  uint64_t ns = 0;
  refuse_null(report, "event_time", "the event", [&] { return s.b.event_time(nullptr, &ns); });
  refuse_null(report, "event_time", "the result", [&] { return s.b.event_time(event.handle(), nullptr); });
}

void compile(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  refuse_null_and_keep<fe_module_executable>(report, "compile", "the device", [&](fe_module_executable** out) {
    return s.b.compile(nullptr, &graph->view(), out);
  });
  refuse_null_and_keep<fe_module_executable>(
      report, "compile", "the view", [&](fe_module_executable** out) { return s.b.compile(s.device, nullptr, out); });
  refuse_null(report, "compile", "the result", [&] { return s.b.compile(s.device, &graph->view(), nullptr); });
}

void supports_slot(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  fe_requirements out{};
  out.struct_size = sizeof out;
  const auto refused = [&](const char* argument, const std::function<int()>& call) {
    report.now(with_null("supports", argument));
    if (call() != 0) report.problem(with_null("supports", argument) + " says yes");
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
  refuse_null(report, "prepare_size", "the device",
              [&] { return s.b.prepare_size(nullptr, view, 0, 0, &size, key.data(), key.size()); });
  refuse_null(report, "prepare_size", "the view",
              [&] { return s.b.prepare_size(s.device, nullptr, 0, 0, &size, key.data(), key.size()); });
  refuse_null(report, "prepare_size", "the size",
              [&] { return s.b.prepare_size(s.device, view, 0, 0, nullptr, key.data(), key.size()); });
  refuse_null(report, "prepare_size", "the key",
              [&] { return s.b.prepare_size(s.device, view, 0, 0, &size, nullptr, key.size()); });
  refuse(report, "prepare_size of a node that is not there",
         [&] { return s.b.prepare_size(s.device, view, 1, 0, &size, key.data(), key.size()); });
  refuse(report, "prepare_size of an input that is not there",
         [&] { return s.b.prepare_size(s.device, view, 0, 70, &size, key.data(), key.size()); });
  refuse_null(report, "prepare", "the device", [&] { return s.b.prepare(nullptr, view, 0, 0, &binding, &binding); });
  refuse_null(report, "prepare", "the view", [&] { return s.b.prepare(s.device, nullptr, 0, 0, &binding, &binding); });
  refuse_null(report, "prepare", "the source", [&] { return s.b.prepare(s.device, view, 0, 0, nullptr, &binding); });
  refuse_null(report, "prepare", "the target", [&] { return s.b.prepare(s.device, view, 0, 0, &binding, nullptr); });
  refuse_null(report, "prepare", "the source's buffer",
              [&] { return s.b.prepare(s.device, view, 0, 0, &empty, &binding); });
  refuse_null(report, "prepare", "the target's buffer",
              [&] { return s.b.prepare(s.device, view, 0, 0, &binding, &empty); });
}

void init_without_table(Stage& s, Report& report) {
  const Module& module = s.opened.module;
  const std::string what = with_null("init", "the table");
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
