// Matrix products against float64, and bit-for-bit invariance.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

void expect_product(const Array& a, const Array& b, const Array& c, int64_t m, int64_t k, int64_t n) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t q = 0; q < k; ++q) {
        const double term = static_cast<double>(a.data<float>()[a.offset + i * a.strides[0] + q * a.strides[1]]) *
                            b.data<float>()[b.offset + q * b.strides[0] + j * b.strides[1]];
        sum += term;
        magnitude += std::fabs(term);
      }
      ASSERT_NEAR(c.data<float>()[i * n + j], sum, 1e-7 + magnitude * 0x1p-24 * (2 + std::sqrt(static_cast<double>(k))))
          << i << ", " << j;
    }
}

TEST_F(CpuBackend, MatmulIsRightForAnyShapeAndStride) {
  struct Size {
    int64_t m, k, n;
  };
  for_each_module([&](Module& module) {
    for (const Size s : {Size{1, 1, 1}, {3, 5, 7}, {1, 1000, 33}, {29, 385, 65}, {64, 0, 8}, {100, 130, 100}})
      for (bool turn_a : {false, true})
        for (bool turn_b : {false, true}) {
          const Array a = turn_a ? transposed(random_array({s.k, s.m})) : random_array({s.m, s.k});
          const Array b = turn_b ? transposed(random_array({s.n, s.k}, 1, 2)) : random_array({s.k, s.n}, 1, 2);
          const Array c = compute(module, "matmul", {&a, &b}, "float32", {s.m, s.n});
          expect_product(a, b, c, s.m, s.k, s.n);
        }
  });
}

TEST_F(CpuBackend, MatmulRowsDoNotDependOnTheBatchOrTheThreadCount) {
  constexpr int64_t depth = 700, width = 613;  // two K blocks; full groups of panels, single panels and a partial panel
  const Array a = random_array({120, depth}), b = random_array({depth, width}, 1, 2);
  for_each_module([&](Module& module) {
    threads = 1;
    const Array all = compute(module, "matmul", {&a, &b}, "float32", {120, width});
    for (uint32_t n : {2u, 3u, 7u}) {
      threads = n;
      EXPECT_TRUE(same_bits(all, compute(module, "matmul", {&a, &b}, "float32", {120, width})));
    }
    for (const int64_t rows : {1, 2, 3, 4, 13, 14, 15, 16, 28, 29, 30})
      for (const int64_t row : {0, 13, 77, 90}) {
        threads = row == 13 ? 2 : 1;
        Array some = a;
        some.offset = row * depth;
        some.shape = {rows, depth};
        const Array c = compute(module, "matmul", {&some, &b}, "float32", {rows, width});
        EXPECT_EQ(std::memcmp(c.bytes.data(), all.data<float>() + row * width, static_cast<size_t>(rows * width) * 4),
                  0)
            << rows << " rows from " << row;
      }
  });
}

void expect_same_bits_prepared(Module& module, int64_t rows, const char* dtype) {
  const Array left = random_array({rows, 500}), right = random_array({400, 500}, 1, 2);
  const Array a = cast(module, left, dtype);
  const Array b = transposed(cast(module, right, dtype));
  const Array plain = compute(module, "matmul", {&a, &b}, dtype, {rows, 400});
  Array c = array(dtype, {rows, 400});
  OneNode node("matmul", {&a, &b}, {&c}, nullptr, nullptr, true);
  uint64_t size = 0;
  char key[128] = "";
  expect_no_error(module.backend.prepare_size(module.device, &node.view(), 0, 1, &size, key, sizeof key));
  ASSERT_GT(size, 0u);
  EXPECT_NE(std::string(key), "");
  Array packed{"uint8", {static_cast<int64_t>(size)}, {1}, 0, std::vector<std::byte>(size)};
  fe_module_buffer *from = nullptr, *to = nullptr;
  expect_no_error(module.backend.buffer_borrow(module.device, const_cast<std::byte*>(b.bytes.data()), b.bytes.size(),
                                               FE_ACCESS_READ, &from));
  expect_no_error(module.backend.buffer_borrow(module.device, packed.bytes.data(), size, FE_ACCESS_READ_WRITE, &to));
  const fe_binding source{sizeof(fe_binding), from, 0, 1}, target{sizeof(fe_binding), to, 0, 1};
  expect_no_error(module.backend.prepare(module.device, &node.view(), 0, 1, &source, &target));
  module.backend.buffer_free(from);
  module.backend.buffer_free(to);
  node.storage(1).prepared = 1;
  node.storage(1).size = size;
  ASSERT_EQ(node.run(module, &packed), "");
  EXPECT_TRUE(same_bits(plain, c)) << rows << " rows of " << dtype;
}
TEST_F(CpuBackend, PreparedWeightsGiveTheSameBits) {
  for_each_module([&](Module& module) {
    for (const char* dtype : {"float32", "float16", "bfloat16"})
      for (const int64_t rows : {1, 2, 3, 16, 50}) expect_same_bits_prepared(module, rows, dtype);
  });
}

TEST_F(CpuBackend, MatmulEpilogueEqualsSeparateOps) {
  const Array a = random_array({90, 400}), b = random_array({400, 130}, 1, 2), bias = random_array({130}, 1, 3);
  const BodySpec body = {{"float32", "float32"}, {{"add", "float32", {0, 1}}, {"tanh", "float32", {2}}}, {3}};
  const BodySpec compare = {{"float32", "float32"}, {{"less", "bool", {0, 1}}}, {2}};
  for_each_module([&](Module& module) {
    for (uint32_t n : {1u, 2u}) {
      threads = n;
      const Array product = compute(module, "matmul", {&a, &b}, "float32", {90, 130});
      const Array sum = compute(module, "add", {&product, &bias}, "float32", {90, 130});
      const Array activated = compute(module, "tanh", {&sum}, "float32", {90, 130});
      const Array smaller = compute(module, "less", {&product, &bias}, "bool", {90, 130});
      Array fused = array("float32", {90, 130}), fused_bool = array("bool", {90, 130});
      ASSERT_EQ(OneNode("matmul", {&a, &b, &bias}, {&fused}, nullptr, &body).run(module), "");
      EXPECT_TRUE(same_bits(activated, fused));
      ASSERT_EQ(OneNode("matmul", {&a, &b, &bias}, {&fused_bool}, nullptr, &compare).run(module), "");
      EXPECT_TRUE(same_bits(smaller, fused_bool));
    }
  });
}

TEST_F(CpuBackend, BatchedMatmulBroadcastsItsBatches) {
  const Array a = random_array({3, 1, 20, 40}), b = random_array({5, 40, 30}, 1, 2);
  for_each_module([&](Module& module) {
    const Array c = compute(module, "matmul", {&a, &b}, "float32", {3, 5, 20, 30});
    for (int64_t i = 0; i < 3; ++i)
      for (int64_t j = 0; j < 5; ++j) {
        Array x = a, y = b, z = array("float32", {20, 30});
        x.offset = i * 800, x.shape = {20, 40}, x.strides = {40, 1};
        y.offset = j * 1200, y.shape = {40, 30}, y.strides = {30, 1};
        std::memcpy(z.bytes.data(), c.data<float>() + (i * 5 + j) * 600, 2400);
        expect_product(x, y, z, 20, 40, 30);
      }
  });
}

TEST_F(CpuBackend, IntegerMatmulWraps) {
  const Array a = array_of<int8_t>("int8", {2, 2}, {100, 100, -128, 1}),
              b = array_of<int8_t>("int8", {2, 2}, {2, 1, 2, -1});
  for_each_module([&](Module& module) {
    const Array c = compute(module, "matmul", {&a, &b}, "int8", {2, 2});
    EXPECT_EQ(c.data<int8_t>()[0], static_cast<int8_t>(400));
    EXPECT_EQ(c.data<int8_t>()[1], 0);
    EXPECT_EQ(c.data<int8_t>()[2], static_cast<int8_t>(-254));
    EXPECT_EQ(c.data<int8_t>()[3], static_cast<int8_t>(-129));
  });
}

Array random_bytes(std::vector<int64_t> shape, unsigned seed) {
  Array a = array("uint8", std::move(shape));
  std::mt19937 generator(seed);
  for (int64_t i = 0; i < a.count(); ++i) a.data<uint8_t>()[i] = static_cast<uint8_t>(generator());
  return a;
}

TEST_F(CpuBackend, ProductsOfBytesWrapForAnyShapeAndStride) {
  struct Size {
    int64_t m, k, n;
  };
  const Array bias = random_bytes({65}, 3);
  for_each_module([&](Module& module) {
    for (const Size s : {Size{1, 1, 1}, {3, 5, 7}, {1, 1000, 33}, {33, 129, 65}, {64, 0, 8}, {100, 64, 96}})
      for (const bool turned : {false, true})
        for (const char* dtype : {"uint8", "int8"}) {
          Array a = turned ? transposed(random_bytes({s.k, s.m}, 1)) : random_bytes({s.m, s.k}, 1);
          Array b = turned ? transposed(random_bytes({s.n, s.k}, 2)) : random_bytes({s.k, s.n}, 2);
          a.dtype = b.dtype = dtype;
          const Array c = compute(module, "matmul", {&a, &b}, dtype, {s.m, s.n});
          for (int64_t i = 0; i < s.m; ++i)
            for (int64_t j = 0; j < s.n; ++j) {
              unsigned sum = 0;
              for (int64_t q = 0; q < s.k; ++q)
                sum += unsigned{a.data<uint8_t>()[i * a.strides[0] + q * a.strides[1]]} *
                       b.data<uint8_t>()[q * b.strides[0] + j * b.strides[1]];
              ASSERT_EQ(c.data<uint8_t>()[i * s.n + j], sum & 0xff) << dtype << ": " << i << ", " << j;
            }
        }
  });
}

TEST_F(CpuBackend, ModuleWithSimulatedAmxUsesIt) {
  const Array a = array("bfloat16", {4, 4});
  Array c = array("bfloat16", {4, 4});
  OneNode node("matmul", {&a, &a}, {&c});
  for_each_module([&](Module& module) {
    fe_requirements requirements{};
    requirements.struct_size = sizeof requirements;
    ASSERT_EQ(module.backend.supports(module.device, &node.view(), 0, &requirements), 1);
    const bool simulates = module.path.find("simulated_amx") != std::string::npos;
    EXPECT_STREQ(requirements.kernel, simulates ? "amx_matmul" : "matmul");
  });
}

// A processor may take subnormal numbers for zeros in products of bfloat16.
TEST_F(CpuBackend, ProductsOfBfloat16KeepSubnormalNumbers) {
  struct Pair {
    float a, b;
  };
  for_each_module([&](Module& module) {
    for (const Pair pair :
         {Pair{0x1p-130f, 0x1p100f}, {0x1p100f, 0x1p-133f}, {0x1p-70f, 0x1p-60f}, {0x1p-60f, 0x1p-64f}}) {
      Array a = random_array({40, 70}), b = random_array({70, 50}, 1, 2);
      for (int64_t i = 0; i < 70; ++i) {
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
          // The least subnormal bfloat16 is 2^-133.
          ASSERT_NEAR(c.data<float>()[i * 50 + j], sum, 0x1p-134 + std::fabs(sum) * 0x1p-8 + magnitude * 0x1p-20)
              << pair.a << " * " << pair.b << " at " << i << ", " << j;
        }
    }
  });
}

}  // namespace
}  // namespace cpu_backend
