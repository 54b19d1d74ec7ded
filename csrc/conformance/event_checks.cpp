// Results of events: the error of the work since the previous event, and the time.
#include "conformance/graph.h"

#include <array>
#include <chrono>
#include <deque>
#include <thread>

namespace ferrule::conformance {
namespace {

// Executions between events, one of which fails.
struct Plan {
  const char* name;
  Few<size_t, 4> spans;  // executions before each event
  size_t failing;        // number of the execution that fails, from 1
};
constexpr std::array plans = {
    Plan{"four executions, each with an event behind it, of which the third fails", {1, 1, 1, 1}, 3},
    Plan{"four executions, with an event behind each two, of which the first fails", {2, 2}, 1},
    Plan{"four executions, with an event behind each two, of which the second fails", {2, 2}, 2},
    Plan{"two executions, with two events behind the first, which fails", {1, 0, 1}, 1},
};

struct Computation {
  const Backend& backend;
  const Subject& subject;
  const Sample& sample;
  Graph& graph;
};

// The outputs without a failure.
Bytes right_outputs(const Computation& of) {
  const Device device(of.backend, of.subject.device);
  const Executable executable(device, of.graph.view());
  Bound bound(device, device.queue(), of.graph, executable, of.subject.seed);
  bound.spoil_outputs(device.queue());
  expect(execute(device, device.queue(), executable, bound.execution()), name_of(of.sample));
  return bound.outputs(device.queue());
}

void follow(const Plan& plan, const Computation& of, const std::string& option, const Bytes& wanted, Report& report) {
  const std::string where = std::string(plan.name) + ": ";
  const Device device(of.backend, of.subject.device, {{option, std::to_string(plan.failing)}});
  fe_module_queue* const queue = device.queue();
  const Executable executable(device, of.graph.view());
  size_t total = 0;
  for (const size_t span : plan.spans) total += span;
  std::deque<Bound> bounds;
  for (size_t i = 0; i < total; ++i) {
    bounds.emplace_back(device, queue, of.graph, executable, of.subject.seed);
    bounds.back().spoil_outputs(queue);
  }
  report.now(where + "giving all work to the queue");
  std::deque<Event> events;
  events.emplace_back(device, queue);
  size_t number = 0, guilty = 0;  // of an execution; of the event after the failing one
  for (const size_t span : plan.spans) {
    for (size_t i = 0; i < span; ++i) {
      const Outcome outcome = take(device.backend()->execute(executable.handle(), queue, &bounds[number].execution()));
      const bool fails = ++number == plan.failing;
      if (fails) guilty = events.size();
      const std::string what = where + "execution " + std::to_string(number);
      if (fails && !queue)
        expect_error(report, outcome, what);
      else
        expect(outcome, what + ", whose event must tell what fails later");
    }
    events.emplace_back(device, queue);
  }
  const auto ask = [&](size_t event, const char* when) {
    const std::string what = where + "a wait for event " + std::to_string(event) + " " + when;
    report.now(what);
    const Outcome outcome = events[event].wait();
    if (event == guilty)
      expect_error(report, outcome, what);
    else if (!outcome)
      report.problem(what + " gives the error of work that does not belong to it: " + outcome.message);
    if (!events[event].is_done()) report.problem(what + " returns before the event is done");
  };
  if (queue) {
    for (size_t event = events.size(); event-- > 0;) ask(event, "(the last event first)");
    for (size_t event = 0; event < events.size(); ++event) ask(event, "that was waited for before");
  }
  for (size_t i = 0; i < total; ++i) {
    if (i + 1 == plan.failing) continue;
    const std::string what = where + "the outputs of execution " + std::to_string(i + 1);
    report.now(what);
    expect_bytes(report, bounds[i].outputs(queue), wanted, what);
  }
}

void errors(const Subject& subject, Report& report, const void*) {
  const Module module(subject.path);
  const Backend backend(module);
  const std::string option = option_ending(backend, "execution_fails_at", "the n-th execution fails");
  const Sample& sample = *supported_samples(Device(backend, subject.device), subject).front();
  const auto graph = graph_of(sample);
  const Computation of{backend, subject, sample, *graph};
  const Bytes wanted = right_outputs(of);
  for (const Plan& plan : plans) follow(plan, of, option, wanted, report);
}

uint64_t host_ns() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

// Whether the device has its own clock, as a simulated one may.
bool has_own_clock(const Backend& backend, uint32_t device) {
  fe_device_properties properties{};
  properties.struct_size = sizeof properties;
  expect(take(backend->device_properties(backend->self, device, &properties)), "device_properties");
  return properties.kind == FE_DEVICE_TEST;
}

void times(const Subject& subject, Report& report, const void*) {
  constexpr int turns = 20;
  constexpr size_t copies[] = {0, 1, 3, 0, 2, 1};  // copies before each event of a round
  constexpr uint64_t size = 64 << 10;
  // Largest error of a device's clock after conversion to the host's.
  constexpr uint64_t max_off_ns = 1'000'000;
  const Opened opened(subject);
  const Device& device = opened.device;
  const fe_backend& b = opened.backend.table();
  if (!device.queue()) throw NotApplicable{"it has no queues"};
  if (!FE_HAS_SLOT(&b, event_time)) throw NotApplicable{"it has no slot event_time"};
  const bool own_clock = has_own_clock(opened.backend, subject.device);
  const Buffer to(device, size), from(device, size);
  write_bytes(device, device.queue(), from, random_bytes(size, subject.seed));
  report.now("event_time");
  uint64_t last = 0;
  for (int turn = 0; turn < turns; ++turn) {
    // The first event of a round is one of an idle queue: its time is not that of the work before.
    std::this_thread::sleep_for(std::chrono::nanoseconds(2 * max_off_ns));
    const uint64_t before = host_ns();
    std::deque<Event> events;
    for (const size_t count : copies) {
      for (size_t i = 0; i < count; ++i)
        expect(take(b.copy(device.handle(), device.queue(), to.handle(), 0, from.handle(), 0, size)), "copy");
      events.emplace_back(device, device.queue());
    }
    expect(events.back().wait(), "copy");
    const uint64_t after = host_ns();
    for (const Event& event : events) {
      uint64_t ns = 0;
      const Outcome outcome = take(b.event_time(event.handle(), &ns));
      if (outcome.code == FE_UNSUPPORTED) throw NotApplicable{"it does not time its events: " + outcome.message};
      expect(outcome, "event_time of an event that is done");
      if (ns < last)
        report.problem("event_time of an event is " + std::to_string(last - ns) +
                       " ns earlier than that of the event before it in the same queue");
      if (!own_clock && (ns + max_off_ns < before || ns > after + max_off_ns))
        report.problem("event_time of an event is " + std::to_string(ns) +
                       " ns; by the host's clock the queue passed " + "it between " + std::to_string(before) + " and " +
                       std::to_string(after) + " ns");
      last = ns;
    }
  }
}

}  // namespace

void add_event_checks(Checks& checks) {
  checks.push_back({"event_errors", "an event tells the error of the work since the event before it alone", errors});
  checks.push_back({"event_time", "the times of a queue's events never go back", times});
}

}  // namespace ferrule::conformance
