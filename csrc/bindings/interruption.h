// Ctrl-C while ferrule computes: the computing thread regularly checks for Python signals.
#pragma once

#include "errors.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace ferrule::python {

class Interruption {
 public:
  explicit Interruption(bool main_thread = is_main_thread()) : main_thread_(main_thread) {}
  // An fe_cancel_function; `self` is an Interruption. Acquires the GIL at most every 20 ms, and only on the main
  // thread, where Python handles signals.
  static int poll(void* self);
  // Raises the exception of a signal that poll found, else the error. Needs the GIL.
  void check(fe_error* error);
  // Like poll, for computations that are given no Interruption: recording may compute.
  static int poll_for_process(void* unused);
  // The exception of a signal that poll_for_process found; a null object if there is none. Needs the GIL.
  static py::object take_raised();

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{20};
  static bool is_main_thread();
  bool main_thread_;
  uint64_t polls_ = 0;
  std::optional<Clock::time_point> next_;  // when to check next; set by the third poll
  std::optional<py::error_already_set> raised_;
};

void bind_interruption(py::module_& module);

}  // namespace ferrule::python
