// Gathers and casts.
#include "backend_fixture.h"
#include "failing_allocations.h"

namespace cpu_backend {
namespace {

#if !defined(_WIN32)  // a DLL has an operator new of its own, which a test cannot make fail
TEST_F(CpuBackend, SupportsReportsOutOfMemoryInsteadOfARefusal) {
  const Array x = random_array({4}), y = random_array({4});
  Array out = array("float32", {4});
  OneNode graph("add", {&x, &y}, {&out});
  for_each_module([&](Module& module) {
    const std::size_t failed = ferrule::test::for_each_allocation([&](std::size_t n) {
      fe_requirements requirements{};
      requirements.struct_size = sizeof requirements;
      bool has_failed = false;
      int answer = 0;
      {
        const ferrule::test::FailingAllocation failing(n, ferrule::test::Shortage::once);
        answer = module.backend.supports(module.device, &graph.view(), 0, &requirements);
        has_failed = failing.has_failed();
      }
      EXPECT_EQ(answer, has_failed ? -FE_OUT_OF_MEMORY : 1) << n;
      return has_failed;
    });
    EXPECT_GT(failed, 0u);
  });
}
#endif

TEST_F(CpuBackend, TakeWrapsNegativeIndicesAndRefusesThoseOutOfBounds) {
  const Array x = random_array({4, 6, 5}), indices = array_of<int64_t>("int64", {2, 2}, {5, -6, -1, 0});
  const Array wrong = array_of<int32_t>("int32", {1}, {6});
  const fe_take_attributes attributes{sizeof attributes, 1};
  for_each_module([&](Module& module) {
    const Array y = compute(module, "take", {&x, &indices}, "float32", {4, 2, 2, 5}, &attributes);
    const int64_t rows[] = {5, 0, 5, 0};
    for (int64_t a = 0; a < 4; ++a)
      for (int64_t i = 0; i < 4; ++i)
        for (int64_t c = 0; c < 5; ++c)
          ASSERT_EQ(y.data<float>()[(a * 4 + i) * 5 + c], x.data<float>()[(a * 6 + rows[i]) * 5 + c]);
    Array out = array("float32", {4, 1, 5});
    const std::string message = OneNode("take", {&x, &wrong}, {&out}, &attributes).run(module);
    EXPECT_NE(message.find("index 6 is out of bounds for axis 1 with size 6"), std::string::npos) << message;
  });
}

TEST_F(CpuBackend, TakeRefusesAnIndexThatChangesAfterTheCheck) {
  const int64_t count = 40'000;
  const Array x = random_array({16});
  Array narrow = array("int32", {count}), wide = array("int64", {count});
  const fe_take_attributes attributes{sizeof attributes, 0};
  for_each_module([&](Module& module) {
    for (Array* indices : {&narrow, &wide})
      for (const int byte : {0x3f, 0xc0}) {  // far out of range, above and below
        const auto write = [&](int value) { std::memset(indices->bytes.data(), value, indices->bytes.size() - 64); };
        write(0);
        Array out = array("float32", {count});
        before_parallel = [&](uint32_t) { write(byte); };
        const std::string message = OneNode("take", {&x, indices}, {&out}, &attributes).run(module);
        before_parallel = nullptr;
        EXPECT_NE(message.find("is out of bounds for axis 0 with size 16"), std::string::npos) << message;
      }
  });
}

TEST_F(CpuBackend, CastsSaturateAndNeverTrap) {
  const Array x = array_of<float>("float32", {9}, {NAN, INFINITY, -INFINITY, 3e9f, -3e9f, 2.9f, -2.9f, 255.5f, 0.0f});
  const int32_t want[] = {0, INT32_MAX, INT32_MIN, INT32_MAX, INT32_MIN, 2, -2, 255, 0};
  const uint8_t bytes[] = {0, 255, 0, 255, 0, 2, 0, 255, 0};
  for_each_module([&](Module& module) {
    const Array i = cast(module, x, "int32");
    const Array b = cast(module, x, "uint8");
    const Array f = cast(module, x, "bool");
    for (size_t k = 0; k < 9; ++k) {
      EXPECT_EQ(i.data<int32_t>()[k], want[k]);
      EXPECT_EQ(b.data<uint8_t>()[k], bytes[k]);
      EXPECT_EQ(f.data<uint8_t>()[k], k != 8);
    }
    // float16 holds 11 bits: conversions round to nearest even, in one step from float64 too.
    const Array d = array_of<double>("float64", {4}, {1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-40, 65520, 0x1p-25 + 0x1p-50});
    const Array h = cast(module, d, "float16");
    const Array back = cast(module, h, "float32");
    EXPECT_EQ(back.data<float>()[0], 1);
    EXPECT_EQ(back.data<float>()[1], 1 + 0x1p-10f);
    EXPECT_EQ(back.data<float>()[2], INFINITY);
    EXPECT_EQ(back.data<float>()[3], 0x1p-24f);
  });
}

}  // namespace
}  // namespace cpu_backend
