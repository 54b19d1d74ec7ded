// JSON from outside is read with size limits; numbers that do not fit are reported as errors.
#include "core/json_object.h"
#include "core/loader/candidate/manifest_file.h"

#include <gtest/gtest.h>

#include "error_of.h"

namespace ferrule::test {
namespace {

using nlohmann::json;

TEST(JsonReaders, WholeNumbersMustFit) {
  EXPECT_EQ(whole_number<int>(json(-5)), -5);
  EXPECT_EQ(whole_number<int>(json(5u)), 5);
  EXPECT_EQ(whole_number<int>(json(int64_t{1} << 31)), std::nullopt);
  EXPECT_EQ(whole_number<int>(json(-(int64_t{1} << 31) - 1)), std::nullopt);
  EXPECT_EQ(whole_number<int>(json(-(int64_t{1} << 31))), INT32_MIN);
  EXPECT_EQ(whole_number<uint32_t>(json(-1)), std::nullopt);
  EXPECT_EQ(whole_number<uint64_t>(json(UINT64_MAX)), UINT64_MAX);
  EXPECT_EQ(whole_number<int64_t>(json(UINT64_MAX)), std::nullopt);
  for (const json& other : {json(1.0), json(1e308), json("1"), json(true), json(nullptr), json::array()})
    EXPECT_EQ(whole_number<int>(other), std::nullopt) << other;
}

TEST(JsonReaders, DeepNestingIsAnErrorAndNotAStackOverflow) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_STREQ(error_of([&] { parse_json(deep); }).what(), "its JSON nests deeper than 16 levels");
  EXPECT_STREQ(error_of([&] { parse_manifest("{\"rank\": " + deep + "}"); }).what(),
               "its JSON nests deeper than 16 levels");
  EXPECT_EQ((*parse_json("[[[1]]]"))[0][0][0], 1);
}

TEST(JsonReaders, LongValuesAreTruncatedInMessages) {
  EXPECT_EQ(shown(json("abc")), "\"abc\"");
  EXPECT_EQ(shown(json(std::string(1000, 'x'))), "\"" + std::string(199, 'x') + "...");
  // Each letter has two bytes: none is cut in half.
  std::string letters;
  for (int i = 0; i < 1000; ++i) letters += "\u00f6";
  EXPECT_EQ(shown(json(letters)).size(), 1 + 198 + 3u);
  EXPECT_NO_THROW(shown(json("\xff")));
}

}  // namespace
}  // namespace ferrule::test
