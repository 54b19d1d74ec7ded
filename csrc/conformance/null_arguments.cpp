// Every argument of every slot that the header does not allow to be null, and other arguments that no core gives: an
// error with a sentence, and what was to be filled stays as it was.
#include "conformance/graph.h"

#include <array>
#include <functional>

namespace ferrule::conformance {
namespace {

// What the slots are called with.
struct Stage {
  explicit Stage(const Subject& subject) : opened(subject), b(opened.backend.table()), device(opened.device.handle()) {}
  Opened opened;
  const fe_backend& b;
  fe_module_device* device;
  fe_module_queue* queue() const { return opened.device.queue(); }
  std::string sentence(const char* slot, const char* argument) const {
    return std::string(slot) + " with null for " + argument;
  }
};

using Calls = void (*)(Stage&, Report&);

template <class Handle>
Handle* sentinel() {
  static std::array<char, 64> nothing{};
  return reinterpret_cast<Handle*>(nothing.data());
}

// Calls with null in the argument's place: an error is right, anything else is not.
void refuse(Stage& stage, Report& report, const char* slot, const char* argument,
            const std::function<fe_error*()>& call) {
  const std::string what = stage.sentence(slot, argument);
  report.now(what);
  expect_error(report, take(call()), what);
}

// The same, and the place for the result stays as it was.
template <class Handle>
void refuse_and_keep(Stage& stage, Report& report, const char* slot, const char* argument,
                     const std::function<fe_error*(Handle**)>& call) {
  Handle* out = sentinel<Handle>();
  refuse(stage, report, slot, argument, [&] { return call(&out); });
  if (out != sentinel<Handle>()) report.problem(stage.sentence(slot, argument) + " changes what was to be filled");
}

void device_properties(Stage& s, Report& report) {
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  refuse(s, report, "device_properties", "the backend", [&] { return s.b.device_properties(nullptr, 0, &properties); });
  refuse(s, report, "device_properties", "the result", [&] { return s.b.device_properties(s.b.self, 0, nullptr); });
}

void device_option(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_option)) throw NotApplicable{"it has no slot device_option"};
  fe_option_info info{};
  info.struct_size = sizeof info;
  refuse(s, report, "device_option", "the backend", [&] { return s.b.device_option(nullptr, 0, &info); });
  refuse(s, report, "device_option", "the result", [&] { return s.b.device_option(s.b.self, 0, nullptr); });
  report.now("device_option of an option that is not there");
  expect_error(report, take(s.b.device_option(s.b.self, 1000, &info)), "device_option of an option that is not there");
}

void device_open(Stage& s, Report& report) {
  refuse_and_keep<fe_module_device>(s, report, "device_open", "the backend", [&](fe_module_device** out) {
    return s.b.device_open(nullptr, 0, nullptr, 0, out);
  });
  refuse(s, report, "device_open", "the result", [&] { return s.b.device_open(s.b.self, 0, nullptr, 0, nullptr); });
  refuse_and_keep<fe_module_device>(s, report, "device_open", "two options", [&](fe_module_device** out) {
    return s.b.device_open(s.b.self, 0, nullptr, 2, out);
  });
}

void device_memory(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, device_memory)) throw NotApplicable{"it has no slot device_memory"};
  uint64_t bytes = 0;
  refuse(s, report, "device_memory", "the device", [&] { return s.b.device_memory(nullptr, &bytes, &bytes); });
  refuse(s, report, "device_memory", "the free bytes", [&] { return s.b.device_memory(s.device, nullptr, &bytes); });
  refuse(s, report, "device_memory", "all bytes", [&] { return s.b.device_memory(s.device, &bytes, nullptr); });
}

void buffer_allocate(Stage& s, Report& report) {
  refuse_and_keep<fe_module_buffer>(s, report, "buffer_allocate", "the device",
                                    [&](fe_module_buffer** out) { return s.b.buffer_allocate(nullptr, 64, 64, out); });
  refuse(s, report, "buffer_allocate", "the result", [&] { return s.b.buffer_allocate(s.device, 64, 64, nullptr); });
  for (const uint64_t alignment : {0, 3}) {
    const std::string what = "buffer_allocate with an alignment of " + std::to_string(alignment);
    fe_module_buffer* out = sentinel<fe_module_buffer>();
    report.now(what);
    expect_error(report, take(s.b.buffer_allocate(s.device, 64, alignment, &out)), what);
  }
  const std::string what = "buffer_allocate of 2^62 bytes";
  fe_module_buffer* out = sentinel<fe_module_buffer>();
  report.now(what);
  expect_error(report, take(s.b.buffer_allocate(s.device, uint64_t{1} << 62, 64, &out)), what);
}

void buffer_borrow(Stage& s, Report& report) {
  if (!FE_HAS_SLOT(&s.b, buffer_borrow)) throw NotApplicable{"it has no slot buffer_borrow"};
  alignas(4096) static std::array<char, 4096> memory;
  refuse_and_keep<fe_module_buffer>(s, report, "buffer_borrow", "the device", [&](fe_module_buffer** out) {
    return s.b.buffer_borrow(nullptr, memory.data(), memory.size(), FE_ACCESS_READ, out);
  });
  refuse_and_keep<fe_module_buffer>(s, report, "buffer_borrow", "the memory", [&](fe_module_buffer** out) {
    return s.b.buffer_borrow(s.device, nullptr, memory.size(), FE_ACCESS_READ, out);
  });
  refuse(s, report, "buffer_borrow", "the result",
         [&] { return s.b.buffer_borrow(s.device, memory.data(), memory.size(), FE_ACCESS_READ, nullptr); });
}

void queues(Stage& s, Report& report) {
  if (!s.opened.backend.has_queues()) throw NotApplicable{"it has no queues"};
  refuse_and_keep<fe_module_queue>(s, report, "queue_create", "the device",
                                   [&](fe_module_queue** out) { return s.b.queue_create(nullptr, out); });
  refuse(s, report, "queue_create", "the result", [&] { return s.b.queue_create(s.device, nullptr); });
  if (FE_HAS_SLOT(&s.b, queue_reset))
    refuse(s, report, "queue_reset", "the queue", [&] { return s.b.queue_reset(nullptr); });
  refuse_and_keep<fe_module_event>(s, report, "event_record", "the queue",
                                   [&](fe_module_event** out) { return s.b.event_record(nullptr, out); });
  refuse(s, report, "event_record", "the result", [&] { return s.b.event_record(s.queue(), nullptr); });
  refuse(s, report, "event_wait", "the event", [&] { return s.b.event_wait(nullptr, 0); });
}

void copies(Stage& s, Report& report) {
  const Buffer one(s.opened.device, 64), two(s.opened.device, 64);
  std::array<char, 64> memory{};
  const auto try_all = [&](const char* what, fe_module_device* device, fe_module_queue* queue, fe_module_buffer* from,
                           fe_module_buffer* to, char* host, uint64_t offset, uint64_t size) {
    if (to && host)
      refuse(s, report, "copy_from_host", what,
             [&] { return s.b.copy_from_host(device, queue, to, offset, host, size); });
    if (from && host)
      refuse(s, report, "copy_to_host", what,
             [&] { return s.b.copy_to_host(device, queue, host, from, offset, size); });
    if (from && to) refuse(s, report, "copy", what, [&] { return s.b.copy(device, queue, to, offset, from, 0, size); });
  };
  try_all("the device", nullptr, s.queue(), one.handle(), two.handle(), memory.data(), 0, 64);
  if (s.queue()) try_all("the queue", s.device, nullptr, one.handle(), two.handle(), memory.data(), 0, 64);
  refuse(s, report, "copy_from_host", "the buffer",
         [&] { return s.b.copy_from_host(s.device, s.queue(), nullptr, 0, memory.data(), 64); });
  refuse(s, report, "copy_from_host", "the host's memory",
         [&] { return s.b.copy_from_host(s.device, s.queue(), one.handle(), 0, nullptr, 64); });
  refuse(s, report, "copy_to_host", "the buffer",
         [&] { return s.b.copy_to_host(s.device, s.queue(), memory.data(), nullptr, 0, 64); });
  refuse(s, report, "copy_to_host", "the host's memory",
         [&] { return s.b.copy_to_host(s.device, s.queue(), nullptr, one.handle(), 0, 64); });
  refuse(s, report, "copy", "the target",
         [&] { return s.b.copy(s.device, s.queue(), nullptr, 0, one.handle(), 0, 64); });
  refuse(s, report, "copy", "the source",
         [&] { return s.b.copy(s.device, s.queue(), one.handle(), 0, nullptr, 0, 64); });
}

void copies_out_of_range(Stage& s, Report& report) {
  const Buffer one(s.opened.device, 64), two(s.opened.device, 64);
  std::vector<char> memory(4096);
  const auto refused = [&](const std::string& what, fe_error* error) { expect_error(report, take(error), what); };
  const struct { uint64_t offset, size; } ranges[] = {{0, 65}, {64, 1}, {1, 64}, {UINT64_MAX, 1}, {UINT64_MAX - 7, 16}};
  for (const auto& [offset, size] : ranges) {
    const std::string range = std::to_string(size) + " bytes from byte " + std::to_string(offset) + " of 64";
    report.now("a copy of " + range);
    refused("copy_from_host to " + range,
            s.b.copy_from_host(s.device, s.queue(), one.handle(), offset, memory.data(), size));
    refused("copy_to_host of " + range,
            s.b.copy_to_host(s.device, s.queue(), memory.data(), one.handle(), offset, size));
    refused("copy to " + range, s.b.copy(s.device, s.queue(), one.handle(), offset, two.handle(), 0, size));
    refused("copy of " + range, s.b.copy(s.device, s.queue(), one.handle(), 0, two.handle(), offset, size));
  }
}

void compile(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  refuse_and_keep<fe_module_executable>(s, report, "compile", "the device", [&](fe_module_executable** out) {
    return s.b.compile(nullptr, &graph->view(), out);
  });
  refuse_and_keep<fe_module_executable>(s, report, "compile", "the view", [&](fe_module_executable** out) {
    return s.b.compile(s.device, nullptr, out);
  });
  refuse(s, report, "compile", "the result", [&] { return s.b.compile(s.device, &graph->view(), nullptr); });
}

void supports_slot(Stage& s, Report& report) {
  const auto graph = graph_of(samples().front());
  fe_requirements out{};
  out.struct_size = sizeof out;
  const auto refused = [&](const char* argument, const std::function<int()>& call) {
    report.now(s.sentence("supports", argument));
    if (call() != 0) report.problem(s.sentence("supports", argument) + " says yes");
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
  refuse(s, report, "prepare_size", "the device",
         [&] { return s.b.prepare_size(nullptr, view, 0, 0, &size, key.data(), key.size()); });
  refuse(s, report, "prepare_size", "the view",
         [&] { return s.b.prepare_size(s.device, nullptr, 0, 0, &size, key.data(), key.size()); });
  refuse(s, report, "prepare_size", "the size",
         [&] { return s.b.prepare_size(s.device, view, 0, 0, nullptr, key.data(), key.size()); });
  refuse(s, report, "prepare_size", "the key",
         [&] { return s.b.prepare_size(s.device, view, 0, 0, &size, nullptr, key.size()); });
  report.now("prepare_size of what is not there");
  expect_error(report, take(s.b.prepare_size(s.device, view, 1, 0, &size, key.data(), key.size())),
               "prepare_size of a node that is not there");
  expect_error(report, take(s.b.prepare_size(s.device, view, 0, 70, &size, key.data(), key.size())),
               "prepare_size of an input that is not there");
  refuse(s, report, "prepare", "the device", [&] { return s.b.prepare(nullptr, view, 0, 0, &binding, &binding); });
  refuse(s, report, "prepare", "the view", [&] { return s.b.prepare(s.device, nullptr, 0, 0, &binding, &binding); });
  refuse(s, report, "prepare", "the source", [&] { return s.b.prepare(s.device, view, 0, 0, nullptr, &binding); });
  refuse(s, report, "prepare", "the target", [&] { return s.b.prepare(s.device, view, 0, 0, &binding, nullptr); });
  refuse(s, report, "prepare", "the source's buffer",
         [&] { return s.b.prepare(s.device, view, 0, 0, &empty, &binding); });
  refuse(s, report, "prepare", "the target's buffer",
         [&] { return s.b.prepare(s.device, view, 0, 0, &binding, &empty); });
}

void init_without_table(Stage& s, Report& report) {
  const Module& module = s.opened.module;
  report.now("init with null for the table");
  expect_error(report, module.init_nothing(), "init with null for the table");
}

struct Slot {
  const char* name;
  Calls calls;
};
constexpr std::array slots = {
    Slot{"init", init_without_table},
    Slot{"device_properties", device_properties},
    Slot{"device_option", device_option},
    Slot{"device_open", device_open},
    Slot{"device_memory", device_memory},
    Slot{"buffer_allocate", buffer_allocate},
    Slot{"buffer_borrow", buffer_borrow},
    Slot{"queues", queues},
    Slot{"copies", copies},
    Slot{"copies_out_of_range", copies_out_of_range},
    Slot{"supports", supports_slot},
    Slot{"compile", compile},
    Slot{"prepare", prepare},
};

void run(const Subject& subject, Report& report, const void* argument) {
  Stage stage(subject);
  static_cast<const Slot*>(argument)->calls(stage, report);
}

}  // namespace

void add_null_argument_checks(Checks& checks) {
  for (const Slot& slot : slots)
    checks.push_back({std::string("arguments.") + slot.name, "arguments that no slot takes are errors", run, &slot});
}

}  // namespace ferrule::conformance
