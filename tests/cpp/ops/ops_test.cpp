// The op set's rules: promotion, shapes, attributes, and their packed form.
#include "ops/table.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace ferrule::ops {
namespace {

TensorType float32(Shape shape) { return {DType::float32, shape}; }

std::vector<TensorType> infer_named(const char* op, std::vector<TensorType> inputs,
                                    const std::vector<NamedAttribute>& given = {}) {
  Attributes attributes = complete_attributes(op_named(op), given);
  return infer(op_named(op), inputs, attributes);
}

std::string error_of(const char* op, std::vector<TensorType> inputs, const std::vector<NamedAttribute>& given = {}) {
  try {
    infer_named(op, std::move(inputs), given);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Ops, TableIsSortedAndIdsFindTheirRows) {
  for (std::size_t i = 0; i < all_ops().size(); ++i) {
    const Row& row = *all_ops()[i];
    if (i > 0) {
      EXPECT_LT(std::string(all_ops()[i - 1]->name), row.name);
    }
    EXPECT_EQ(find_op(row.name), &row);
    EXPECT_EQ(op_by_id(id_of(row)), &row);
    EXPECT_STRNE(row.text, "") << row.name;
  }
  EXPECT_EQ(op_by_id(0), nullptr);
  EXPECT_EQ(op_by_id(1u << 30), nullptr);
}

TEST(Ops, UnknownNameSuggestsTheNearest) {
  try {
    op_named("sofmax");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "there is no op named 'sofmax'; the nearest name is 'softmax'");
  }
}

// The table of the Python array API standard 2024.12, section "Type Promotion Rules".
TEST(Ops, PromotionFollowsTheArrayApiStandard) {
  EXPECT_EQ(promote(DType::int8, DType::uint8), DType::int16);
  EXPECT_EQ(promote(DType::int8, DType::uint16), DType::int32);
  EXPECT_EQ(promote(DType::int32, DType::uint32), DType::int64);
  EXPECT_EQ(promote(DType::int64, DType::uint8), DType::int64);
  EXPECT_EQ(promote(DType::int64, DType::uint64), DType::none);
  EXPECT_EQ(promote(DType::float32, DType::float64), DType::float64);
  EXPECT_EQ(promote(DType::uint16, DType::uint32), DType::uint32);
  EXPECT_EQ(promote(DType::float16, DType::float32), DType::float32);
  EXPECT_EQ(promote(DType::float64, DType::bfloat16), DType::float64);
}

TEST(Ops, HalfDtypesDoNotPromoteToEachOther) {
  EXPECT_EQ(promote(DType::float16, DType::bfloat16), DType::float32);
  EXPECT_EQ(promote(DType::bfloat16, DType::int64), DType::bfloat16);
  EXPECT_EQ(promote(DType::float8_e4m3fn, DType::float8_e5m2), DType::float32);
  EXPECT_EQ(promote(DType::float8_e5m2, DType::float16), DType::float16);
  EXPECT_EQ(promote(DType::bfloat16, DType::float8_e4m3fn), DType::bfloat16);
  // The standard's table of mixed floating-point dtypes.
  EXPECT_EQ(promote(DType::complex64, DType::complex128), DType::complex128);
  EXPECT_EQ(promote(DType::complex64, DType::float32), DType::complex64);
  EXPECT_EQ(promote(DType::float64, DType::complex64), DType::complex128);
  EXPECT_EQ(promote(DType::complex128, DType::float32), DType::complex128);
  EXPECT_EQ(promote(DType::complex64, DType::int64), DType::complex64);
  EXPECT_EQ(promote(DType::boolean, DType::complex128), DType::complex128);
  EXPECT_EQ(promote(DType::q8_0, DType::q8_0), DType::q8_0);
  EXPECT_EQ(promote(DType::q8_0, DType::q4_0), DType::none);
  EXPECT_EQ(promote(DType::float32, DType::q4_K), DType::none);
  EXPECT_EQ(promote(DType::boolean, DType::float16), DType::float16);
}

TEST(Ops, WeakScalarDoesNotPromoteWithinItsKind) {
  const TensorType inputs[] = {float32({2}), {DType::float64, {}}};
  const std::vector<bool> weak = {false, true};
  EXPECT_EQ(input_dtypes(op_named("add"), inputs, weak), (std::vector{DType::float32, DType::float32}));
  const TensorType mixed[] = {{DType::int32, {2}}, {DType::float64, {}}};
  EXPECT_EQ(input_dtypes(op_named("add"), mixed, weak), (std::vector{DType::float64, DType::float64}));
}

TEST(Ops, TruthValuesAreCastToBool) {
  const TensorType inputs[] = {float32({2}), {DType::uint64, {}}};
  EXPECT_EQ(input_dtypes(op_named("logical_or"), inputs, {}), (std::vector{DType::boolean, DType::boolean}));
  const TensorType block[] = {{DType::q8_0, {32}}};
  EXPECT_EQ(input_dtypes(op_named("logical_not"), block, {}), std::vector{DType::q8_0});
  EXPECT_EQ(error_of("logical_not", {block[0]}), "logical_not: x is q8_0(32,), but needs a bool dtype");
}

TEST(Ops, IntegersAreDividedInTheDefaultDtypeOrInThatOfTheOtherInput) {
  const auto dtypes = [](DType x1, DType x2, const std::vector<bool>& weak = {}) {
    const TensorType inputs[] = {{x1, {2}}, {x2, {2}}};
    return input_dtypes(op_named("divide"), inputs, weak);
  };
  EXPECT_EQ(dtypes(DType::int64, DType::uint64), (std::vector{DType::float32, DType::float32}));
  EXPECT_EQ(dtypes(DType::boolean, DType::int8), (std::vector{DType::float32, DType::float32}));
  EXPECT_EQ(dtypes(DType::float16, DType::int32), (std::vector{DType::float16, DType::float16}));
  EXPECT_EQ(dtypes(DType::int32, DType::float64, {false, true}), (std::vector{DType::float32, DType::float32}));
  EXPECT_EQ(dtypes(DType::int32, DType::complex64), (std::vector{DType::complex64, DType::complex64}));
}

TEST(Ops, MatmulShapesBroadcastAndErrorsNameBothShapes) {
  EXPECT_EQ(infer_named("matmul", {float32({5, 1, 3, 4}), float32({2, 4, 6})})[0], float32({5, 2, 3, 6}));
  EXPECT_EQ(error_of("matmul", {float32({3, 4}), float32({5, 6})}),
            "matmul: inner sizes differ: (3, 4) @ (5, 6), 4 != 5");
}

TEST(Ops, ReductionAxesBecomeCanonical) {
  Attributes attributes = complete_attributes(op_named("sum"), {{"axis", std::vector<int64_t>{-1, 0}}});
  const TensorType input[] = {float32({2, 3, 4})};
  EXPECT_EQ(infer(op_named("sum"), input, attributes)[0], float32({3}));
  EXPECT_EQ(std::get<std::vector<int64_t>>(attributes[0]), (std::vector<int64_t>{0, 2}));
  EXPECT_NE(error_of("sum", {float32({2})}, {{"axis", std::vector<int64_t>{1}}}).find("out of range"),
            std::string::npos);
  EXPECT_NE(error_of("max", {float32({2, 0})}, {{"axis", std::vector<int64_t>{1}}}).find("empty"), std::string::npos);
}

TEST(Ops, ReshapeInfersTheUnknownSizeOrExplainsTheError) {
  EXPECT_EQ(infer_named("reshape", {float32({2, 6})}, {{"shape", std::vector<int64_t>{3, -1}}})[0], float32({3, 4}));
  EXPECT_NE(error_of("reshape", {float32({2, 6})}, {{"shape", std::vector<int64_t>{5, -1}}}).find("unknown size"),
            std::string::npos);
  EXPECT_NE(error_of("reshape", {float32({2, 6})}, {{"shape", std::vector<int64_t>{7}}}).find("12 elements"),
            std::string::npos);
}

TEST(Ops, NegativeAndOverflowingSizesOfEmptyShapesAreRefused) {
  constexpr int64_t big = int64_t{1} << 40;
  EXPECT_EQ(element_count({0, big}), 0);
  EXPECT_EQ(element_count({big, 0, 3}), 0);
  EXPECT_THROW(element_count({0, -5}), Error);
  EXPECT_THROW(element_count({0, big, big}), Error);
  EXPECT_THROW(byte_count({DType::float64, {0, int64_t{1} << 60}}), Error);
  EXPECT_EQ(byte_count({DType::uint8, {0, int64_t{1} << 60}}), 0);
  EXPECT_NE(error_of("reshape", {float32({0, 3})}, {{"shape", std::vector<int64_t>{0, -5}}}).find("(0, -5)"),
            std::string::npos);
  EXPECT_NE(error_of("reshape", {float32({0, 3})}, {{"shape", std::vector<int64_t>{-1, -1}}}).find("(-1, -1)"),
            std::string::npos);
}

TEST(Ops, StridesThatExceedTheAddressSpaceAreRefused) {
  const Reach reach = reach_of({3, 4}, {-10, 2}, 8);
  EXPECT_EQ(reach.before, 20);
  EXPECT_EQ(reach.after, 6);
  constexpr int64_t most = INT64_MAX / 8;
  EXPECT_EQ(reach_of({2}, {most - 1}, 8).after, most - 1);
  EXPECT_THROW(reach_of({2}, {most}, 8), Error);
  EXPECT_THROW(reach_of({3}, {int64_t{1} << 62}, 1), Error);
  EXPECT_THROW(reach_of({2, 2}, {int64_t{1} << 61, -(int64_t{1} << 61)}, 2), Error);
  EXPECT_THROW(reach_of({1}, {INT64_MIN}, 1), Error);
}

TEST(Ops, OutOfBoundsSliceIsRefusedEvenIfItsExtentOverflows) {
  const auto slice = [](int64_t start, int64_t size, int64_t step) {
    return error_of("slice", {float32({10})},
                    {{"starts", std::vector<int64_t>{start}},
                     {"sizes", std::vector<int64_t>{size}},
                     {"steps", std::vector<int64_t>{step}}});
  };
  EXPECT_EQ(slice(9, 10, -1), "no error");
  EXPECT_EQ(slice(0, 4, 3), "no error");
  EXPECT_NE(slice(0, 5, 3), "no error");
  EXPECT_NE(slice(-1, 1, 1), "no error");
  EXPECT_NE(slice(0, INT64_MAX, INT64_MAX), "no error");
  EXPECT_NE(slice(0, 3, INT64_MIN), "no error");
}

TEST(Ops, SizeThatOverflowsMemoryIsAnError) {
  EXPECT_NE(error_of("broadcast_to", {float32({1, 1})}, {{"shape", std::vector<int64_t>{INT64_MAX, INT64_MAX}}})
                .find("larger than memory"),
            std::string::npos);
}

TEST(Ops, AttributesAreCheckedByNameAndType) {
  EXPECT_NE(error_of("softmax", {float32({2})}, {{"axes", int64_t{0}}}).find("it has: axis"), std::string::npos);
  EXPECT_NE(error_of("softmax", {float32({2})}, {{"axis", 0.5}}).find("softmax: axis must be one integer, not 0.5"),
            std::string::npos);
  EXPECT_NE(error_of("astype", {float32({2})}).find("'dtype' is missing"), std::string::npos);
}

TEST(Ops, OnlyAnAttributeWithAnotherValueThanItsDefaultRaisesTheRevision) {
  const Row row = Row("root").real_attribute("scale", 1).since(2).integer_attribute("bias", 0).since(3);
  EXPECT_EQ(row.revision, 3u);
  EXPECT_EQ(lowest_revision(row, {1.0, int64_t{0}}), 1u);
  EXPECT_EQ(lowest_revision(row, {2.0, int64_t{0}}), 2u);
  EXPECT_EQ(lowest_revision(row, {2.0, int64_t{5}}), 3u);
}

TEST(Ops, NineDimensionsAreAnError) { EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1, 1, 1}), Error); }

TEST(Ops, PackedAttributesMatchTheGeneratedStruct) {
  const Row& row = op_named("sum");
  Attributes attributes = complete_attributes(row, {{"axis", std::vector<int64_t>{1, 2}}, {"keepdims", true}});
  const PackedAttributes packed(row, attributes);
  struct {
    size_t struct_size;
    fe_int64_list axis;
    int32_t keepdims;
  } sum;
  ASSERT_EQ(packed_layout(row).back(), sizeof sum);
  std::memcpy(&sum, packed.data(), sizeof sum);
  EXPECT_EQ(sum.struct_size, sizeof sum);
  EXPECT_EQ(sum.axis.count, 2u);
  EXPECT_EQ(sum.axis.data[1], 2);
  EXPECT_EQ(sum.keepdims, 1);
  EXPECT_EQ(PackedAttributes(op_named("add"), {}).data(), nullptr);
}

}  // namespace
}  // namespace ferrule::ops
