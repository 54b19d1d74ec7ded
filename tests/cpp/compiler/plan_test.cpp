// compile() as a whole: segments, transfers, outputs, and compile time.
#include "compiler_fixture.h"
#include "core/memory/storage.h"

#include <nlohmann/json.hpp>

#include <ctime>

namespace ferrule::test {
namespace {

class CompilerPlan : public CompilerTest {
 protected:
  using List = std::vector<int64_t>;
  // "t_first:0[exp softmax] -> t_second:0[tanh]"; an arrow is a transfer.
  static std::string text_of(const Plan& plan) {
    std::string text;
    for (const auto& step : plan.steps) {
      if (!text.empty()) text += ' ';
      if (std::holds_alternative<Transfer>(step)) {
        text += "->";
        continue;
      }
      const auto& segment = std::get<Segment>(step);
      text += segment.device->name() + "[";
      for (std::size_t i = 0; i < segment.nodes.size(); ++i) text += std::string(i ? " " : "") + segment.nodes[i].op();
      text += ']';
    }
    return text;
  }
};

TEST_F(CompilerPlan, GraphIsSplitIntoSegmentsOfOneDeviceWithTransfers) {
  of_first.refused = {"tanh"};
  graph.outputs = {add("softmax", {add("tanh", {add("exp", {input({2, 3})})})})};
  const Plan plan = compile(graph, options());
  EXPECT_EQ(text_of(plan), "t_first:0[exp] -> t_second:0[tanh] -> t_first:0[softmax]");
  ASSERT_EQ(plan.outputs.size(), 1u);
  EXPECT_EQ(plan.slots[plan.outputs[0].index].device, first.get());
  const auto placement = nlohmann::json::parse(placement_to_json(plan)).at("nodes");
  EXPECT_EQ(placement[1]["device"], "t_second:0");
  EXPECT_EQ(placement[1]["reason"], "the test refuses it");
  EXPECT_EQ(placement[0]["reason"], "");
}

TEST_F(CompilerPlan, OutputComputedOnAnotherDeviceIsTransferredBack) {
  graph.outputs = {add("exp", {input({2})}, {}, second.get())};
  const Plan plan = compile(graph, options());
  EXPECT_EQ(text_of(plan), "-> t_second:0[exp] ->");
  EXPECT_EQ(plan.slots[plan.outputs[0].index].device, first.get());
}

TEST_F(CompilerPlan, ValueIsTransferredOnceForAllReaders) {
  const ValueId a = add("exp", {input({2})});
  const ValueId b = add("softmax", {a}, {}, second.get()), c = add("tanh", {a}, {}, second.get());
  graph.outputs = {add("add", {b, c}, {}, second.get())};
  EXPECT_EQ(text_of(compile(graph, options())).find("-> ->"), std::string::npos);
}

TEST_F(CompilerPlan, OutputsThatAreViewsOfInputsPassThrough) {
  const ValueId x = input({2, 3}), s = scalar(4);
  graph.outputs = {add("permute_dims", {x}, {{"axes", List{1, 0}}}), s, x};
  const Plan plan = compile(graph, options());
  EXPECT_TRUE(plan.steps.empty());
  EXPECT_EQ(plan.outputs[0].kind, Plan::Output::Kind::input);
  EXPECT_EQ(plan.outputs[0].strides, (Strides{1, 3}));
  EXPECT_EQ(plan.outputs[1].kind, Plan::Output::Kind::scalar);
  EXPECT_EQ(plan.outputs[2].kind, Plan::Output::Kind::input);
}

TEST_F(CompilerPlan, EmptyResultsMayBeRead) {
  const ValueId empty = add("add", {input({2, 0}), scalar(1)});
  graph.outputs = {add("sum", {empty}, {{"axis", List{1}}}), empty,
                   add("concat", {empty, input({2, 3})}, {{"axis", int64_t{1}}}),
                   add("matmul", {empty, input({0, 3})})};
  const Plan plan = compile(graph, options());
  EXPECT_EQ(text_of(plan), "t_first:0[sum concat matmul]");
  const fe_graph_view& view = graph_view_of(*std::get<Segment>(plan.steps[0]).view);
  EXPECT_EQ(view.storages[view.values[view.nodes[0]->inputs[0]]->storage]->size, 0u);
}

TEST_F(CompilerPlan, EmptyResultsMayBeReadOnOtherDevices) {
  const ValueId empty = add("add", {input({2, 0}), scalar(1)});
  graph.outputs = {add("sum", {empty}, {{"axis", List{1}}}, second.get())};
  const Plan plan = compile(graph, options());
  EXPECT_EQ(text_of(plan), "t_second:0[sum] ->");
}

TEST_F(CompilerPlan, StorageSizeCoversTheReachOfItsValues) {
  const ValueId rows = graph.add_input("rows", {DType::float32, {2, 3}}, {8, 1});
  const ValueId same = graph.add_input("same", {DType::float32, {5, 3}}, {0, 1});
  graph.outputs = {add("softmax", {rows}), add("softmax", {same})};
  const Plan plan = compile(graph, options());
  const fe_graph_view& view = graph_view_of(*std::get<Segment>(plan.steps[0]).view);
  const auto size = [&](uint32_t node) {
    return view.storages[view.values[view.nodes[node]->inputs[0]]->storage]->size;
  };
  EXPECT_EQ(size(0), 11 * 4u);
  EXPECT_EQ(size(1), 3 * 4u);
}

TEST_F(CompilerPlan, MatmulOnAFallbackDeviceKeepsItsReasonUnderFusion) {
  of_first.refused = {"matmul"};
  const ValueId product = add("matmul", {input({2, 3}), input({3, 4})});
  graph.outputs = {add("exp", {product}, {}, second.get())};
  const auto placement = nlohmann::json::parse(placement_to_json(compile(graph, options()))).at("nodes");
  EXPECT_EQ(placement[0]["op"], "matmul");
  EXPECT_EQ(placement[0]["reason"], "the test refuses it");
}

TEST_F(CompilerPlan, ConstantThatIsPackedAndReadHasTwoStorages) {
  of_first.packs = true;
  static float bytes[16] = {};
  const auto storage = Storage::borrow(first, bytes, sizeof bytes, FE_ACCESS_READ, nullptr);
  const ValueId w = graph.add_constant("w", {DType::float32, {4, 4}}, {storage, 0, {4, 1}});
  const ValueId a = add("matmul", {input({2, 4}), w}), b = add("matmul", {input({3, 4}), w});
  graph.outputs = {a, b, add("softmax", {w})};
  const Plan plan = compile(graph, options());
  const auto& segment = std::get<Segment>(plan.steps[0]);
  const fe_graph_view& view = graph_view_of(*segment.view);
  const auto storage_of = [&](uint32_t node, uint32_t k) { return view.values[view.nodes[node]->inputs[k]]->storage; };
  EXPECT_EQ(storage_of(0, 1), storage_of(1, 1));
  EXPECT_NE(storage_of(0, 1), storage_of(2, 0));
  EXPECT_EQ(view.storages[storage_of(0, 1)]->prepared, 1);
  EXPECT_EQ(view.storages[storage_of(2, 0)]->prepared, 0);
  EXPECT_NE(plan.slots[segment.bindings[view.storages[storage_of(0, 1)]->binding]].prepared, nullptr);
  EXPECT_EQ(plan.slots[segment.bindings[view.storages[storage_of(2, 0)]->binding]].prepared, nullptr);
}

TEST_F(CompilerPlan, EqualGraphsGiveEqualPlans) {
  of_first.refused = {"tanh"};
  ValueId a = input({4, 4});
  for (int i = 0; i < 20; ++i) a = add("tanh", {add("add", {add("matmul", {a, a}), add("exp", {a})})});
  graph.outputs = {a};
  EXPECT_EQ(plan_to_json(compile(graph, options())), plan_to_json(compile(graph, options())));
}

TEST_F(CompilerPlan, LongChainsCompileInLinearTime) {
  const auto seconds = [&](int count) {
    graph = {};
    const ValueId x = input({4});
    ValueId sum = x;
    for (int i = 0; i < count; ++i) sum = add("add", {sum, x});
    graph.outputs = {sum};
    const std::clock_t begin = std::clock();  // CPU time: the machine may be busy with other work
    const Plan plan = compile(std::move(graph), options());
    EXPECT_EQ(plan.workspace_size, 2 * 64u);
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  };
  const double part = seconds(20'000), whole = seconds(200'000);
  std::printf("20,000 adds: %.3f s, 200,000 adds: %.3f s\n", part, whole);
  // Ten times the nodes take up to twenty times as long because of cache misses. Quadratic time would be 100 times as
  // long.
  EXPECT_LT(whole, 50 * part);
}

}  // namespace
}  // namespace ferrule::test
