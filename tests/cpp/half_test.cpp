#include "ops/half.h"

#include "half_reference.h"

#include "ops/dtype.h"

#include <gtest/gtest.h>

#include <random>

namespace ferrule {
namespace {

DType dtype_of(const test::HalfFormat& format) { return find_dtype(std::string_view(format.name()))->dtype; }

TEST(Half, DoublesRoundOnceToNearestEven) {
  for (const test::HalfFormat& format : test::half_formats())
    for (const double x : format.hard_cases())
      ASSERT_EQ(half_from(x, dtype_of(format)), format.nearest(x)) << format.name() << " of " << x;
}

TEST(Half, RandomDoublesRoundToTheNearest) {
  std::mt19937_64 generator(1);
  for (int i = 0; i < 300000; ++i) {
    const auto bits = generator();
    const double x = std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), static_cast<int>(bits % 340) - 230);
    for (const test::HalfFormat& format : test::half_formats())
      ASSERT_EQ(half_from(x, dtype_of(format)), format.nearest(x)) << format.name() << " of " << x;
  }
}

TEST(Half, IntegersBeyondDoublesRoundOnce) {
  for (const test::HalfFormat& format : test::half_formats())
    for (const int64_t x : test::hard_integers<int64_t>())
      ASSERT_EQ(half_from(x, dtype_of(format)), format.nearest(static_cast<long double>(x)))
          << format.name() << " of " << x;
}

TEST(Half, NaNStays) {
  for (const test::HalfFormat& format : test::half_formats())
    EXPECT_TRUE(format.is_nan(half_from(std::numeric_limits<double>::quiet_NaN(), dtype_of(format))));
}

}  // namespace
}  // namespace ferrule
