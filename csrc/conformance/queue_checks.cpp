// What the core relies on to know that a queue's work is over.
#include "conformance/graph.h"

namespace ferrule::conformance {
namespace {

// A reset is what the core waits by where no event tells.
void reset_waits(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  if (!device.queue()) throw NotApplicable{"it has no queues"};
  const fe_backend& b = opened.backend.table();
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  for (int round = 0; round < 20; ++round) {
    Bound bound(device, device.queue(), *graph, executable, subject.seed);
    for (int i = 0; i < 20; ++i)
      expect(take(b.execute(executable.handle(), device.queue(), &bound.execution())), name_of(sample));
    fe_module_event* event = nullptr;
    expect(take(b.event_record(device.queue(), &event)), "event_record");
    expect(take(b.queue_reset(device.queue())), "queue_reset");
    const bool is_done = b.event_done(event) != 0;
    expect(take(b.event_wait(event, -1)), name_of(sample));
    b.event_release(event);
    if (!is_done) return report.problem("queue_reset returns before the work that was given to the queue is over");
  }
}

}  // namespace

void add_queue_checks(Checks& checks) {
  checks.push_back({"queue_reset", "a reset returns when the work of the queue is over", reset_waits});
}

}  // namespace ferrule::conformance
