// Lowering and layout: views become strides; copies are inserted only where strides are not enough.
#include "compiler_fixture.h"
#include "core/compiler/layout.h"

namespace ferrule::test {
namespace {

class CompilerLower : public CompilerTest {
 protected:
  LoweredGraph lowered() { return lower_views(graph, first.get(), std::vector<std::string>(graph.nodes.size())); }
  LoweredGraph laid_out() {
    LoweredGraph result = lowered();
    Support support;
    satisfy_layouts(result, first.get(), support);
    for (const LoweredNode& node : result.nodes) EXPECT_EQ(node.kernel, fmt::format("t_first {}", node.op->name));
    return result;
  }
  // "op(%root +offset shape strides, ...) -> %value", one line per node.
  static std::string text_of(const LoweredGraph& lowered) {
    std::string text;
    for (const LoweredNode& node : lowered.nodes) {
      text += std::string(node.op->name) + ":";
      for (const Operand& input : node.inputs)
        text += fmt::format(" %{}+{}{}/{}", input.root, input.offset, to_string(input.type.shape),
                            to_string(input.strides));
      text += fmt::format(" -> %{}\n", node.outputs[0]);
    }
    return text;
  }
  using List = std::vector<int64_t>;
};

TEST_F(CompilerLower, ViewsBecomeStridesOfTheirRoot) {
  const ValueId x = input({4, 6});
  const ValueId part = add("slice", {x}, {{"starts", List{3, 1}}, {"sizes", List{2, 3}}, {"steps", List{-2, 2}}});
  const ValueId turned = add("permute_dims", {part}, {{"axes", List{1, 0}}});
  graph.outputs = {add("exp", {turned})};
  EXPECT_EQ(text_of(lowered()), "exp: %0+19(3, 2)/(2, -12) -> %3\n");
}

TEST_F(CompilerLower, ElementwiseOperandsAreBroadcastByZeroStrides) {
  graph.outputs = {add("add", {input({2, 1, 3}), add("add", {input({3}), scalar(1)})})};
  EXPECT_EQ(text_of(lowered()),
            "add: %1+0(3,)/(1,) %2+0(3,)/(0,) -> %3\n"
            "add: %0+0(2, 1, 3)/(3, 3, 1) %3+0(2, 1, 3)/(0, 0, 1) -> %4\n");
}

TEST_F(CompilerLower, MatmulOperandsAreBroadcastOnTheirLeadingAxes) {
  graph.outputs = {add("matmul", {input({5, 2, 3}), input({3, 4})})};
  EXPECT_EQ(text_of(lowered()), "matmul: %0+0(5, 2, 3)/(6, 3, 1) %1+0(5, 3, 4)/(0, 4, 1) -> %2\n");
}

TEST_F(CompilerLower, ReshapesThatStridesExpressCostNothing) {
  const ValueId turned = add("permute_dims", {input({2, 3, 4})}, {{"axes", List{1, 0, 2}}});
  graph.outputs = {add("exp", {add("reshape", {turned}, {{"shape", List{3, 1, 2, 2, 2}}})})};
  EXPECT_EQ(text_of(lowered()), "exp: %0+0(3, 1, 2, 2, 2)/(4, 0, 12, 2, 1) -> %3\n");
}

TEST_F(CompilerLower, ReshapesThatStridesCannotExpressAreCopies) {
  const ValueId turned = add("permute_dims", {input({2, 3})}, {{"axes", List{1, 0}}});
  graph.outputs = {add("exp", {add("reshape", {turned}, {{"shape", List{6}}})})};
  EXPECT_EQ(text_of(lowered()),
            "copy: %0+0(3, 2)/(1, 3) -> %4\n"
            "exp: %4+0(6,)/(1,) -> %3\n");
}

TEST_F(CompilerLower, NodesWithoutElementsAreDroppedButEmptyReductionsRun) {
  const ValueId x = input({2, 0});
  graph.outputs = {add("exp", {x}), add("sum", {x}, {{"axis", List{1}}})};
  EXPECT_EQ(text_of(lowered()), "sum: %0+0(2, 0)/(1, 1) -> %2\n");
}

TEST_F(CompilerLower, LayoutRequirementsOfKernelsAreMetByCopiesWithAReason) {
  of_first.wants_contiguous = {"softmax"};
  const ValueId turned = add("permute_dims", {input({2, 3})}, {{"axes", List{1, 0}}});
  graph.outputs = {add("softmax", {turned})};
  const LoweredGraph result = laid_out();
  EXPECT_EQ(text_of(result),
            "copy: %0+0(3, 2)/(1, 3) -> %3\n"
            "softmax: %3+0(3, 2)/(2, 1) -> %2\n");
  EXPECT_EQ(result.nodes[0].reason, "the kernel reads contiguous memory");
}

TEST_F(CompilerLower, KernelThatRefusesStridesGetsCopies) {
  of_first.refuses_strides = {"softmax"};
  graph.outputs = {add("softmax", {add("permute_dims", {input({2, 3})}, {{"axes", List{1, 0}}})})};
  const LoweredGraph result = laid_out();
  EXPECT_EQ(text_of(result),
            "copy: %0+0(3, 2)/(1, 3) -> %3\n"
            "softmax: %3+0(3, 2)/(2, 1) -> %2\n");
  EXPECT_EQ(result.nodes[0].reason, "the kernel does not read these strides: the test reads rows");
}

TEST_F(CompilerLower, KernelThatRefusesItsCopiesTooIsAnError) {
  of_first.refused = {"softmax"};
  graph.outputs = {add("softmax", {add("permute_dims", {input({2, 3})}, {{"axes", List{1, 0}}})})};
  const Error error = error_of([&] { laid_out(); });
  EXPECT_EQ(error.code(), FE_UNSUPPORTED);
  EXPECT_STREQ(error.what(), "softmax is not supported by t_first:0: the test refuses it");
}

TEST_F(CompilerLower, InnermostContiguityAloneLeavesOuterStridesAlone) {
  of_first.wants_rows = {"softmax"};
  const ValueId x = input({4, 6});
  const ValueId rows = add("slice", {x}, {{"starts", List{0, 2}}, {"sizes", List{2, 3}}, {"steps", List{2, 1}}});
  const ValueId columns = add("slice", {x}, {{"starts", List{0, 0}}, {"sizes", List{4, 3}}, {"steps", List{1, 2}}});
  graph.outputs = {add("softmax", {rows}), add("softmax", {columns})};
  EXPECT_EQ(text_of(laid_out()),
            "softmax: %0+2(2, 3)/(12, 1) -> %3\n"
            "copy: %0+0(4, 3)/(6, 2) -> %5\n"
            "softmax: %5+0(4, 3)/(3, 1) -> %4\n");
}

TEST_F(CompilerLower, PartAtAnAlignedByteIsReadInPlace) {
  of_first.wants_aligned = {"softmax"};
  const ValueId x = add("exp", {input({24})});
  const auto from = [&](int64_t start) {
    const ValueId part = add("slice", {x}, {{"starts", List{start}}, {"sizes", List{8}}, {"steps", List{1}}});
    return add("softmax", {part});
  };
  graph.outputs = {from(4), from(6), from(12)};
  EXPECT_EQ(text_of(laid_out()),
            "exp: %0+0(24,)/(1,) -> %1\n"
            "softmax: %1+4(8,)/(1,) -> %3\n"
            "copy: %1+6(8,)/(1,) -> %8\n"
            "softmax: %8+0(8,)/(1,) -> %5\n"
            "softmax: %1+12(8,)/(1,) -> %7\n");
}

TEST_F(CompilerLower, OutputHasItsOwnMemory) {
  const ValueId a = add("exp", {input({2, 3})});
  const ValueId turned = add("permute_dims", {a}, {{"axes", List{1, 0}}});
  graph.outputs = {a, a, turned, graph.inputs[0]};
  EXPECT_EQ(text_of(laid_out()),
            "exp: %0+0(2, 3)/(3, 1) -> %1\n"
            "copy: %1+0(2, 3)/(3, 1) -> %3\n"
            "copy: %1+0(3, 2)/(1, 3) -> %4\n");
}

}  // namespace
}  // namespace ferrule::test
