#include "lending.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace ferrule::python {
namespace {

using Call = std::pair<void (*)(void*), void*>;

// Never destroyed: threads of ferrule may outlive the module's statics.
struct Later {
  std::mutex mutex;
  std::vector<Call> calls;
  std::atomic<bool> waiting{false};
};
Later& later() {
  static auto* const instance = new Later;
  return *instance;
}

PyObject* log_function = nullptr;  // ferrule._log.deliver(level, message)

void deliver(void*, fe_log_level level, const char* message) {
  if (log_function == nullptr || is_finalizing()) return;
  const py::gil_scoped_acquire gil;
  PyObject* const result = PyObject_CallFunction(log_function, "is", static_cast<int>(level), message);
  if (result == nullptr)
    PyErr_WriteUnraisable(log_function);
  else
    Py_DECREF(result);
}

void drop_reference(void* object) { Py_DECREF(static_cast<PyObject*>(object)); }

}  // namespace

void with_gil_later(void (*function)(void*), void* argument) {
  if (is_finalizing()) return;
  if (PyGILState_Check() != 0) {
    function(argument);
    return;
  }
  const std::scoped_lock lock(later().mutex);
  later().calls.emplace_back(function, argument);
  later().waiting.store(true, std::memory_order_release);
}

void* lend(py::handle object) { return object.inc_ref().ptr(); }

void end_loan(void* argument) { with_gil_later(drop_reference, argument); }

void drain() {
  fe_drain();
  if (!later().waiting.load(std::memory_order_acquire)) return;
  std::vector<Call> calls;
  {
    const std::scoped_lock lock(later().mutex);
    calls.swap(later().calls);
    later().waiting.store(false, std::memory_order_release);
  }
  for (const auto& [function, argument] : calls) function(argument);
}

void bind_lending(py::module_& module) {
  module.def("drain", &drain, "Runs deferred releases and delivers log lines.");
  module.def(
      "set_log_function",
      [](const py::object& function) {
        log_function = function.inc_ref().ptr();
        fe_set_log_callback(deliver, nullptr);
      },
      py::arg("function"));
  module.def(
      "set_log_level", [](int level) { fe_set_log_level(static_cast<fe_log_level>(level)); }, py::arg("level"));
}

}  // namespace ferrule::python
