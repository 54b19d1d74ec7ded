// A device that is lost while it works: each wait reports it, nothing hangs, and everything can be released.
#include "conformance/graph.h"

namespace ferrule::conformance {
namespace {

// Work for a lost device fails with its error, at once or at the next event.
void expect_lost(Report& report, const Device& device, fe_module_queue* queue, fe_error* given,
                 const std::string& what) {
  const Outcome at_once = take(given);
  if (at_once) return expect_error(report, finish(device, queue), "waiting for " + what, {FE_DEVICE_LOST});
  expect_error(report, at_once, what, {FE_DEVICE_LOST});
}

void lost(const Subject& subject, Report& report, const void*) {
  constexpr int at = 3;
  const Module module(subject.path);
  const Backend backend(module);
  const Options options = {
      {option_ending(backend, "lost_at", "the n-th execution loses the device"), std::to_string(at)}};
  const Device device(backend, subject.device, options);
  const fe_backend& b = backend.table();
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  Bound bound(device, device.queue(), *graph, executable, subject.seed);
  for (int number = 1; number < at; ++number)
    expect(execute(device, device.queue(), executable, bound.execution()), "execution " + std::to_string(number));
  const Queue other(device);
  const Event before(device, device.queue());
  expect(before.wait(), "an event before the device is lost");

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
  report.now("a wait for an event that was done before the device was lost");
  if (const Outcome asked_again = before.wait(); !asked_again)
    report.problem("an event that was done before the device was lost gives the error of later work: " +
                   asked_again.message);

  report.now("an execution after the device was lost");
  expect_lost(report, device, device.queue(), b.execute(executable.handle(), device.queue(), &bound.execution()),
              "an execution after the device was lost");
  report.now("a copy after the device was lost");
  Bytes byte(1);
  expect_lost(report, device, device.queue(),
              b.copy_to_host(device.handle(), device.queue(), byte.data(), bound.bindings().back().buffer, 0, 1),
              "a copy after the device was lost");
  report.now("an execution on another queue after the device was lost");
  expect_lost(report, device, other.handle(), b.execute(executable.handle(), other.handle(), &bound.execution()),
              "an execution on another queue after the device was lost");
  report.now("queue_reset of a lost device");
  expect_error(report, take(b.queue_reset(device.queue())), "queue_reset of a lost device", {FE_DEVICE_LOST});
  report.now("an execution after queue_reset of a lost device");
  expect_lost(report, device, device.queue(), b.execute(executable.handle(), device.queue(), &bound.execution()),
              "an execution after queue_reset of a lost device");
  report.now("releasing everything of a lost device");
}

}  // namespace

void add_lost_device_checks(Checks& checks) {
  checks.push_back(
      {"device_lost", "each wait reports a lost device, a reset does not recover it, and nothing hangs", lost});
}

}  // namespace ferrule::conformance
