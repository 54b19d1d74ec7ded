// Ctrl-C while ferrule computes: now and then the computing thread asks Python whether a signal has come.
#pragma once

#include "errors.h"

#include <chrono>
#include <cstdint>
#include <optional>

namespace ferrule::python {

class Interruption {
 public:
  Interruption() : main_thread_(is_main_thread()) {}
  // An fe_cancel_function; `self` is an Interruption. Takes the GIL, at most once in 20 ms and in the main thread only:
  // Python handles signals nowhere else.
  static int poll(void* self);
  // Raises what poll found, else the error. With the GIL.
  void check(fe_error* error);

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds interval{20};
  static bool is_main_thread();
  bool main_thread_;
  uint64_t polls_ = 0;
  std::optional<Clock::time_point> next_;  // when Python is asked; set by the third poll
  std::optional<py::error_already_set> raised_;
};

void bind_interruption(py::module_& module);

}  // namespace ferrule::python
