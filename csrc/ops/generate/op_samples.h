// Small calls of an op that its own rule accepts.
#pragma once

#include "ops/row.h"
#include "ops/sample_call.h"

#include <vector>

namespace ferrule::ops {

// One per dtype that the op accepts, float32 first; none for an op that never reaches a device.
std::vector<SampleCall> samples_of(const Row& row);

}  // namespace ferrule::ops
