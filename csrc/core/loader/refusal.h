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

}  // namespace ferrule
