// Recording: promotion, widening, inference, and errors at recording time.
#include "compiler_fixture.h"

namespace ferrule::test {
namespace {

using GraphRecord = CompilerTest;

TEST_F(GraphRecord, OperandsOfOneKindArePromotedByCasts) {
  graph.outputs = {add("add", {input({2, 3}), input({3}, DType::float64)})};
  EXPECT_EQ(to_text(graph),
            "%0 = input x0 : float32(2, 3)\n"
            "%1 = input x1 : float64(3,)\n"
            "%2 = astype(%0, dtype=float64) : float64(2, 3)\n"
            "%3 = add(%2, %1) : float64(2, 3)\n"
            "return %3\n");
}

TEST_F(GraphRecord, WeakOperandsTakeTheDtypeOfTheOthers) {
  const ValueId operands[] = {input({2}), scalar(2, DType::float64)};
  const ops::OperandNumber numbers[] = {{}, {.number = {}, .is_weak = true}};
  const ValueId sum = graph.add(ops::op_named("add"), operands, {}, nullptr, numbers);
  EXPECT_EQ(to_string(graph.type(sum)), "float32(2,)");
}

TEST_F(GraphRecord, SumsOfSmallIntegersAreWidened) {
  const ValueId sum = add("sum", {input({4, 2}, DType::int8)}, {{"axis", std::vector<int64_t>{-1}}});
  EXPECT_EQ(to_string(graph.type(sum)), "int64(4,)");
  EXPECT_EQ(ops_of(graph), "sum");
}

TEST_F(GraphRecord, AttributesBecomeCanonical) {
  add("softmax", {input({2, 3})}, {{"axis", int64_t{-1}}});
  EXPECT_EQ(std::get<int64_t>(graph.nodes[0].attributes->at(0)), 1);
}

TEST_F(GraphRecord, ErrorsNameTheOpAndTheShapesAndLeaveTheGraphUsable) {
  const ValueId a = input({3, 4}), b = input({5, 6});
  const Error shapes = error_of([&] { add("matmul", {a, b}); });
  EXPECT_EQ(shapes.code(), FE_INVALID_ARGUMENT);
  EXPECT_STREQ(shapes.what(), "matmul: inner sizes differ: (3, 4) @ (5, 6), 4 != 5");
  EXPECT_EQ(error_of([&] { add("add", {a, 77}); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { add("softmax", {a}, {{"axes", int64_t{1}}}); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([&] { add("add", {a}); }).code(), FE_INVALID_ARGUMENT);
  const std::size_t nodes = graph.nodes.size();
  add("add", {a, a});
  EXPECT_EQ(graph.nodes.size(), nodes + 1);
}

TEST_F(GraphRecord, RefusedOpAddsNoCast) {
  const ValueId a = input({3}), b = input({4}, DType::float64);
  EXPECT_THROW(add("add", {a, b}), Error);
  EXPECT_TRUE(graph.nodes.empty());
  EXPECT_EQ(graph.values.size(), 2u);
}

TEST_F(GraphRecord, ScalarsAreConvertedToTheirDtype) {
  EXPECT_EQ(scalar_of(1.5, DType::float32).f32, 1.5f);
  EXPECT_EQ(scalar_of(int64_t{-1}, DType::uint8).bytes[0], 255);
  EXPECT_EQ(scalar_of(int64_t{-1}, DType::uint8).bytes[1], 0);
  EXPECT_EQ(scalar_of(2.0, DType::boolean).bytes[0], 1);
  EXPECT_EQ(scalar_of(1e300, DType::int64).i64, INT64_MAX);
}

}  // namespace
}  // namespace ferrule::test
