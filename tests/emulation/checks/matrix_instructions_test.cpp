// Matrix instructions, and the narrow floating-point numbers that they read.
#include "emulation/matrix_instructions.h"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace emulation;

TEST(NarrowFloats, EachFloat16BecomesTheNumberThatItsFieldsSay) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 0x1f);
    const auto significand = static_cast<double>(bits & 0x3ff);
    const double magnitude = exponent == 0    ? std::ldexp(significand, -24)
                             : exponent == 31 ? (significand == 0 ? HUGE_VAL : NAN)
                                              : std::ldexp(1024 + significand, exponent - 25);
    const float got = float_of_float16(static_cast<std::uint16_t>(bits));
    if (std::isnan(magnitude)) {
      ASSERT_TRUE(std::isnan(got));
    } else {
      ASSERT_EQ(static_cast<double>(got), std::copysign(magnitude, (bits & 0x8000) != 0 ? -1.0 : 1.0)) << bits;
      ASSERT_EQ(float16_bits(got), bits);
    }
  }
}

TEST(NarrowFloats, FloatsBecomeTheNearestFloat16) {
  for (unsigned bits = 0; bits < 0x7c00; ++bits) {
    const float low = float_of_float16(static_cast<std::uint16_t>(bits));
    const float high = bits + 1 == 0x7c00 ? 65536.0F : float_of_float16(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2;  // exact
    EXPECT_EQ(float16_bits(std::nextafter(middle, low)), bits);
    EXPECT_EQ(float16_bits(middle), bits + bits % 2);
    EXPECT_EQ(float16_bits(std::nextafter(middle, high)), bits + 1);
    EXPECT_EQ(float16_bits(-middle), 0x8000 | (bits + bits % 2));
  }
  EXPECT_EQ(float16_bits(std::numeric_limits<float>::max()), 0x7c00);
}

TEST(NarrowFloats, FloatsBecomeTheNearestBfloat16) {
  EXPECT_EQ(bfloat16_bits(1.0F), 0x3f80);
  EXPECT_EQ(bfloat16_bits(1.00390625F), 0x3f80);  // a tie, to even
  EXPECT_EQ(bfloat16_bits(1.01171875F), 0x3f82);
  EXPECT_EQ(bfloat16_bits(std::nextafter(1.00390625F, 2.0F)), 0x3f81);
  EXPECT_EQ(bfloat16_bits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_of_bfloat16(bfloat16_bits(std::numeric_limits<float>::quiet_NaN()))));
}

// Matrices in memory by rows; b is K x 8.
template <class Element>
void multiply(const typename Element::Bits* a, const typename Element::Bits* b, typename Element::Sum* c) {
  using Bits = typename Element::Bits;
  constexpr unsigned packed = 4 / sizeof(Bits), depth = 8 * packed;
  const unsigned group = threadIdx.x / 4, member = threadIdx.x % 4;
  // Written from the figures of the PTX ISA, register by register.
  std::array<Bits, 4 * packed> own_a;
  std::array<Bits, 2 * packed> own_b;
  for (unsigned i = 0; i < 4 * packed; ++i) {
    const unsigned which = i / packed;
    own_a[i] = a[(group + which % 2 * 8) * depth + member * packed + i % packed + (which / 2) * (depth / 2)];
  }
  for (unsigned i = 0; i < 2 * packed; ++i)
    own_b[i] = b[(member * packed + i % packed + i / packed * (depth / 2)) * 8 + group];
  Fragments fragments;
  std::memcpy(fragments.a.data(), own_a.data(), sizeof fragments.a);
  std::memcpy(fragments.b.data(), own_b.data(), sizeof fragments.b);
  std::array<typename Element::Sum, 4> sums{};
  mma_m16n8<Element>(sums.data(), fragments, {"mma.sync", std::source_location::current()});
  for (unsigned i = 0; i < 4; ++i) c[(group + i / 2 * 8) * 8 + member * 2 + i % 2] = sums[i];
}

template <class Element>
void check_product(typename Element::Bits (*bits_of)(int)) {
  using Sum = typename Element::Sum;
  constexpr unsigned depth = 32 / sizeof(typename Element::Bits);
  std::mt19937 random(1);
  std::vector<typename Element::Bits> a(16 * depth), b(depth * 8);
  for (auto* matrix : {&a, &b})
    for (auto& element : *matrix) element = bits_of(static_cast<int>(random() % 17) - 8);
  std::vector<Sum> c(16 * 8);
  LaunchShape shape;
  shape.block.x = 32;
  launch("multiply", shape, multiply<Element>, a.data(), b.data(), c.data());
  for (unsigned row = 0; row < 16; ++row)
    for (unsigned column = 0; column < 8; ++column) {
      Sum wanted = 0;
      for (unsigned k = 0; k < depth; ++k)
        wanted += Element::value(a[row * depth + k]) * Element::value(b[k * 8 + column]);
      ASSERT_EQ(c[row * 8 + column], wanted) << row << ", " << column;
    }
}

TEST(MatrixInstructions, ProductsOfSmallIntegersAreExact) {
  check_product<Float16>([](int i) { return float16_bits(static_cast<float>(i)); });
  check_product<Bfloat16>([](int i) { return bfloat16_bits(static_cast<float>(i)); });
  check_product<Tfloat32>([](int i) { return std::bit_cast<std::uint32_t>(static_cast<float>(i)); });
  check_product<Int8>([](int i) { return static_cast<std::int8_t>(i); });
}

void load_matrices(std::uint32_t* out, bool transposed) {
  FERRULE_SHARED(std::uint16_t, tile, [32][8]);
  for (unsigned i = 0; i < 8; ++i) tile[threadIdx.x][i] = static_cast<std::uint16_t>(threadIdx.x * 8 + i);
  __syncwarp();
  const auto registers = ldmatrix_x4(tile[threadIdx.x], transposed, {"ldmatrix", std::source_location::current()});
  for (unsigned i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = registers[i];
}

TEST(MatrixInstructions, LdmatrixGivesEachLaneAPairOfEachMatrix) {
  std::vector<std::uint32_t> out(128);
  LaunchShape shape;
  shape.block.x = 32;
  launch("load", shape, load_matrices, out.data(), false);
  // Lane 5 holds row 1, columns 2 and 3.
  EXPECT_EQ(out[5 * 4 + 0], 10U | 11U << 16);
  EXPECT_EQ(out[5 * 4 + 3], (192 + 10U) | (192 + 11U) << 16);
  launch("load", shape, load_matrices, out.data(), true);
  EXPECT_EQ(out[5 * 4 + 0], (2 * 8 + 1U) | (3 * 8 + 1U) << 16);
}

}  // namespace
