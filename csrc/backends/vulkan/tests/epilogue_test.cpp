// Elementwise ops fused to a matrix product or a reduction need no extra dispatch, or are refused with a reason.
#include "graphs/compile_graph.h"

#include <ferrule/ops.h>

#include "pipelines/embedded_shaders.h"
#include "pipelines/splice.h"
#include "graph_view.h"

namespace ferrule::test {
namespace {

using vulkan::Dispatch;
using vulkan::Plan;

constexpr vulkan::Capabilities any_device = {.float64 = true};

// y = op(product + bias), or only the sum.
class VulkanEpilogue : public PlansNodes {
 protected:
  struct Fused {
    View view;
    fe_instruction add{}, then{};
    const fe_instruction* instructions[2] = {&add, &then};
    uint32_t add_inputs[2] = {0, 1}, then_inputs[1] = {2}, outputs[1] = {3};
    fe_dtype dtypes[2] = {};
    fe_body body{};

    Plan plan(std::string_view op, const void* attributes = nullptr) {
      return vulkan::plan_of(view.planned(op, attributes, &body), any_device);
    }
  };
  static std::unique_ptr<Fused> fused(std::string_view dtype, std::string_view then) {
    auto made = std::make_unique<Fused>();
    const fe_dtype id = dtype_id(dtype);
    made->add = {sizeof(fe_instruction), op_id("add"), id, 2, 1, made->add_inputs, nullptr, 0};
    made->then = {sizeof(fe_instruction), op_id(then), id, 1, 1, made->then_inputs, nullptr, 0};
    made->dtypes[0] = made->dtypes[1] = id;
    made->body = {sizeof(fe_body), 2, 2, 1, made->dtypes, made->instructions, made->outputs};
    return made;
  }
  static std::unique_ptr<Fused> product(std::string_view dtype, int64_t m, int64_t n, int64_t k,
                                        std::string_view then = "relu") {
    auto made = fused(dtype, then);
    made->view.input(dtype, {m, k}, {k, 1});
    made->view.input(dtype, {k, n}, {n, 1});
    made->view.input(dtype, {n}, {1});
    made->view.output(dtype, {m, n}, {n, 1});
    return made;
  }

  // Throws for a call that does not match the shader's functions.
  static std::string calls_of(const Dispatch& dispatch) {
    vulkan::splice(vulkan::find_shader(dispatch.shader), dispatch.calls);
    std::string names;
    for (const vulkan::Call& call : dispatch.calls) names += (names.empty() ? "" : " ") + call.function;
    return names;
  }
};

TEST_F(VulkanEpilogue, IsInTheDispatchOfItsProduct) {
  const Plan plan = product("float16", 17, 65, 130)->plan("matmul");
  ASSERT_TRUE(plan.support.supported) << plan.support.reason;
  ASSERT_EQ(plan.launches.size(), 1u);
  const Dispatch& dispatch = plan.launches[0];
  EXPECT_EQ(dispatch.shader, "matmul.f16");
  // The product is rounded before the epilogue reads it: fused equals unfused.
  EXPECT_EQ(calls_of(dispatch),
            "result_f32 as_f16 place_near load_float16 add_f32 as_f16 relu_f32 as_f16 place_flat store_float16");
  EXPECT_EQ(dispatch.reads, std::vector<uint32_t>({0, 1, 2}));
  EXPECT_EQ(dispatch.writes, std::vector<uint32_t>({3}));
}

TEST_F(VulkanEpilogue, IsInTheSegmentDispatchIfKIsSplit) {
  const Plan plan = product("bfloat16", 17, 65, 4096)->plan("matmul");
  ASSERT_EQ(plan.launches.size(), 2u);
  EXPECT_EQ(calls_of(plan.launches[0]), "leave_partial");
  EXPECT_EQ(plan.launches[0].writes, std::vector<uint32_t>({vulkan::scratch_value}));
  EXPECT_EQ(plan.launches[1].shader, "matmul_segments.f32");
  EXPECT_EQ(calls_of(plan.launches[1]),
            "result_f32 as_bf16 place_near load_bfloat16 add_f32 as_bf16 relu_f32 as_bf16 place_flat store_bfloat16");
  EXPECT_EQ(plan.launches[1].reads, std::vector<uint32_t>({vulkan::scratch_value, 2}));
  EXPECT_EQ(plan.launches[1].writes, std::vector<uint32_t>({3}));
}

TEST_F(VulkanEpilogue, SupportsProductsOfEveryDtype) {
  for (const DTypeRow& row : dtype_rows) {
    if (!ferrule::ops::accepts(ferrule::ops::real_numeric, row.dtype)) continue;
    for (const int64_t k : {16, 4096}) {
      auto fused = product(row.name, 17, 65, k);
      const Plan with = fused->plan("matmul");
      const Plan without = vulkan::plan_of(fused->view.planned("matmul"), any_device);
      EXPECT_TRUE(with.support.supported) << row.name << with.support.reason;
      EXPECT_EQ(with.launches.size(), without.launches.size()) << row.name;
      for (const Plan* plan : {&with, &without})
        for (const Dispatch& dispatch : plan->launches) EXPECT_NO_THROW(calls_of(dispatch)) << row.name;
    }
  }
}

TEST_F(VulkanEpilogue, IsInTheLastDispatchOfAReduction) {
  const int64_t first[] = {0}, second[] = {1};
  for (const char* dtype : {"float32", "float16", "bfloat16"})
    for (const char* op : {"sum", "max"})
      for (const auto& [shape, axis] : {std::pair{Axes{65, 17}, first},
                                        {Axes{65, 17}, second},
                                        {Axes{3, 70000}, second},
                                        {Axes{70000, 100}, first},
                                        {Axes{1, 40000000}, second}}) {
        auto made = fused(dtype, "relu");
        const int64_t results = shape[1 - static_cast<size_t>(*axis)];
        made->view.input(dtype, shape, {shape[1], 1});
        made->view.input(dtype, {results}, {1});
        made->view.output(dtype, {results}, {1});
        const fe_sum_attributes attributes = {.struct_size = sizeof(attributes), .axis = {axis, 1}, .keepdims = 0};
        const Plan with = made->plan(op, &attributes);
        ASSERT_TRUE(with.support.supported) << with.support.reason;
        made->view.inputs.resize(1);
        const Plan without = vulkan::plan_of(made->view.planned(op, &attributes), any_device);
        ASSERT_EQ(with.launches.size(), without.launches.size());
        for (const Plan* plan : {&with, &without}) {
          for (size_t i = 0; i + 1 < plan->launches.size(); ++i)
            EXPECT_EQ(calls_of(plan->launches[i]), "leave_partial");
          EXPECT_TRUE(calls_of(plan->launches.back()).starts_with("result_f32"));
        }
        EXPECT_EQ(with.launches.back().reads.back(), 1u);
        EXPECT_EQ(with.launches.back().writes, std::vector<uint32_t>({2}));
      }
}

TEST_F(VulkanEpilogue, MissingFunctionsAreRefusedByName) {
  const Plan plan = product("float32", 17, 65, 130, "atan")->plan("matmul");
  EXPECT_FALSE(plan.support.supported);
  EXPECT_EQ(plan.support.reason, "atan of float32 is not supported in an epilogue");
  auto wide = product("float32", 17, 65, 130, "astype");
  const fe_astype_attributes to_double{sizeof(to_double), dtype_id("float64")};
  wide->then.attributes = &to_double;
  wide->then.dtype = dtype_id("float64");
  EXPECT_EQ(wide->plan("matmul").support.reason, "what is fused to it computes in float64");
  auto whole = fused("int64", "abs");
  whole->view.input("int64", {4, 3}, {3, 1});
  whole->view.input("int64");
  whole->view.output("int64");
  const int64_t last[] = {1};
  const fe_sum_attributes sum = {.struct_size = sizeof(sum), .axis = {last, 1}, .keepdims = 0};
  EXPECT_EQ(whole->plan("sum", &sum).support.reason, "it does not run the ops that are fused to it");
}

}  // namespace
}  // namespace ferrule::test
