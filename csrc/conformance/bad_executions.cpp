// Executions that bind less than the executable needs: execute must return an error before it reads or writes memory.
#include "conformance/graph.h"

#include <array>

namespace ferrule::conformance {
namespace {

struct Spoilt {
  const Device& device;
  Graph& graph;
  Bound& bound;
  std::unique_ptr<Buffer> small;  // a buffer that a case binds instead
  bool applies = true;            // the case, to this graph
  void skip() { applies = false; }
};
using Spoil = void (*)(Spoilt&);

struct Case {
  const char* name;
  const char* what;
  Spoil spoil;
};

constexpr std::array cases = {
    Case{"null_bindings", "null for the bindings", [](Spoilt& s) { s.bound.execution().bindings = nullptr; }},
    Case{"null_input", "null for the first buffer", [](Spoilt& s) { s.bound.bindings().front().buffer = nullptr; }},
    Case{"null_output", "null for the last buffer: one binding too few",
         [](Spoilt& s) { s.bound.bindings().back().buffer = nullptr; }},
    Case{"small_input", "an input of a byte too few",
         [](Spoilt& s) {
           s.applies = s.graph.storage(0).kind == FE_STORAGE_INPUT;
           s.small = std::make_unique<Buffer>(s.device, s.graph.storage(0).size - 1);
           s.bound.bindings().front().buffer = s.small->handle();
         }},
    Case{"small_output", "an output of a byte too few",
         [](Spoilt& s) {
           const uint64_t size = s.graph.storage(s.graph.view().storage_count - 1).size;
           if (size == 1) return s.skip();  // an empty buffer is not tested here
           s.small = std::make_unique<Buffer>(s.device, size - 1);
           s.bound.bindings().back().buffer = s.small->handle();
         }},
    Case{"offset_past_output", "an output bound from behind its buffer's end",
         [](Spoilt& s) { s.bound.bindings().back().offset = 1u << 20; }},
    Case{"offset_overflow", "an output whose end overflows",
         [](Spoilt& s) { s.bound.bindings().back().offset = UINT64_MAX - 7; }},
    Case{"binding_too_short", "bindings that end after their struct_size",
         [](Spoilt& s) {
           for (fe_binding& binding : s.bound.bindings()) binding.struct_size = sizeof(size_t);
         }},
    Case{"too_short", "an execution that ends after its struct_size",
         [](Spoilt& s) { s.bound.execution().struct_size = sizeof(size_t); }},
    Case{"no_workspace", "no workspace",
         [](Spoilt& s) {
           s.applies = s.bound.execution().workspace != nullptr;
           s.bound.execution().workspace = nullptr;
         }},
    Case{"small_workspace", "a workspace of 1 byte",
         [](Spoilt& s) {
           if (s.bound.execution().workspace == nullptr) return s.skip();
           s.small = std::make_unique<Buffer>(s.device, 1);
           s.bound.execution().workspace = s.small->handle();
         }},
    Case{"no_scratch", "no scratch memory",
         [](Spoilt& s) {
           s.applies = s.bound.execution().scratch != nullptr;
           s.bound.execution().scratch = nullptr;
         }},
};

// Runs a case on single nodes, and on chains, which have a workspace.
void run(const Subject& subject, Report& report, const void* argument) {
  const Case& spoiler = *static_cast<const Case*>(argument);
  const Opened opened(subject);
  const Device& device = opened.device;
  bool concerns = false;
  for (const Sample* sample : supported_samples(device, subject)) {
    for (const bool chained : {false, true}) {
      const auto graph = chained ? chain_of(*sample) : graph_of(*sample);
      if (!graph) continue;
      const Executable executable(device, graph->view());
      Bound bound(device, device.queue(), *graph, executable, subject.seed);
      Spoilt spoilt{device, *graph, bound, nullptr};
      spoiler.spoil(spoilt);
      if (!spoilt.applies) continue;
      concerns = true;
      const std::string what = name_of(*sample) + (chained ? ", twice in a row, with " : " with ") + spoiler.what;
      report.now(what);
      const fe_backend& b = device.backend().table();
      expect_error(report, take(b.execute(executable.handle(), device.queue(), &bound.execution())), what,
                   {FE_INVALID_ARGUMENT});
    }
  }
  if (!concerns) throw NotApplicable{"no op that it supports can be executed so"};
}

void nulls(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  const fe_backend& b = device.backend().table();
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  Bound bound(device, device.queue(), *graph, executable, subject.seed);
  report.now("execute with null for the executable");
  expect_error(report, take(b.execute(nullptr, device.queue(), &bound.execution())),
               "execute with null for the executable");
  report.now("execute with null for the execution");
  expect_error(report, take(b.execute(executable.handle(), device.queue(), nullptr)),
               "execute with null for the execution");
  if (!device.queue()) return;
  report.now("execute with null for the queue");
  expect_error(report, take(b.execute(executable.handle(), nullptr, &bound.execution())),
               "execute with null for the queue");
}

// A poll that returns an error ends the execution with that error. A module that computes later need not poll.
void poll(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Device& device = opened.device;
  const Sample& sample = *supported_samples(device, subject).front();
  const auto graph = graph_of(sample);
  const Executable executable(device, graph->view());
  Bound bound(device, device.queue(), *graph, executable, subject.seed);
  bool asked = false;
  bound.execution().poll_argument = &asked;
  bound.execution().poll = [](void* argument) {
    *static_cast<bool*>(argument) = true;
    return host().error_create(FE_CANCELLED, "the conformance kit wants it to end");
  };
  report.now("execute with a poll that says no");
  const Outcome outcome = execute(device, device.queue(), executable, bound.execution());
  if (!asked) throw NotApplicable{"it does not poll"};
  expect_error(report, outcome, "an execution whose poll says no", {FE_CANCELLED});
}

}  // namespace

void add_bad_execution_checks(Checks& checks) {
  for (const Case& spoiler : cases)
    checks.push_back(
        {std::string("bad_execution.") + spoiler.name, std::string("refuses ") + spoiler.what, run, &spoiler});
  checks.push_back({"bad_execution.nulls", "refuses to execute nothing", nulls});
  checks.push_back({"poll", "an execution ends when the core's poll says so", poll});
}

}  // namespace ferrule::conformance
