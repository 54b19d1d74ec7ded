#include "interruption.h"

#include "bound_classes.h"
#include "python_references.h"

#include <atomic>

namespace ferrule::python {
namespace {

std::atomic<unsigned long> main_thread{0};

// Used on the main thread only, and never destroyed.
Interruption& of_process() {
  static Interruption& interruption = *new Interruption(true);
  return interruption;
}

}  // namespace

bool Interruption::is_main_thread() {
  return PyThread_get_thread_ident() == main_thread.load(std::memory_order_relaxed);
}

int Interruption::poll(void* self) {
  auto& interruption = *static_cast<Interruption*>(self);
  if (!interruption.main_thread_) return 0;
  if (interruption.raised_) return 1;
  // A graph of one kernel polls twice: reading the clock would take longer than a small kernel.
  if (interruption.polls_++ < 2) return 0;
  const Clock::time_point now = Clock::now();
  if (!interruption.next_) interruption.next_ = now + interval;
  if (now < *interruption.next_) return 0;
  const py::gil_scoped_acquire_simple gil;
  if (PyErr_CheckSignals() != 0) interruption.raised_.emplace();
  interruption.next_ = Clock::now() + interval;
  return interruption.raised_ ? 1 : 0;
}

void Interruption::check(fe_error* error) {
  if (!raised_) return python::check(error);
  fe_error_release(error);
  py::error_already_set raised = std::move(*raised_);
  raised_.reset();
  throw raised;  // NOLINT(misc-throw-by-value-catch-by-reference)
}

int Interruption::poll_for_process(void*) { return is_main_thread() ? poll(&of_process()) : 0; }

py::object Interruption::take_raised() {
  if (!is_main_thread() || !of_process().raised_) return {};
  py::object raised = of_process().raised_->value();
  of_process().raised_.reset();
  return raised;
}

void bind_interruption(py::module_& module) {
  module.def(
      "set_main_thread", [](unsigned long identifier) { main_thread = identifier; }, argument("identifier"));
  check(fe_set_cancel(Interruption::poll_for_process, nullptr));
}

}  // namespace ferrule::python
