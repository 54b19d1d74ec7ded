// What the generators say about the results and the attributes of an op, in one word each.
#pragma once

#include "ops/row.h"

#include <string>

namespace ferrule::ops {

struct ResultWords {
  const char* shape;        // of sdk::ResultShape: "same", "broadcast", "reduced" or "unknown"
  const char* dtype;        // of sdk::ResultDType: "same", "real", "complex", "widened", "attribute" or "fixed"
  std::string fixed_dtype;  // the name of a fixed dtype, else empty
};
ResultWords result_words(const Row& row, std::size_t output);

// Of sdk::AttributeKind. An attribute named "axis" or "axes" refers to axes of the first input, in every row.
const char* attribute_kind(const AttributeRow& attribute);

}  // namespace ferrule::ops
