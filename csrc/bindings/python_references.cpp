#include "python_references.h"

#include "bound_classes.h"
#include "interpreter_state.h"
#include "text.h"

#include <atomic>
#include <memory>
#include <utility>

namespace ferrule::python {
namespace {

struct Call {
  void (*function)(void*);
  void* argument;
  Call* next;
};

// A stack, the latest call first. It has no lock, which could stay locked in the child of a fork.
constinit std::atomic<Call*> later{nullptr};

// Takes all calls, in the order in which they were added.
Call* take_calls() {
  Call* ordered = nullptr;
  for (Call* call = later.exchange(nullptr, std::memory_order_acquire); call != nullptr;) {
    Call* const next = std::exchange(call->next, ordered);
    ordered = std::exchange(call, next);
  }
  return ordered;
}

PyObject* log_function = nullptr;  // ferrule.process.log_lines.deliver(level, message)

void deliver(void*, fe_log_level level, const char* message) {
  if (log_function == nullptr || is_finalizing()) return;
  PyObject* const result = running_python([&] {
    PyObject* const text = decoded_or_null(message);
    return text == nullptr ? nullptr : PyObject_CallFunction(log_function, "iN", static_cast<int>(level), text);
  });
  if (result != nullptr) {
    Py_DECREF(result);
  } else if (PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    PyErr_Clear();
    PyErr_SetInterrupt();  // again, where it can be raised
  } else {
    PyErr_WriteUnraisable(log_function);
  }
}

void drop_reference(void* object) {
  running_python([object] { Py_DECREF(static_cast<PyObject*>(object)); });
}

}  // namespace

void with_gil_later(void (*function)(void*), void* argument) {
  if (is_finalizing()) return;
  if (has_gil()) {
    function(argument);
    return;
  }
  auto call = std::make_unique<Call>(Call{function, argument, later.load(std::memory_order_relaxed)});
  while (!later.compare_exchange_weak(call->next, call.get(), std::memory_order_release, std::memory_order_relaxed)) {
  }
  static_cast<void>(call.release());
}

void* hold_reference(py::handle object) { return object.inc_ref().ptr(); }

void release_reference(void* argument) { with_gil_later(drop_reference, argument); }

void drain() {
  fe_drain();
  if (later.load(std::memory_order_relaxed) == nullptr) return;
  for (Call* next = take_calls(); next != nullptr;) {
    const std::unique_ptr<Call> call(next);
    next = call->next;
    call->function(call->argument);
  }
}

void bind_references(py::module_& module) {
  module.def("drain", &drain, "Runs deferred releases and delivers log lines.");
  module.def(
      "set_log_function",
      [](const py::object& function) {
        log_function = function.inc_ref().ptr();
        fe_set_log_callback(deliver, nullptr);
      },
      argument("function"));
  module.def(
      "set_log_level", [](int level) { fe_set_log_level(static_cast<fe_log_level>(level)); }, argument("level"));
}

}  // namespace ferrule::python
