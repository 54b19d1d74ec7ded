// Conversion between dtypes, elementwise.
#include "ops/rules.h"

namespace ferrule::ops {
namespace {

// "q8_0, q4_0": those that float32 can become.
std::string encoded_dtypes() {
  std::vector<const char*> names;
  for (const DTypeRow& row : dtype_rows)
    if (row.is_encoded) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// Block dtypes are converted only from and to float32; another dtype needs a second cast.
void check_quantising(Inference& i, DType to) {
  const DType from = i.input(0).dtype;
  if (from == to || (!is_block(from) && !is_block(to))) return;
  if (from != DType::float32 && to != DType::float32)
    i.fail("{} becomes the dtype {} by way of float32", to_string(i.input(0)), ferrule::name_of(to));
  if (is_block(to) && !row_of(to).is_encoded)
    i.fail("float32 cannot become {}: use one of {}", ferrule::name_of(to), encoded_dtypes());
}

}  // namespace

OP(astype)
    .doc(
        "x in another dtype. Floating-point to integer truncates and saturates, NaN gives 0; to bool: x != 0. "
        "Complex to real is an error. A block dtype becomes float32; float32 becomes one that can be encoded, such as "
        "q8_0.")
    .by_hand()
    .elementwise()
    .input("x", stored)
    .attribute("dtype", AttributeType::dtype)
    .result([](Inference& i) {
      const DType dtype = i.attribute().dtype("dtype");
      if (dtype == DType::none) i.fail("dtype is missing in {}", i.call());
      if (is_complex(i.input(0).dtype) && !is_complex(dtype) && dtype != DType::boolean)
        i.fail("{} has imaginary parts, which the dtype {} has not", to_string(i.input(0)), ferrule::name_of(dtype));
      check_quantising(i, dtype);
      i.output({dtype, i.input(0).shape});
    });

}  // namespace ferrule::ops
