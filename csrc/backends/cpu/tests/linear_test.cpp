// Products with weights in blocks by the instructions of each variant. The weights and rows are small integers, so that
// each product and sum is exact, and is the sum that this file computes from the format of the blocks.
#include "backend_fixture.h"

namespace cpu_backend {
namespace {

using namespace std::string_literals;

constexpr uint16_t half_one = 0x3c00, half_infinity = 0x7c00;
constexpr uint8_t float8_one = 0x38;

// n rows of k integers, and the same as blocks.
struct Weights {
  Array blocks;
  std::vector<int> integers;
};

template <class T>
std::byte* put(std::byte* to, T x) {
  std::memcpy(to, &x, sizeof x);
  return to + sizeof x;
}

Weights weights(const std::string& dtype, int64_t n, int64_t k) {
  Weights w{array(dtype, {n, k}), std::vector<int>(static_cast<size_t>(n * k))};
  std::mt19937 generator(5);
  std::byte* to = w.blocks.bytes.data();
  const auto nibbles = [&](int* of, int64_t half, const auto& value) {
    for (int64_t i = 0; i < half; ++i) {
      const unsigned byte = generator() & 255;
      of[i] = value(byte & 15);
      of[i + half] = value(byte >> 4);
      to = put(to, static_cast<uint8_t>(byte));
    }
  };
  const auto float4 = [](unsigned bits) {  // half of them are fractions; their doubles are integers
    constexpr int doubled[8] = {0, 1, 2, 3, 4, 6, 8, 12};
    return bits < 8 ? doubled[bits] : -doubled[bits - 8];
  };
  for (int* of = w.integers.data(); of != w.integers.data() + n * k; of += dtype == "nvfp4" ? 64 : 32) {
    if (dtype == "nvfp4") {
      for (int i = 0; i < 4; ++i) to = put(to, static_cast<uint8_t>(float8_one + 8));  // 2, for the doubles
      for (int i = 0; i < 4; ++i) nibbles(of + 16 * i, 8, float4);
      continue;
    }
    to = put(to, half_one);
    if (dtype == "q4_0") nibbles(of, 16, [](unsigned x) { return static_cast<int>(x) - 8; });
    if (dtype == "q4_1") {
      to = put(to, uint16_t{0xc880});  // -9
      nibbles(of, 16, [](unsigned x) { return static_cast<int>(x) - 9; });
    }
    if (dtype == "q8_0")
      for (int i = 0; i < 32; ++i) to = put(to, static_cast<int8_t>(of[i] = static_cast<int>(generator() & 255) - 128));
  }
  return w;
}

Array rows(int64_t m, int64_t k) {
  Array x = array("float32", {m, k});
  std::mt19937 generator(6);
  // Numbers of 13 bits, which are two of bfloat16.
  for (int64_t i = 0; i < m * k; ++i)
    x.data<float>()[i] = static_cast<float>(static_cast<int>(generator() & 8191) - 4096);
  return x;
}
// Rows that are blocks of q8_0 with a scale of 1.
Array rows_of_bytes(int64_t m, int64_t k) {
  Array x = rows(m, k);
  for (int64_t i = 0; i < m * k; ++i) x.data<float>()[i] = i % 32 == 5 ? 127 : std::fmod(x.data<float>()[i], 128.0f);
  return x;
}

uint32_t revision_of(const std::string& activation) { return activation == "q8" ? 2 : 1; }

Array linear(Module& module, const Array& x, const Array& w, const char* activation = "given") {
  const fe_linear_attributes attributes{sizeof attributes, activation};
  return compute(module, "linear", {&x, &w}, "float32", {x.shape[0], w.shape[0]}, &attributes, revision_of(activation));
}

const std::vector<std::string> kinds = {"q4_0", "q4_1", "q8_0", "nvfp4"};

TEST_F(CpuBackend, ProductsWithBlocksOfAnyNumberOfRows) {
  constexpr int64_t n = 37, k = 192;
  for (const std::string& dtype : kinds) {
    const Weights w = weights(dtype, n, k);
    for (const int64_t m : {1, 2, 5, 6, 16, 17, 40}) {
      const Array x = rows(m, k), bytes = rows_of_bytes(m, k);
      for_each_module([&](Module& module) {
        const Array y = linear(module, x, w.blocks), of_bytes = linear(module, bytes, w.blocks, "q8");
        for (int64_t i = 0; i < m; ++i)
          for (int64_t j = 0; j < n; ++j) {
            double sum = 0, sum_of_bytes = 0;
            for (int64_t q = 0; q < k; ++q) {
              const int weight = w.integers[static_cast<size_t>(j * k + q)];
              sum += static_cast<double>(x.data<float>()[i * k + q]) * weight;
              sum_of_bytes += static_cast<double>(bytes.data<float>()[i * k + q]) * weight;
            }
            ASSERT_EQ(y.data<float>()[i * n + j], static_cast<float>(sum)) << dtype << ": " << i << ", " << j;
            ASSERT_EQ(of_bytes.data<float>()[i * n + j], static_cast<float>(sum_of_bytes))
                << dtype << ": " << i << ", " << j;
          }
      });
    }
  }
}

// A processor may take subnormal numbers for zeros.
TEST_F(CpuBackend, ProductsWithBlocksKeepSubnormalAndLargeNumbersAndInfinities) {
  constexpr int64_t m = 3, n = 2, k = 64;
  for (const std::string& dtype : kinds) {
    const Weights w = weights(dtype, n, k);
    for (const float element : {0x1p-149f, 0x1p-120f, 0x1p110f, INFINITY, -INFINITY, NAN}) {
      Array x = rows(m, k);
      for (int64_t q = 0; q < k; ++q) x.data<float>()[k + q] = 0;
      x.data<float>()[k + 1] = element;
      for_each_module([&](Module& module) {
        const Array y = linear(module, x, w.blocks);
        for (int64_t j = 0; j < n; ++j) {
          const float want = element * static_cast<float>(w.integers[static_cast<size_t>(j * k + 1)]);
          const float got = y.data<float>()[n + j];
          ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << dtype << ": " << got << ", " << want;
          ASSERT_TRUE(std::isfinite(y.data<float>()[j]) && std::isfinite(y.data<float>()[2 * n + j]));
        }
      });
    }
  }
}

TEST_F(CpuBackend, ProductsWithBlocksOfInfiniteScale) {
  constexpr int64_t n = 3, k = 64;
  for (const std::string dtype : {"q4_0", "q4_1", "q8_0"}) {
    Weights w = weights(dtype, n, k);
    put(w.blocks.bytes.data() + k / 32 * static_cast<int64_t>(size_of(dtype.c_str())), half_infinity);  // of row 1
    for (const int64_t m : {1, 7, 40}) {
      Array x = array("float32", {m, k});
      for (int64_t q = 0; q < m * k; ++q) x.data<float>()[q] = 0;
      for (int64_t i = 0; i < m; ++i) x.data<float>()[i * k + 40] = 127;
      for_each_module([&](Module& module) {
        for (const char* activation : {"given", "q8"}) {
          const Array y = linear(module, x, w.blocks, activation);
          for (int64_t i = 0; i < m; ++i)
            for (int64_t j = 0; j < n; ++j) {
              const float got = y.data<float>()[i * n + j];
              if (j == 1)
                ASSERT_TRUE(std::isnan(got)) << dtype;  // an infinite weight times 0
              else
                ASSERT_EQ(got, 127 * static_cast<float>(w.integers[static_cast<size_t>(j * k + 40)])) << dtype;
            }
        }
      });
    }
  }
}

// Many rows are multiplied by AMX, in groups of 64 parts, which end where a scale is infinite.
TEST_F(CpuBackend, ProductsOfRoundedRowsHaveTheBitsOfEachRowAlone) {
  constexpr int64_t m = 40, n = 5, parts = 70, k = 32 * parts;
  Array x = rows(m, k);
  x.data<float>()[3 * k + 7] = INFINITY;
  for (const std::string& dtype : kinds) {
    Weights w = weights(dtype, n, k);
    if (dtype != "nvfp4")  // of a part of row 1
      put(w.blocks.bytes.data() + (parts + 67) * static_cast<int64_t>(size_of(dtype.c_str())), half_infinity);
    for_each_module([&](Module& module) {
      const Array all = linear(module, x, w.blocks, "q8");
      for (int64_t i = 0; i < m; ++i) {
        Array row = array("float32", {1, k});
        std::copy_n(x.data<float>() + i * k, k, row.data<float>());
        const Array alone = linear(module, row, w.blocks, "q8");
        for (int64_t j = 0; j < n; ++j) {
          const float got = all.data<float>()[i * n + j], want = alone.data<float>()[j];
          ASSERT_TRUE(got == want || (std::isnan(got) && std::isnan(want))) << dtype << ": " << i << ", " << j;
        }
      }
    });
  }
}

TEST_F(CpuBackend, ProductsWithBlocksAreComputedByTheKernelForTheirRows) {
  const Array x = rows(2, 32);
  const Weights w = weights("q4_0", 4, 32);
  Array y = array("float32", {2, 4});
  for (const std::string activation : {"given", "q8"}) {
    const fe_linear_attributes attributes{sizeof attributes, activation.c_str()};
    OneNode node("linear", {&x, &w.blocks}, {&y}, &attributes, nullptr, revision_of(activation));
    for_each_module([&](Module& module) {
      fe_requirements requirements{};
      requirements.struct_size = sizeof requirements;
      ASSERT_EQ(module.backend.supports(module.device, &node.view(), 0, &requirements), 1);
      const bool is_right = activation == "q8" ? requirements.kernel == "q8_linear"s
                                               : may_choose(module.path, "linear", requirements.kernel);
      EXPECT_TRUE(is_right) << requirements.kernel;
    });
  }
}

}  // namespace
}  // namespace cpu_backend
