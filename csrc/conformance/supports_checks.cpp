// The answers of `supports`.
#include "conformance/graph.h"

namespace ferrule::conformance {
namespace {

void supports_is_a_promise(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  for (const Sample* sample : supported_samples(device, subject, true)) {
    const auto graph = graph_of(*sample);
    report.now(name_of(*sample));
    fe_module_executable* handle = nullptr;
    const Outcome outcome = take(device.backend()->compile(device.handle(), &graph->view(), &handle));
    if (!outcome || !handle) {
      report.problem(name_of(*sample) + " is supported, and compile says: " + outcome.message);
      continue;
    }
    device.backend()->executable_release(handle);
    const Executable executable(device, graph->view());
    Bound bound(device, device.queue(), *graph, executable, subject.seed);
    if (const Outcome ran = execute(device, device.queue(), executable, bound.execution()); !ran)
      report.problem(name_of(*sample) + " is supported, and execute says: " + ran.message);
  }
}

// A refusal must have a reason, which the plan shows.
void refusals_have_reasons(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  bool refused = false;
  for (const Sample& sample : samples()) {
    if (!subject.op.empty() && subject.op != sample.op) continue;
    std::string reason;
    report.now(name_of(sample));
    if (supports(opened.device, graph_of(sample)->view(), 0, &reason)) continue;
    refused = true;
    if (reason.empty()) report.problem(name_of(sample) + " is refused without a reason");
  }
  if (!refused) throw NotApplicable{"it supports every op in every dtype"};
}

}  // namespace

void add_supports_checks(Checks& checks) {
  checks.push_back({"supports_is_a_promise", "what it supports compiles and runs", supports_is_a_promise});
  checks.push_back(
      {"refusals_have_reasons", "what it does not support it refuses with a reason", refusals_have_reasons});
}

}  // namespace ferrule::conformance
