// Repeats an operation a thousand times: memory that grows is a leak.
#include "conformance/graph.h"
#include "conformance/process.h"

#include <functional>

namespace ferrule::conformance {
namespace {

constexpr int warm_up = 200, rounds = 1000;
// Allowed growth in bytes: per round less than the smallest object, in total more than a cache that fills.
constexpr uint64_t max_allocated = 16 * rounds;
constexpr uint64_t max_resident = 1024 * rounds;

void repeat(Report& report, const std::string& what, const std::function<void()>& round,
            uint64_t most = max_allocated) {
  report.now(what);
  for (int i = 0; i < warm_up; ++i) round();
  const size_t errors = live_errors();
  const uint64_t resident = private_bytes();
  const std::optional<uint64_t> allocated = allocated_bytes();
  for (int i = 0; i < rounds; ++i) round();
  const auto grew = [&](uint64_t before, uint64_t after, uint64_t most, const char* kind) {
    if (after > before + most)
      report.problem(what + ", " + std::to_string(rounds) + " times, leaves " + std::to_string(after - before) + " " +
                     kind + "; at most " + std::to_string(most) + " are right");
  };
  if (allocated) grew(*allocated, *allocated_bytes(), most, "bytes allocated");
  grew(resident, private_bytes(), max_resident, "bytes resident");
  grew(errors, live_errors(), 0, "errors unreleased");
}

void compile_execute_destroy(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  const Sample& sample = *supported_samples(device, subject).front();
  repeat(report, "compiling, executing and destroying " + name_of(sample), [&] {
    const auto graph = graph_of(sample);
    const Executable executable(device, graph->view());
    Bound bound(device, device.queue(), *graph, executable, subject.seed);
    expect(execute(device, device.queue(), executable, bound.execution()), name_of(sample));
  });
}

void refusals(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  repeat(report, "refusing an unknown op", [&] {
    const auto graph = graph_of(samples().front());
    graph->node().op = 0xfffffff0u;
    supports(device, graph->view());
    fe_module_executable* executable = nullptr;
    if (take(device.backend()->compile(device.handle(), &graph->view(), &executable)) && executable)
      device.backend()->executable_release(executable);
  });
  // A different shape each time, so that messages that name it differ.
  uint32_t number = 0;
  repeat(report, "refusing each time something else", [&] {
    const auto graph = graph_of(samples().front());
    supports(device, graph->view(), ++number);
    graph->node().op = 0xfffffff0u - number;
    supports(device, graph->view());
  });
}

void devices(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  const Backend backend(module);
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  expect(take(backend->device_properties(backend->self, subject.device, &properties)), "device_properties");
  const bool has_driver = properties.kind != FE_DEVICE_CPU && properties.kind != FE_DEVICE_TEST;
  // Opening a device may create a driver's context, so there are fewer rounds. Memory that the driver keeps after a
  // device was closed is not counted: lavapipe of Mesa 22.3 keeps 250 bytes.
  constexpr int rounds_a_device = 10;
  constexpr uint64_t max_driver_bytes = 512;
  int call = 0;
  repeat(
      report, "opening and closing a device",
      [&] {
        if (call++ % rounds_a_device == 0) const Device device(backend, subject.device);
      },
      max_allocated + (has_driver ? max_driver_bytes * rounds / rounds_a_device : 0));
}

}  // namespace

void add_leak_checks(Checks& checks) {
  checks.push_back({"leaks", "compile, execute, destroy, a thousand times, keep no memory", compile_execute_destroy});
  checks.push_back({"leaks.refusals", "a thousand refusals keep no memory", refusals});
  checks.push_back({"leaks.devices", "devices that were opened and closed keep no memory", devices});
}

}  // namespace ferrule::conformance
