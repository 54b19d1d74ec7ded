// Why a step of a load goes no further, thrown within the loader.
#pragma once

#include "core/loader/report.h"

#include <ferrule/types.h>

#include <string>

namespace ferrule {

// A step that failed, with the state of the row that it leaves behind.
struct Refusal {
  LoadState state;
  fe_code code;
  std::string reason;
};

// The state of a module whose own functions refuse with this code, in its probe, here, or linked into the program.
inline LoadState state_of(fe_code code) {
  switch (code) {
    case FE_NOT_FOUND:
      return LoadState::no_device;
    case FE_UNSUPPORTED:
    case FE_ABI_MISMATCH:
      return LoadState::incompatible;
    default:
      return LoadState::error;
  }
}

}  // namespace ferrule
