// Roundings that decide results: of float16 and bfloat16, on whose bits kernels and emulator must agree with a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "emulation/narrow_floats.h"

namespace {

using namespace emulation;

TEST(Rounding, FloatsBecomeTheNearestFloat16) {
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

TEST(Rounding, FloatsBecomeTheNearestBfloat16) {
  EXPECT_EQ(bfloat16_bits(1.00390625F), 0x3f80);  // a tie, to even
  EXPECT_EQ(bfloat16_bits(1.01171875F), 0x3f82);
  EXPECT_EQ(bfloat16_bits(std::nextafter(1.00390625F, 2.0F)), 0x3f81);
  EXPECT_EQ(bfloat16_bits(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_TRUE(std::isnan(float_of_bfloat16(bfloat16_bits(std::numeric_limits<float>::quiet_NaN()))));
}

}  // namespace
