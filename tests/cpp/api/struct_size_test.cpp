#include "core/struct_size.h"

#include "error_of.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>

namespace ferrule {

// The first version of this struct ended with `first`.
struct Grown {
  std::size_t struct_size;
  int32_t first;
  int32_t later;
};
template <>
struct FirstVersion<Grown> {
  static constexpr std::size_t size = offsetof(Grown, later);
};

namespace test {
namespace {

constexpr std::size_t first_size = FirstVersion<Grown>::size;

TEST(StructSize, AnOlderCallerGetsTheFieldsThatItKnows) {
  Grown out{first_size, 0, -1};
  fill_struct("call", &out, {0, 1, 2});
  EXPECT_EQ(out.struct_size, first_size);
  EXPECT_EQ(out.first, 1);
  EXPECT_EQ(out.later, -1) << "past the caller's struct";
}

TEST(StructSize, ANewerCallerLearnsHowMuchIsFilled) {
  Grown out{1000, 0, 0};
  fill_struct("call", &out, {0, 1, 2});
  EXPECT_EQ(out.struct_size, sizeof(Grown));
  EXPECT_EQ(out.first, 1);
  EXPECT_EQ(out.later, 2);
}

TEST(StructSize, FieldsThatAnOlderCallerDoesNotGiveAreZero) {
  const Grown given{first_size, 1, -1};
  const Grown read = read_struct("call", &given, "options");
  EXPECT_EQ(read.first, 1);
  EXPECT_EQ(read.later, 0);
  const Grown whole{sizeof(Grown), 1, 2};
  EXPECT_EQ(read_struct("call", &whole, "options").later, 2);
}

TEST(StructSize, AStructShorterThanItsFirstVersionIsRefused) {
  for (const std::size_t size : {std::size_t{0}, sizeof(std::size_t), first_size - 1}) {
    Grown given{size, 3, 4};
    const Error error = error_of([&] { fill_struct("call", &given, {0, 1, 2}); });
    EXPECT_EQ(error.code(), FE_INVALID_ARGUMENT);
    EXPECT_EQ(std::string(error.what()),
              "call: out has a struct_size of " + std::to_string(size) + ", less than " + std::to_string(first_size));
    EXPECT_EQ(given.first, 3) << "not written";
    EXPECT_EQ(error_of([&] { read_struct("call", &given, "options"); }).code(), FE_INVALID_ARGUMENT);
  }
  EXPECT_EQ(std::string(error_of([] { read_struct<Grown>("call", nullptr, "options"); }).what()),
            "call: options is NULL");
}

}  // namespace
}  // namespace test
}  // namespace ferrule
