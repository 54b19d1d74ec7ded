// Cancellation of a computation by the caller.
#pragma once

#include "base/error.h"

#include <ferrule/ferrule.h>

namespace ferrule {

struct Cancel {
  fe_cancel_function function = nullptr;
  void* argument = nullptr;
  // The Cancel of computations that are given none: set by fe_set_cancel.
  static Cancel of_process() noexcept;
  static void set_for_process(const Cancel& cancel);
  bool is_wanted() const { return function && function(argument) != 0; }
  // Throws cancelled if the caller wants to cancel.
  void check() const {
    if (is_wanted()) fail(FE_CANCELLED, "the computation was cancelled");
  }
};

}  // namespace ferrule
