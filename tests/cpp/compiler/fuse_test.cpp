// Fusing: the graph before and after.
#include "compiler_fixture.h"

#include "core/graph/node_text.h"

namespace ferrule::test {
namespace {

class CompilerFuse : public CompilerTest {
 protected:
  Graph fused() {
    Support support;
    std::vector<std::string> reasons(graph.nodes.size());
    Graph result = fuse(graph, first.get(), support, reasons);
    check(result);
    EXPECT_EQ(reasons.size(), result.nodes.size());
    return result;
  }
};

TEST_F(CompilerFuse, ChainBecomesOneNodeWithBroadcastInputs) {
  const ValueId x = input({2, 3}), bias = input({3});
  graph.outputs = {add("exp", {add("multiply", {add("add", {x, bias}), scalar(2)})})};
  EXPECT_EQ(ops_of(graph), "add multiply exp");
  EXPECT_EQ(to_text(fused()),
            "%0 = input x0 : float32(2, 3)\n"
            "%1 = input x1 : float32(3,)\n"
            "%2 = scalar : float32()\n"
            "%3 = fused(%0, %1, %2) { add 0 1; multiply 3 2; exp 4 } : float32(2, 3)\n"
            "return %3\n");
}

TEST_F(CompilerFuse, ResultsReadOutsideTheRegionAreOutputs) {
  const ValueId a = add("exp", {input({2, 3})});
  graph.outputs = {add("tanh", {a}), a};
  const Graph result = fused();
  EXPECT_EQ(ops_of(result), "fused{exp tanh}");
  EXPECT_EQ(result.nodes[0].outputs.size(), 2u);
}

TEST_F(CompilerFuse, EachOutputThatIsReadIsAnInstruction) {
  const std::vector<ValueId> apart = graph.add_call(ops::op_named("frexp"), std::vector{input({4})}, {});
  graph.outputs = {add("exp", {apart[0]}), apart[1]};
  const Graph both = fused();
  EXPECT_EQ(node_text(both, both.nodes[0]),
            "%1, %2 = fused(%0) { frexp.mantissa 0; frexp.exponent 0; exp 1 } : int32(4,), float32(4,)");
  graph.outputs = {add("exp", {apart[0]})};
  EXPECT_EQ(ops_of(fused()), "fused{frexp exp}");
}

TEST_F(CompilerFuse, SingleOpWithSeveralOutputsKeepsItsNode) {
  graph.outputs = graph.add_call(ops::op_named("frexp"), std::vector{input({4})}, {});
  const Graph result = fused();
  EXPECT_EQ(ops_of(result), "frexp");
  EXPECT_EQ(result.nodes[0].outputs.size(), 2u);
}

TEST_F(CompilerFuse, NodeThatReadsARegionEndsItToAvoidACycle) {
  const ValueId a = add("exp", {input({2, 2})});
  const ValueId m = add("softmax", {a});
  graph.outputs = {add("add", {add("tanh", {a}), m})};
  EXPECT_EQ(ops_of(fused()), "exp softmax fused{tanh add}");
}

TEST_F(CompilerFuse, RegionsHoldAtMost64Instructions) {
  ValueId x = input({2});
  for (int i = 0; i < 200; ++i) x = add("exp", {x});
  graph.outputs = {x};
  std::size_t instructions = 0;
  for (const Node& node : fused().nodes) {
    ASSERT_LE(node.body ? node.body->instructions.size() : 1, 64u);
    instructions += node.body ? node.body->instructions.size() : 1;
  }
  EXPECT_EQ(instructions, 200u);
}

TEST_F(CompilerFuse, NodesOfOtherShapesOrDevicesFormOtherRegions) {
  const ValueId small = add("tanh", {add("exp", {input({3})})});
  const ValueId wide = add("exp", {add("add", {small, input({2, 3})})});
  graph.outputs = {add("tanh", {add("exp", {wide}, {}, second.get())}, {}, second.get())};
  EXPECT_EQ(ops_of(fused()), "fused{exp tanh} fused{add exp} fused{exp tanh}");
}

TEST_F(CompilerFuse, EpilogueIsFusedIntoItsMatmul) {
  const ValueId product = add("matmul", {input({4, 2}), input({2, 3})});
  graph.outputs = {add("exp", {add("add", {product, input({3})})})};
  EXPECT_EQ(ops_of(fused()), "matmul{add exp}");
  of_first.takes_epilogues = false;
  EXPECT_EQ(ops_of(fused()), "matmul fused{add exp}");
  of_first.takes_bodies = false;
  EXPECT_EQ(ops_of(fused()), "matmul add exp");
}

TEST_F(CompilerFuse, SingleOpIsFusedOnlyAsAnEpilogue) {
  const ValueId product = add("matmul", {input({4, 2}), input({2, 3})});
  graph.outputs = {add("exp", {product}), add("tanh", {input({4, 3})})};
  EXPECT_EQ(ops_of(fused()), "matmul{exp} tanh");
}

TEST_F(CompilerFuse, DecomposableOpsAreFusedUndecomposed) {
  ValueId x = add("matmul", {input({4, 2}), input({2, 3})});
  for (const char* op : {"relu", "silu", "square", "reciprocal"}) x = add(op, {x});
  graph.outputs = {add("clip", {x, scalar(0), scalar(1)})};
  EXPECT_EQ(ops_of(fused()), "matmul{relu silu square reciprocal clip}");
}

TEST_F(CompilerFuse, MatmulWithOtherReadersKeepsItsOwnNode) {
  const ValueId product = add("matmul", {input({4, 2}), input({2, 3})});
  graph.outputs = {add("exp", {product}), product};
  EXPECT_EQ(ops_of(fused()), "matmul exp");
}

TEST_F(CompilerFuse, EpilogueMayNotReadValuesThatDependOnItsMatmul) {
  const ValueId product = add("matmul", {input({3, 3}), input({3, 3})});
  const ValueId normal = add("softmax", {add("exp", {product})});
  graph.outputs = {add("add", {product, normal})};
  fused();  // check() finds a cycle
}

TEST_F(CompilerFuse, TwoMatmulsInOneRegionGiveOneEpilogue) {
  const ValueId a = add("matmul", {input({3, 3}), input({3, 3})}), b = add("matmul", {a, input({3, 3})});
  graph.outputs = {add("exp", {add("add", {b, add("matmul", {input({3, 3}), input({3, 3})})})})};
  EXPECT_EQ(fused().nodes.size(), 3u);
}

}  // namespace
}  // namespace ferrule::test
