// Elementwise nodes on Vulkan become calls that match the shader's functions, or are refused with a reason.
#include "graphs/elementwise_body.h"

#include <ferrule/ops.h>

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipelines/embedded_shaders.h"
#include "pipelines/splice.h"
#include "graph_view.h"

namespace {

using ferrule::test::dtype_id;
using ferrule::test::op_id;
using ferrule::test::View;
using ferrule::vulkan::Body;
using ferrule::vulkan::body_of;
using ferrule::vulkan::find_shader;
using ferrule::vulkan::PlannedNode;

class VulkanBody : public ferrule::test::PlansNodes {
 protected:
  // Renders the function names, and splices them: a type mismatch throws.
  static std::string written(const Body& body) {
    ferrule::vulkan::splice(find_shader(body.uses_float64 ? "elementwise.f64" : "elementwise.basic"), body.calls);
    std::string names;
    for (const auto& call : body.calls) names += (names.empty() ? "" : " ") + call.function;
    return names;
  }
  static std::string single(std::string_view op, const std::vector<std::string_view>& in, std::string_view out,
                            const void* attributes = nullptr) {
    View view;
    for (const std::string_view dtype : in) view.input(dtype);
    view.output(out);
    return written(body_of(view.planned(op, attributes)));
  }
};

TEST_F(VulkanBody, SingleOpIsOneFunctionBetweenLoadsAndAStore) {
  EXPECT_EQ(single("exp", {"float32"}, "float32"), "place_flat load_float32 exp_f32 store_float32");
  EXPECT_EQ(single("add", {"float16", "float16"}, "float16"),
            "place_flat load_float16 load_float16 add_f32 as_f16 store_float16");
  EXPECT_EQ(single("less", {"uint8", "uint8"}, "bool"), "place_flat load_uint8 load_uint8 less_u32 store_bool");
  EXPECT_EQ(single("copy", {"float16"}, "float16"), "place_flat load_uint16 store_uint16");
  const fe_gelu_attributes tanh{sizeof(tanh), "tanh"};
  EXPECT_EQ(single("gelu", {"float32"}, "float32", &tanh), "place_flat load_float32 gelu_tanh_f32 store_float32");
}

TEST_F(VulkanBody, FunctionOfTheDtypeItselfIsPreferred) {
  const auto neighbour = [](std::string_view dtype) { return single("nextafter", {dtype, dtype}, dtype); };
  EXPECT_EQ(neighbour("float32"), "place_flat load_float32 load_float32 nextafter_f32 store_float32");
  EXPECT_EQ(neighbour("float16"), "place_flat load_float16 load_float16 nextafter_f16 as_f16 store_float16");
  EXPECT_EQ(neighbour("bfloat16"), "place_flat load_bfloat16 load_bfloat16 nextafter_bf16 as_bf16 store_bfloat16");
  EXPECT_EQ(neighbour("float64"), "place_flat load_float64 load_float64 nextafter_f64 store_float64");
}

TEST_F(VulkanBody, PositiveMovesBitsAsACopy) {
  EXPECT_EQ(single("positive", {"float16"}, "float16"), "place_flat load_uint16 store_uint16");
  EXPECT_EQ(single("positive", {"complex64"}, "complex64"), "place_flat load_uint64 store_uint64");
}

TEST_F(VulkanBody, ConversionsAreRoundedOnceAndSaturate) {
  EXPECT_EQ(single("astype", {"int64"}, "float16"), "place_flat load_int64 odd_i64_f32 as_f16 store_float16");
  EXPECT_EQ(single("astype", {"float32"}, "int8"), "place_flat load_float32 cast_f32_i32 saturated_i8 store_int8");
  EXPECT_EQ(single("astype", {"int64"}, "int8"), "place_flat load_int64 cast_i64_i32 as_i8 store_int8");
  EXPECT_EQ(single("astype", {"float16"}, "float32"), "place_flat load_float16 store_float32");
}

TEST_F(VulkanBody, MissingFunctionsAreRefusedByName) {
  for (const auto& [op, dtype, reason] :
       {std::array{"exp", "float64", "exp of float64 is not supported"},
        std::array{"logical_not", "float32", "logical_not of float32 is not supported"}}) {
    try {
      single(op, {dtype}, dtype);
      ADD_FAILURE() << op;
    } catch (const ferrule::sdk::Error& error) {
      EXPECT_EQ(error.code(), FE_UNSUPPORTED);
      EXPECT_STREQ(error.what(), reason);
    }
  }
}

TEST_F(VulkanBody, OperandsAreReadByTheirStrides) {
  View view;
  view.input("float32", {2, 3, 4}, {12, 4, 1});
  view.input("float32", {4}, {1});
  view.input("float32", {4}, {1});
  view.output("float32", {2, 3, 4}, {12, 4, 1});
  view.input("float32", {}, {});
  EXPECT_EQ(written(body_of([&]() -> PlannedNode {
              view.inputs = {0, 1};
              return view.planned("add");
            }())),
            "place_flat load_float32 place_near load_float32 add_f32 store_float32");
  view.inputs = {1, 2};  // equal layouts share one offset
  EXPECT_EQ(written(body_of(view.planned("add"))),
            "place_near load_float32 load_float32 add_f32 place_flat store_float32");
  view.inputs = {0, 4};
  EXPECT_EQ(written(body_of(view.planned("add"))),
            "place_flat load_float32 place_single load_float32 add_f32 store_float32");
  View far;
  far.input("uint8", {2, 3}, {int64_t{1} << 40, 1});
  far.output("uint8", {2, 3}, {3, 1});
  EXPECT_EQ(written(body_of(far.planned("negative"))),
            "place_far load_uint8 negative_u32 as_u8 place_flat store_uint8");
}

TEST_F(VulkanBody, FusedBodyContainsItsInstructionsInOrder) {
  // y0 = float16(x0) + x1, y1 = y0 < x1
  const fe_astype_attributes half{sizeof(half), dtype_id("float16")};
  const uint32_t first[] = {0}, second[] = {2, 1};
  const fe_instruction cast{sizeof(cast), op_id("astype"), dtype_id("float16"), 1, 1, first, &half, 0};
  const fe_instruction add{sizeof(add), op_id("add"), dtype_id("float16"), 2, 1, second, nullptr, 0};
  const uint32_t third[] = {3, 1};
  const fe_instruction less{sizeof(less), op_id("less"), dtype_id("bool"), 2, 1, third, nullptr, 0};
  const fe_instruction* const instructions[] = {&cast, &add, &less};
  const fe_dtype dtypes[] = {dtype_id("int32"), dtype_id("float16")};
  const uint32_t outputs[] = {3, 4};
  const fe_body body{sizeof(body), 2, 3, 2, dtypes, instructions, outputs};
  View view;
  view.input("int32");
  view.input("float16");
  view.output("float16");
  view.output("bool");
  const Body found = body_of(view.planned("fused", nullptr, &body));
  EXPECT_EQ(written(found),
            "place_flat load_int32 load_float16 odd_i32_f32 as_f16 add_f32 as_f16 less_f32 store_float16 store_bool");
  EXPECT_EQ(found.reads, std::vector<uint32_t>({0, 1}));
  EXPECT_EQ(found.writes, std::vector<uint32_t>({2, 3}));
}

TEST_F(VulkanBody, EpilogueBeginsWithTheResultOfTheShader) {
  const uint32_t arguments[] = {0, 1};
  const fe_instruction add{sizeof(add), op_id("add"), dtype_id("bfloat16"), 2, 1, arguments, nullptr, 0};
  const fe_instruction* const instructions[] = {&add};
  const fe_dtype dtypes[] = {dtype_id("bfloat16"), dtype_id("bfloat16")};
  const uint32_t outputs[] = {2};
  const fe_body body{sizeof(body), 2, 1, 1, dtypes, instructions, outputs};
  View view;
  for (int i = 0; i < 3; ++i) view.input("bfloat16");
  view.output("bfloat16");
  const Body found = ferrule::vulkan::epilogue_of(view.planned("matmul", nullptr, &body), 2);
  std::string names;
  for (const auto& call : found.calls) names += call.function + " ";
  EXPECT_EQ(names, "result_f32 as_bf16 place_flat load_bfloat16 add_f32 as_bf16 store_bfloat16 ");
  EXPECT_EQ(found.reads, std::vector<uint32_t>({2}));
}

}  // namespace
