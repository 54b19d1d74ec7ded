// Elementwise ops: positions, integers, scratch memory, refusals, half precision.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

TEST_F(CpuBackend, ResultsDoNotDependOnThePositionOfAnElement) {
  const Array x = random_array({1, 257}, 4);
  for_each_module([&](Module& module) {
    for (const char* op : {"exp", "tanh", "erf", "sigmoid", "sin", "log1p"}) {
      const Array whole = compute(module, op, {&x}, "float32", {1, 257});
      for (int64_t offset : {1, 7, 15, 100, 256}) {
        Array part = x;
        part.offset = offset;
        part.shape = {257 - offset};
        part.strides = {1};
        const Array y = compute(module, op, {&part}, "float32", part.shape);
        EXPECT_EQ(std::memcmp(y.bytes.data(), whole.data<float>() + offset, static_cast<size_t>(257 - offset) * 4), 0)
            << op;
      }
    }
  });
}

TEST_F(CpuBackend, IntegerDivisionFollowsPythonAndNeverTraps) {
  const int32_t low = std::numeric_limits<int32_t>::min();
  const std::vector<int32_t> a = {7, -7, 7, -7, 5, low, low, 0, 6}, b = {2, 2, -2, -2, 0, -1, 0, 3, 3};
  const std::vector<int32_t> quotient = {3, -4, -4, 3, 0, low, 0, 0, 2}, rest = {1, 1, -1, -1, 0, 0, 0, 0, 0};
  const Array x = array_of("int32", {9}, a), y = array_of("int32", {9}, b);
  for_each_module([&](Module& module) {
    const Array q = compute(module, "floor_divide", {&x, &y}, "int32", {9});
    const Array r = compute(module, "remainder", {&x, &y}, "int32", {9});
    for (size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(q.data<int32_t>()[i], quotient[i]) << a[i] << " // " << b[i];
      EXPECT_EQ(r.data<int32_t>()[i], rest[i]) << a[i] << " % " << b[i];
    }
  });
}

// The scratch size that the executable reported suffices even if the thread count has grown since.
TEST_F(CpuBackend, BodiesWriteOnlyTheScratchMemoryTheyAskedFor) {
  const Array x = random_array({300, 77}, 3), w = random_array({77}, 1, 2);
  const BodySpec body = {{"float32", "float32"},
                         {{"multiply", "float32", {0, 1}}, {"exp", "float32", {2}}, {"add", "float32", {3, 2}}},
                         {2, 4}};
  for_each_module([&](Module& module) {
    Array first = array("float32", {300, 77}), second = array("float32", {300, 77});
    OneNode node("fused", {&x, &w}, {&first, &second}, nullptr, &body);
    threads = 1;
    ASSERT_EQ(node.run(module), "");
    const Array expected = second;
    for (uint32_t n : {2u, 3u, 64u}) {
      threads = 1;
      EXPECT_EQ(node.run(module, [n] { threads = n; }), "");
      EXPECT_TRUE(same_bits(second, expected)) << n << " threads";
    }
  });
}

TEST_F(CpuBackend, NegativePowersOfIntegersAreRefused) {
  for_each_module([&](Module& module) {
    for (uint32_t n : {1u, 3u}) {
      threads = n;
      Array base = array("int32", {100003}), exponent = array("int32", {100003}), out = array("int32", {100003});
      std::fill_n(base.data<int32_t>(), base.count(), 1);
      std::fill_n(exponent.data<int32_t>(), exponent.count(), 3);
      const BodySpec body = {
          {"int32", "int32"}, {{"add", "int32", {0, 1}}, {"pow", "int32", {2, 1}}, {"add", "int32", {3, 0}}}, {4}};
      EXPECT_EQ(OneNode("pow", {&base, &exponent}, {&out}).run(module), "");
      EXPECT_EQ(OneNode("fused", {&base, &exponent}, {&out}, nullptr, &body).run(module), "");
      exponent.data<int32_t>()[100002] = -1;
      const std::string refusal = "pow: int32 to a negative integer power has no integer result";
      EXPECT_EQ(OneNode("pow", {&base, &exponent}, {&out}).run(module), refusal);
      EXPECT_EQ(OneNode("fused", {&base, &exponent}, {&out}, nullptr, &body).run(module), refusal);
    }
  });
}

TEST_F(CpuBackend, UnknownOpsAndDtypesAreRefusedWithAReason) {
  const Array x = random_array({4});
  for_each_module([&](Module& module) {
    Array out = array("float32", {4}), integers = array("int32", {4});
    std::string why;
    EXPECT_FALSE(OneNode("no_such_op", {&x}, {&out}).supported(module, &why));
    EXPECT_NE(why.find("no_such_op"), std::string::npos) << why;
    EXPECT_FALSE(OneNode("exp", {&x}, {&integers}).supported(module, &why));
    EXPECT_NE(why.find("exp"), std::string::npos) << why;
    EXPECT_TRUE(OneNode("exp", {&x}, {&out}).supported(module));
  });
}

TEST_F(CpuBackend, HalvesAreComputedInFloat32AndRoundedOnce) {
  const Array x = random_array({200}, 3);
  for_each_module([&](Module& module) {
    for (const char* half : {"float16", "bfloat16"}) {
      const Array h = cast(module, x, half);
      const Array wide = cast(module, h, "float32");
      const Array y = compute(module, "exp", {&h}, half, {200});
      const Array e = compute(module, "exp", {&wide}, "float32", {200});
      EXPECT_TRUE(same_bits(y, cast(module, e, half)));
      Array square = h;
      square.shape = {10, 20};
      square.strides = {20, 1};
      const fe_softmax_attributes last{sizeof last, 1};
      Array wide_square = wide;
      wide_square.shape = {10, 20};
      wide_square.strides = {20, 1};
      const Array s = compute(module, "softmax", {&square}, half, {10, 20}, &last);
      const Array f = compute(module, "softmax", {&wide_square}, "float32", {10, 20}, &last);
      EXPECT_TRUE(same_bits(s, cast(module, f, half)));
    }
  });
}

}  // namespace
}  // namespace cpu_backend
