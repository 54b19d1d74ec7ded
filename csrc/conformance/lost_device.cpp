// A device that is lost while it works: each wait says so, nothing hangs, and everything can still be released.
#include "conformance/graph.h"

#include <cstring>

namespace ferrule::conformance {
namespace {

// A device can only be lost on purpose where it has an option for it: `...lost_at`, the number of the execution.
std::string option_of(const Backend& backend) {
  const fe_backend& b = backend.table();
  if (FE_HAS_SLOT(&b, device_option))
    for (uint32_t i = 0; i < 1000; ++i) {
      fe_option_info info{};
      info.struct_size = sizeof info;
      if (!take(b.device_option(b.self, i, &info))) break;
      if (info.key && std::string(info.key).ends_with("lost_at")) return info.key;
    }
  throw NotApplicable{"it has no option *lost_at that loses the device at an execution"};
}

void lost(const Subject& subject, Report& report, const void*) {
  constexpr int at = 3;
  const Module module(subject.path);
  const Backend backend(module);
  const Options options = {{option_of(backend), std::to_string(at)}};
  const Device device(backend, subject.device, options);
  const fe_backend& b = backend.table();
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  Bound bound(device, device.queue(), *graph, executable, subject.seed);
  for (int number = 1; number < at; ++number)
    expect(execute(device, device.queue(), executable, bound.execution()), "execution " + std::to_string(number));

  report.now("the execution that loses the device");
  const Outcome at_once = take(b.execute(executable.handle(), device.queue(), &bound.execution()));
  if (!device.queue()) return expect_error(report, at_once, "the execution that loses the device", {FE_DEVICE_LOST});
  if (!at_once && at_once.code != FE_DEVICE_LOST)
    expect_error(report, at_once, "the execution that loses the device", {FE_DEVICE_LOST});
  fe_module_event* event = nullptr;
  const Outcome recorded = take(b.event_record(device.queue(), &event));
  if (!recorded) return expect_error(report, recorded, "event_record on a lost device", {FE_DEVICE_LOST});
  for (const char* which : {"the first wait", "a second wait for the same event"}) {
    report.now(which);
    expect_error(report, take(b.event_wait(event, -1)), std::string(which) + " after the device was lost",
                 {FE_DEVICE_LOST});
  }
  report.now("event_done");
  if (b.event_done(event) == 0) report.problem("the event of a lost device is never done");
  b.event_release(event);

  report.now("an execution after the device was lost");
  if (take(b.execute(executable.handle(), device.queue(), &bound.execution())))
    expect_error(report, finish(device, device.queue()), "waiting for an execution after the device was lost",
                 {FE_DEVICE_LOST});
  report.now("a copy after the device was lost");
  std::vector<char> bytes(1);
  if (take(b.copy_to_host(device.handle(), device.queue(), bytes.data(), bound.bindings().back().buffer, 0, 1)))
    expect_error(report, finish(device, device.queue()), "waiting for a copy after the device was lost",
                 {FE_DEVICE_LOST});
  report.now("releasing everything of a lost device");
}

}  // namespace

void add_lost_device_checks(Checks& checks) {
  checks.push_back({"device_lost", "a lost device is told at each wait, and hangs nothing", lost});
}

}  // namespace ferrule::conformance
