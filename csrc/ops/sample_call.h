// A small call of an op that its own rule accepts: for samples of the conformance kit, and to ask a device whether it
// supports the op.
#pragma once

#include "ops/attributes.h"
#include "base/tensor_type.h"

#include <optional>
#include <span>
#include <vector>

namespace ferrule::ops {

struct Row;

struct SampleCall {
  std::vector<TensorType> inputs, outputs;
  std::vector<NamedAttribute> given;  // the required attributes and those of the caller
  Attributes attributes;              // all, as the rule made them canonical
};

// A call with inputs of these dtypes, in the first of some lists of shapes that the op's rule accepts, or none. Inputs
// are promoted as in a recorded call. `dtype` is the attribute `dtype` of ops that have one. The last sizes are
// multiples of `unit`. `more` are attributes that are not required.
std::optional<SampleCall> sample_call(const Row& row, std::span<const DType> dtypes, DType dtype, int64_t unit = 1,
                                      const std::vector<NamedAttribute>& more = {});

}  // namespace ferrule::ops
