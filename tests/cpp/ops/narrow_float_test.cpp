#include "base/narrow_float.h"

#include "narrow_float_reference.h"

#include "base/dtype.h"

#include <gtest/gtest.h>

#include <random>

namespace ferrule {
namespace {

DType dtype_of(const test::NarrowFormat& format) { return find_dtype(std::string_view(format.name()))->dtype; }

TEST(NarrowFloat, DoublesRoundOnceToNearestEven) {
  for (const test::NarrowFormat& format : test::narrow_formats())
    for (const double x : format.hard_cases())
      ASSERT_EQ(narrow_float_from(x, dtype_of(format)), format.nearest(x)) << format.name() << " of " << x;
}

TEST(NarrowFloat, RandomDoublesRoundToTheNearest) {
  std::mt19937_64 generator(1);
  for (int i = 0; i < 300000; ++i) {
    const auto bits = generator();
    const double x = std::ldexp(static_cast<double>(static_cast<int64_t>(bits)), static_cast<int>(bits % 340) - 230);
    for (const test::NarrowFormat& format : test::narrow_formats())
      ASSERT_EQ(narrow_float_from(x, dtype_of(format)), format.nearest(x)) << format.name() << " of " << x;
  }
}

TEST(NarrowFloat, IntegersBeyondDoublesRoundOnce) {
  for (const test::NarrowFormat& format : test::narrow_formats())
    for (const int64_t x : test::hard_integers<int64_t>())
      ASSERT_EQ(narrow_float_from(x, dtype_of(format)), format.nearest(static_cast<long double>(x)))
          << format.name() << " of " << x;
}

TEST(NarrowFloat, NaNStaysNaN) {
  for (const test::NarrowFormat& format : test::narrow_formats())
    EXPECT_TRUE(format.is_nan(narrow_float_from(std::numeric_limits<double>::quiet_NaN(), dtype_of(format))));
}

}  // namespace
}  // namespace ferrule
