// Result rules that several rows share.
#pragma once

#include "ops/row.h"

namespace ferrule::ops {

// The broadcast shape of all inputs, the dtype of the first promoted one.
void broadcast_promoted(Inference& inference);
// The broadcast shape of all inputs, bool.
void broadcast_to_bool(Inference& inference);
// Shape and dtype of the first input.
void same_shape_and_dtype(Inference& inference);
// The first input without the axes of the attribute `axis` (all, when it is empty), kept as size one by `keepdims`.
void reduced(Inference& inference);
// As `reduced`, bool.
void reduced_to_bool(Inference& inference);

// The shape of a stack of matrices without the matrices' own two axes.
Shape batch_shape(const Shape& matrices);

// The axes that a reduction's canonical attributes name, for an input of this rank.
std::vector<int64_t> reduction_axes(const AttributeReader& attribute, int rank);

}  // namespace ferrule::ops
