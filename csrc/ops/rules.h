// Result rules that several rows share.
#pragma once

#include "ops/row.h"

namespace ferrule::ops {

// The broadcast shape of all inputs, and the dtype of the first promoted input.
void broadcast_promoted(Inference& inference);
// The broadcast shape of all inputs, bool.
void broadcast_to_bool(Inference& inference);
// Shape and dtype of the first input.
void same_shape_and_dtype(Inference& inference);
// The shape of the first input, and its dtype, or that of its parts if it is complex.
void same_shape_real_dtype(Inference& inference);
// The first input without the axes of the attribute `axis` (all axes, if it is empty), or with size 1 for `keepdims`.
void reduced(Inference& inference);
// Like `reduced`, with the dtype of 64 bits for integers and bool.
void reduced_and_widened(Inference& inference);
// Like `reduced`, with dtype bool.
void reduced_to_bool(Inference& inference);

// The shape of a stack of matrices without the matrices' own two axes.
Shape batch_shape(const Shape& matrices);

// The axes of a reduction with canonical attributes, for an input of this rank.
std::vector<int64_t> reduction_axes(const AttributeReader& attribute, int rank);

// 0.5 where the mean is above 1 in magnitude, else 1: a factor for elements and their mean with which no distance
// between them overflows, and which is exact where it matters.
Value half_of_large(Builder& b, Value mean);

}  // namespace ferrule::ops
