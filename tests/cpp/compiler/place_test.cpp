// Placing: the requested device, decompositions on it, then the first fallback, and what placement() reports.
#include "compiler_fixture.h"

namespace ferrule::test {
namespace {

class CompilerPlace : public CompilerTest {
 protected:
  Graph placed(const CompileOptions& options) {
    Support support;
    reasons.clear();
    return place(graph, options, support, reasons);
  }
  std::vector<std::string> reasons;
};

TEST_F(CompilerPlace, NodesRunOnTheirRequestedDeviceOrTheGraphsDevice) {
  const ValueId x = input({2});
  graph.outputs = {add("exp", {x}), add("tanh", {x}, {}, second.get())};
  const Graph result = placed(options());
  EXPECT_EQ(result.nodes[0].device, first.get());
  EXPECT_EQ(result.nodes[1].device, second.get());
  EXPECT_EQ(reasons, (std::vector<std::string>{"", ""}));
}

TEST_F(CompilerPlace, CompositeIsDecomposedOnlyWithoutAKernel) {
  graph.outputs = {add("silu", {input({2})})};
  EXPECT_EQ(ops_of(placed(options())), "silu");
  of_first.refused = {"silu"};
  EXPECT_EQ(ops_of(placed(options())), "maximum sigmoid multiply");
}

TEST_F(CompilerPlace, DecompositionsAreDecomposedAgain) {
  graph.outputs = {add("layer_norm", {input({2, 3})})};
  of_first.refused = {"layer_norm", "mean", "sum_of_squares"};
  const std::string ops = ops_of(placed(options()));
  EXPECT_EQ(ops.find("mean"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("layer_norm"), std::string::npos) << ops;
  EXPECT_EQ(ops.find("sum_of_squares"), std::string::npos) << ops;
  EXPECT_TRUE(ops.starts_with("sum divide ")) << ops;
  EXPECT_NE(ops.find(" multiply sum divide sqrt "), std::string::npos) << ops;
}

TEST_F(CompilerPlace, DecompositionsOfHalvesAreInFloat32) {
  for (const DType half : {DType::float16, DType::bfloat16}) {
    graph = {};
    graph.outputs = {add("silu", {graph.add_input("x", {half, {2}})})};
    of_first.refused = {"silu"};
    const Graph result = placed(options());
    EXPECT_EQ(ops_of(result), "astype maximum sigmoid multiply astype");
    EXPECT_EQ(result.type(result.nodes[1].outputs[0]).dtype, DType::float32);
    EXPECT_EQ(result.type(result.outputs[0]).dtype, half);
  }
}

TEST_F(CompilerPlace, NarrowIntegersAreCastOnlyForADeviceThatCannotReduceThem) {
  graph.outputs = {add("sum", {input({2, 3}, DType::uint8)})};
  EXPECT_EQ(ops_of(placed(options())), "sum");
  of_first.revision = 1;
  const Graph cast = placed(options());
  EXPECT_EQ(ops_of(cast), "astype sum");
  EXPECT_EQ(cast.type(cast.nodes[0].outputs[0]).dtype, DType::uint64);
  EXPECT_EQ(reasons, (std::vector<std::string>{"", ""}));
  of_first.refused = {"sum"};
  EXPECT_EQ(ops_of(placed(options())), "sum");
  of_second.revision = 1;
  const Graph elsewhere = placed(options());
  EXPECT_EQ(ops_of(elsewhere), "astype sum");
  EXPECT_EQ(elsewhere.nodes[0].device, second.get());
  EXPECT_EQ(reasons, (std::vector<std::string>{"", "the test refuses it"}));
}

TEST_F(CompilerPlace, ManyInputsAreJoinedInGroups) {
  std::vector<ValueId> parts;
  parts.reserve(130);
  for (int i = 0; i < 130; ++i) parts.push_back(input({2}));
  graph.outputs = {graph.add(ops::op_named("concat"), parts, {})};
  const Graph result = placed(options());
  EXPECT_EQ(ops_of(result), "concat concat concat concat");
  std::vector<std::size_t> inputs;
  inputs.reserve(result.nodes.size());
  for (const Node& node : result.nodes) inputs.push_back(node.inputs.size());
  EXPECT_EQ(inputs, (std::vector<std::size_t>{64, 64, 2, 3}));
  EXPECT_EQ(result.type(result.outputs[0]).shape, Shape{260});
}

TEST_F(CompilerPlace, RefusedNodeGoesToTheFirstFallbackWithTheReason) {
  graph.outputs = {add("exp", {add("tanh", {input({2})})})};
  of_first.refused = {"tanh"};
  const Graph result = placed(options());
  EXPECT_EQ(result.nodes[0].device, second.get());
  EXPECT_EQ(result.nodes[1].device, first.get());
  EXPECT_EQ(reasons, (std::vector<std::string>{"the test refuses it", ""}));
}

TEST_F(CompilerPlace, FallbackErrorNamesOpTypesAndDevices) {
  graph.outputs = {add("tanh", {input({2, 3})})};
  of_first.refused = {"tanh"};
  CompileOptions options = this->options();
  options.on_fallback = Fallback::error;
  const Error error = error_of([&] { placed(options); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  for (const char* part : {"tanh", "float32(2, 3)", "t_first:0"})
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

TEST_F(CompilerPlace, NodeThatNoDeviceSupportsIsUnsupported) {
  graph.outputs = {add("tanh", {input({2, 3})})};
  of_first.refused = of_second.refused = {"tanh"};
  const Error error = error_of([&] { placed(options()); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  for (const char* part : {"tanh", "float32(2, 3)", "t_first:0"})
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
}

TEST_F(CompilerPlace, SupportIsQueriedOnceForNodesOfOneKind) {
  ValueId x = input({2});
  for (int i = 0; i < 1000; ++i) x = add("exp", {x});
  graph.outputs = {x};
  placed(options());
  EXPECT_LE(of_first.asked, 2u);
}

TEST_F(CompilerPlace, SupportIsQueriedAgainWhenAnyPropertyOfTheNodeDiffers) {
  Support support;
  const auto asks = [&](const LoweredNode& node, Device& device) {
    const std::size_t before = of_first.asked + of_second.asked;
    support.ask(node, graph, device);
    return of_first.asked + of_second.asked - before;
  };
  const auto node_of = [&](ValueId value) { return contiguous_node(graph.nodes[graph.values[value].index], graph); };
  const auto softmax_of = [&](ValueId x, int64_t axis) { return node_of(add("softmax", {x}, {{"axis", axis}})); };
  const ValueId x = input({2, 3}), w = graph.add_constant("w", {DType::float32, {2, 3}}, {nullptr, 0, {3, 1}});
  const LoweredNode plain = softmax_of(x, 0);
  EXPECT_EQ(asks(plain, *first), 1u);
  EXPECT_EQ(asks(plain, *first), 0u);
  EXPECT_EQ(asks(softmax_of(input({2, 3}), 0), *first), 0u) << "of which input it is does not matter";
  EXPECT_EQ(asks(plain, *second), 1u);
  EXPECT_EQ(asks(softmax_of(x, 1), *first), 1u);
  EXPECT_EQ(asks(softmax_of(input({3, 2}), 0), *first), 1u);
  EXPECT_EQ(asks(softmax_of(input({2, 3}, DType::float16), 0), *first), 1u);
  EXPECT_EQ(asks(softmax_of(w, 0), *first), 1u) << "constants may be prepared";
  EXPECT_EQ(asks(node_of(add("log_softmax", {x}, {{"axis", int64_t{0}}})), *first), 1u);
  LoweredNode turned = plain;
  turned.inputs[0].strides = {1, 2};
  EXPECT_EQ(asks(turned, *first), 1u);

  const auto fused = [&](const char* op, std::vector<uint32_t> operands, std::vector<uint32_t> outputs) {
    auto body = std::make_shared<Body>();
    body->inputs = {DType::float32, DType::float32};
    body->instructions.push_back({&ops::op_named(op), DType::float32, std::move(operands), {}});
    body->instructions.push_back({&ops::op_named("exp"), DType::float32, {2}, {}});
    body->outputs = std::move(outputs);
    LoweredNode node = plain;
    node.op = &ops::op_named("fused");
    node.attributes = std::make_shared<const ops::Attributes>();
    node.body = std::move(body);
    node.inputs = {plain.inputs[0], plain.inputs[0]};
    return node;
  };
  EXPECT_EQ(asks(fused("subtract", {0, 1}, {3}), *first), 1u);
  EXPECT_EQ(asks(fused("subtract", {0, 1}, {3}), *first), 0u);
  EXPECT_EQ(asks(fused("add", {0, 1}, {3}), *first), 1u);
  EXPECT_EQ(asks(fused("subtract", {1, 0}, {3}), *first), 1u);
  EXPECT_EQ(asks(fused("subtract", {0, 1}, {2}), *first), 1u);
}

// Otherwise an out-of-memory error would look like a missing kernel, and the work would move to another device.
TEST_F(CompilerPlace, FailedSupportQueryIsAnErrorAndNotARefusal) {
  graph.outputs = {add("exp", {input({2})})};
  for (const fe_code code : {FE_OUT_OF_MEMORY, FE_DEVICE_LOST, FE_INTERNAL}) {
    of_first.failure = code;
    const Error error = error_of([&] { placed(options()); });
    EXPECT_EQ(error.code(), code);
    EXPECT_STREQ(error.what(), "exp: t_first:0 failed to say whether it supports it: the test has no answer");
  }
  of_first.failure = static_cast<fe_code>(1000);
  EXPECT_EQ(error_of([&] { placed(options()); }).code(), FE_INTERNAL);
  EXPECT_EQ(of_second.asked, 0u);
}

}  // namespace
}  // namespace ferrule::test
