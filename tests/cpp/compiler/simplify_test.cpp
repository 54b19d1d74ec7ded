// Passes that need no device: check, remove_dead, remove_duplicates, fold_constants.
#include "compiler_fixture.h"

#include <map>

namespace ferrule::test {
namespace {

using CompilerClean = CompilerTest;

TEST_F(CompilerClean, AGraphWithoutOutputsIsRefused) {
  add("exp", {input({2})});
  EXPECT_EQ(error_of([&] { check(graph); }).code(), FE_INVALID_ARGUMENT);
}

TEST_F(CompilerClean, OperandThatIsComputedLaterIsRefused) {
  const ValueId x = input({2}), a = add("exp", {x});
  add("tanh", {a});
  graph.outputs = {a};
  check(graph);
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_EQ(error_of([&] { check(graph); }).code(), FE_INVALID_ARGUMENT);
}

TEST_F(CompilerClean, NodesThatNoOutputNeedsAreRemoved) {
  const ValueId x = input({2});
  add("tanh", {add("exp", {x})});
  graph.outputs = {add("negative", {x})};
  EXPECT_EQ(ops_of(graph), "exp tanh negative");
  EXPECT_EQ(ops_of(remove_dead(graph)), "negative");
}

TEST_F(CompilerClean, EqualNodesAreMerged) {
  const ValueId x = input({2, 3});
  const ValueId a = add("exp", {x}), b = add("exp", {x});
  graph.outputs = {add("add", {add("tanh", {a}), add("tanh", {b})})};
  EXPECT_EQ(to_text(remove_duplicates(graph)),
            "%0 = input x0 : float32(2, 3)\n"
            "%1 = exp(%0) : float32(2, 3)\n"
            "%2 = tanh(%1) : float32(2, 3)\n"
            "%3 = add(%2, %2) : float32(2, 3)\n"
            "return %3\n");
}

TEST_F(CompilerClean, NodesThatDifferInAttributesOrDeviceAreNotMerged) {
  const ValueId x = input({2, 3});
  graph.outputs = {add("softmax", {x}, {{"axis", int64_t{0}}}), add("softmax", {x}, {{"axis", int64_t{1}}}),
                   add("softmax", {x}, {{"axis", int64_t{1}}}, second.get())};
  EXPECT_EQ(remove_duplicates(graph).nodes.size(), 3u);
}

// Nodes that differ in one attribute are not duplicates, even if only the end of a list differs.
TEST_F(CompilerClean, NodesThatDifferInOneAttributeAreNotMerged) {
  using List = std::vector<int64_t>;
  using Attributes = std::vector<ops::NamedAttribute>;
  const ValueId x = input({4, 4}), q = input({1, 4, 4});
  struct Pair {
    const char* op;
    std::vector<ValueId> operands;
    Attributes a, b;
  };
  const std::vector<Pair> pairs = {
      {"sum", {x}, {{"axis", List{0}}, {"keepdims", true}}, {{"axis", List{1}}, {"keepdims", true}}},
      {"sum", {x}, {{"axis", List{0}}, {"keepdims", true}}, {{"axis", List{0}}, {"keepdims", false}}},
      {"sum", {x}, {{"axis", List{0}}, {"keepdims", false}}, {{"axis", List{0, 1}}, {"keepdims", false}}},
      {"var", {x}, {{"axis", List{0}}, {"correction", 0.0}}, {{"axis", List{0}}, {"correction", 1.0}}},
      {"var", {x}, {{"axis", List{0}}, {"correction", 0.0}}, {{"axis", List{0}}, {"correction", -0.0}}},
      {"pad", {x}, {{"before", List{1, 0}}, {"after", List{0, 1}}}, {{"before", List{1, 1}}, {"after", List{0, 1}}}},
      {"pad", {x}, {{"before", List{1, 0}}, {"after", List{0, 1}}}, {{"before", List{1, 0}}, {"after", List{0, 2}}}},
      {"slice",
       {x},
       {{"starts", List{0, 0}}, {"sizes", List{2, 2}}, {"steps", List{1, 1}}},
       {{"starts", List{0, 1}}, {"sizes", List{2, 2}}, {"steps", List{1, 1}}}},
      {"slice",
       {x},
       {{"starts", List{0, 0}}, {"sizes", List{2, 2}}, {"steps", List{1, 1}}},
       {{"starts", List{0, 0}}, {"sizes", List{2, 2}}, {"steps", List{1, 2}}}},
      {"scaled_dot_product_attention",
       {q, q, q},
       {{"scale", 0.5}, {"causal", false}},
       {{"scale", 0.25}, {"causal", false}}},
      {"scaled_dot_product_attention",
       {q, q, q},
       {{"scale", 0.5}, {"causal", false}},
       {{"scale", 0.5}, {"causal", true}}},
      {"gelu", {x}, {{"approximate", std::string("none")}}, {{"approximate", std::string("tanh")}}},
      {"astype", {x}, {{"dtype", DType::int8}}, {{"dtype", DType::uint8}}},
  };
  for (const Pair& pair : pairs) {
    graph.nodes.clear();
    graph.outputs = {add(pair.op, pair.operands, pair.a), add(pair.op, pair.operands, pair.b)};
    EXPECT_EQ(remove_duplicates(graph).nodes.size(), 2u) << to_text(graph);
    graph.outputs = {graph.outputs[0], add(pair.op, pair.operands, pair.a)};
    EXPECT_EQ(remove_duplicates(graph).nodes.size(), 2u) << to_text(graph);
  }
}

TEST_F(CompilerClean, NodesThatDifferInOperandsOrTheirOrderAreNotMerged) {
  const ValueId x = input({2}), y = input({2});
  graph.outputs = {add("subtract", {x, y}), add("subtract", {y, x}), add("subtract", {x, x}), add("subtract", {x, y})};
  const Graph less = remove_duplicates(graph);
  EXPECT_EQ(less.nodes.size(), 3u);
  EXPECT_EQ(less.outputs[0], less.outputs[3]);
  EXPECT_NE(less.outputs[0], less.outputs[1]);
}

TEST_F(CompilerClean, FoldedConstantsOfOneShapeKeepTheirPlaces) {
  const ValueId x = input({3});
  const ValueId w = graph.add_constant("w", {DType::float32, {3}}, {nullptr, 0, {1}});
  const ValueId a = add("exp", {w}), b = add("negative", {w}), c = add("abs", {w});
  graph.outputs = {add("subtract", {x, a}), add("divide", {x, b}), add("multiply", {x, c}), b};
  CompileOptions options = this->options();
  // The offset of each result identifies the op that computed it.
  const std::map<std::string, int64_t> place = {{"exp", 10}, {"negative", 20}, {"abs", 30}};
  options.evaluate = [&](const Graph& constants) {
    std::vector<GraphConstant> results;
    for (ValueId output : constants.outputs)
      for (const Node& node : constants.nodes)
        if (node.outputs[0] == output) results.push_back({"", {nullptr, place.at(node.op->name), {1}}});
    return results;
  };
  const Graph folded = fold_constants(graph, options);
  ASSERT_EQ(ops_of(folded), "subtract divide multiply");
  const auto offset_of = [&](ValueId value) { return folded.constant_info[folded.values[value].index].data.offset; };
  EXPECT_EQ(offset_of(folded.nodes[0].inputs[1]), 10);
  EXPECT_EQ(offset_of(folded.nodes[1].inputs[1]), 20);
  EXPECT_EQ(offset_of(folded.nodes[2].inputs[1]), 30);
  EXPECT_EQ(offset_of(folded.outputs[3]), 20);
}

TEST_F(CompilerClean, ConstantNodesAreFoldedAndViewsStayViews) {
  const ValueId x = input({3, 2});
  const ValueId w = graph.add_constant("w", {DType::float32, {2, 3}}, {nullptr, 0, {3, 1}});
  const ValueId turned = add("permute_dims", {w}, {{"axes", std::vector<int64_t>{1, 0}}});
  const ValueId folded = add("exp", {add("negative", {turned})});
  graph.outputs = {add("add", {x, folded}), add("add", {x, turned})};
  CompileOptions options = this->options();
  std::string evaluated;
  options.evaluate = [&](const Graph& constants) {
    evaluated = ops_of(constants);
    EXPECT_TRUE(constants.inputs.empty());
    return std::vector<GraphConstant>{{"", {nullptr, 0, {2, 1}}}};
  };
  EXPECT_EQ(to_text(fold_constants(graph, options)),
            "%0 = input x0 : float32(3, 2)\n"
            "%1 = constant w : float32(2, 3)\n"
            "%2 = constant folded : float32(3, 2)\n"
            "%3 = permute_dims(%1, axes=[1, 0]) : float32(3, 2)\n"
            "%4 = add(%0, %2) : float32(3, 2)\n"
            "%5 = add(%0, %3) : float32(3, 2)\n"
            "return %4 %5\n");
  EXPECT_EQ(evaluated, "permute_dims negative exp");
}

TEST_F(CompilerClean, ResultsAboveTheLimitAreNotFolded) {
  const ValueId w = graph.add_constant("w", {DType::float32, {1, 1}}, {nullptr, 0, {1, 1}});
  CompileOptions options = this->options();
  options.evaluate = [](const Graph&) -> std::vector<GraphConstant> { throw Error(FE_INTERNAL, "it is folded"); };
  const auto fold = [&](int64_t elements) {
    graph.outputs = {add("exp", {add("broadcast_to", {w}, {{"shape", std::vector<int64_t>{1, elements}}})})};
    return ops_of(fold_constants(graph, options));
  };
  constexpr int64_t limit = int64_t{64} << 18;  // 64 MiB of float32
  EXPECT_EQ(fold(limit + 1), "broadcast_to exp");
  EXPECT_EQ(error_of([&] { fold(limit); }).what(), std::string("it is folded"));
}

}  // namespace
}  // namespace ferrule::test
