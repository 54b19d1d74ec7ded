// Matrix products that the conformance kit does not reach: instructions of some processors, subnormal numbers, bytes.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

Array random_bytes(std::vector<int64_t> shape, unsigned seed) {
  Array a = array("uint8", std::move(shape));
  std::mt19937 generator(seed);
  for (int64_t i = 0; i < a.count(); ++i) a.data<uint8_t>()[i] = static_cast<uint8_t>(generator());
  return a;
}

template <class T, class X1, class X2>
void expect_product(const Array& a, const Array& b, const Array& c) {
  for (int64_t i = 0; i < c.shape[0]; ++i)
    for (int64_t j = 0; j < c.shape[1]; ++j) {
      int64_t sum = 0;
      for (int64_t q = 0; q < a.shape[1]; ++q)
        sum += int64_t{a.data<X1>()[i * a.strides[0] + q * a.strides[1]]} *
               b.data<X2>()[q * b.strides[0] + j * b.strides[1]];
      ASSERT_EQ(c.data<T>()[i * c.shape[1] + j], static_cast<T>(sum)) << a.dtype << b.dtype << ": " << i << ", " << j;
    }
}

TEST_F(CpuBackend, ProductsOfBytesAreExactOrWrapForAnyShapeAndStride) {
  struct Size {
    int64_t m, k, n;
  };
  for_each_module([&](Module& module) {
    for (const Size s : {Size{1, 1, 1}, {3, 5, 7}, {1, 1000, 33}, {33, 129, 65}, {64, 0, 8}, {100, 64, 96}})
      for (const bool turned : {false, true}) {
        Array a = turned ? transposed(random_bytes({s.k, s.m}, 1)) : random_bytes({s.m, s.k}, 1);
        Array b = turned ? transposed(random_bytes({s.n, s.k}, 2)) : random_bytes({s.k, s.n}, 2);
        const auto multiplied = [&](const char* op, const char* of_a, const char* of_b, const char* dtype) {
          a.dtype = of_a;
          b.dtype = of_b;
          return compute(module, op, {&a, &b}, dtype, {s.m, s.n});
        };
        expect_product<uint8_t, uint8_t, uint8_t>(a, b, multiplied("matmul", "uint8", "uint8", "uint8"));
        expect_product<int8_t, int8_t, int8_t>(a, b, multiplied("matmul", "int8", "int8", "int8"));
        const char* const op = "matmul_integer";
        expect_product<int32_t, uint8_t, uint8_t>(a, b, multiplied(op, "uint8", "uint8", "int32"));
        expect_product<int32_t, uint8_t, int8_t>(a, b, multiplied(op, "uint8", "int8", "int32"));
        expect_product<int32_t, int8_t, uint8_t>(a, b, multiplied(op, "int8", "uint8", "int32"));
        expect_product<int32_t, int8_t, int8_t>(a, b, multiplied(op, "int8", "int8", "int32"));
      }
  });
}

TEST_F(CpuBackend, ModuleWithAmxUsesIt) {
  const Array a = array("bfloat16", {4, 4});
  Array c = array("bfloat16", {4, 4});
  OneNode node("matmul", {&a, &a}, {&c});
  for_each_module([&](Module& module) {
    fe_requirements requirements{};
    requirements.struct_size = sizeof requirements;
    ASSERT_EQ(module.backend.supports(module.device, &node.view(), 0, &requirements), 1);
    EXPECT_TRUE(may_choose(module.path, "matmul", requirements.kernel)) << requirements.kernel;
  });
}

// A processor may take subnormal numbers for zeros in products of bfloat16.
TEST_F(CpuBackend, ProductsOfBfloat16KeepSubnormalNumbers) {
  struct Pair {
    float a, b;
    int64_t count = 70;  // of the elements of a row and of a column
  };
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for_each_module([&](Module& module) {
    for (const Pair pair : {Pair{0x1p-130f, 0x1p100f},
                            {0x1p100f, 0x1p-133f},
                            {0x1p-70f, 0x1p-60f},
                            {0x1p-60f, 0x1p-64f},
                            {0x1p-130f, 0x1p127f, 1},
                            {0x1p127f, 0x1p-130f, 2},
                            {0x1p-130f, 1, 1},
                            {0x1p-130f, infinity, 1}}) {
      Array a = random_array({40, 70}), b = random_array({70, 50}, 1, 2);
      for (int64_t i = 0; i < pair.count; ++i) {
        a.data<float>()[7 * 70 + i] = pair.a;   // one row
        b.data<float>()[i * 50 + 33] = pair.b;  // and one column
      }
      const Array narrow_a = cast(module, a, "bfloat16"), narrow_b = cast(module, b, "bfloat16");
      const Array c = cast(module, compute(module, "matmul", {&narrow_a, &narrow_b}, "bfloat16", {40, 50}), "float32");
      const Array wide_a = cast(module, narrow_a, "float32"), wide_b = cast(module, narrow_b, "float32");
      for (int64_t i = 0; i < 40; ++i)
        for (int64_t j = 0; j < 50; ++j) {
          double sum = 0, magnitude = 0;
          for (int64_t k = 0; k < 70; ++k) {
            const double term =
                static_cast<double>(wide_a.data<float>()[i * 70 + k]) * wide_b.data<float>()[k * 50 + j];
            sum += term;
            magnitude += std::fabs(term);
          }
          if (std::isinf(sum)) {
            ASSERT_EQ(c.data<float>()[i * 50 + j], static_cast<float>(sum)) << pair.a << " * " << pair.b;
            continue;
          }
          // The least subnormal bfloat16 is 2^-133.
          ASSERT_NEAR(c.data<float>()[i * 50 + j], sum, 0x1p-134 + std::fabs(sum) * 0x1p-8 + magnitude * 0x1p-20)
              << pair.a << " * " << pair.b << " at " << i << ", " << j;
        }
    }
  });
}

}  // namespace
}  // namespace cpu_backend
