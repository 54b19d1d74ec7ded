// Words of the generators for the results and the attributes of an op, one each.
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

// The sdk::AttributeKind of an attribute. An attribute named "axis" or "axes" refers to axes of the first input, in
// every row.
const char* attribute_kind(const AttributeRow& attribute);

}  // namespace ferrule::ops
