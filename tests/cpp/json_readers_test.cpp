// What others wrote as JSON: read with bounds, and numbers that do not fit are sentences.
#include "core/json_object.h"
#include "core/loader/manifest.h"
#include "core/loader/report.h"

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

TEST(JsonReaders, DeepNestingIsASentenceAndNotTheEndOfTheStack) {
  const std::string deep = std::string(200000, '[') + std::string(200000, ']');
  EXPECT_STREQ(error_of([&] { parse_json(deep); }).what(), "its JSON nests deeper than 16 levels");
  EXPECT_STREQ(error_of([&] { parse_manifest("{\"rank\": " + deep + "}"); }).what(),
               "its JSON nests deeper than 16 levels");
  EXPECT_EQ((*parse_json("[[[1]]]"))[0][0][0], 1);
}

TEST(JsonReaders, ALongValueIsShownByItsBeginning) {
  EXPECT_EQ(shown(json("abc")), "\"abc\"");
  EXPECT_EQ(shown(json(std::string(1000, 'x'))), "\"" + std::string(199, 'x') + "...");
  // Two bytes a letter: none is cut.
  std::string letters;
  for (int i = 0; i < 1000; ++i) letters += "\u00f6";
  EXPECT_EQ(shown(json(letters)).size(), 1 + 198 + 3u);
  EXPECT_NO_THROW(shown(json("\xff")));
}

json report() {
  LoadReport made;
  made.roots.push_back({"/root", "dirs", 2, ""});
  LoadRow row;
  row.rank = 3;
  row.score = -1;
  made.rows.push_back(row);
  return json::parse(to_json(made));
}

TEST(JsonReaders, AReportIsReadAsItWasWritten) {
  EXPECT_EQ(json::parse(to_json(report_from_json(report()))), report());
}

// A conversion out of the range of the type is undefined.
TEST(JsonReaders, NumbersOfAReportMustFit) {
  const auto complaint = [](auto change) {
    json changed = report();
    change(changed);
    return std::string(error_of([&] { report_from_json(changed); }).what());
  };
  EXPECT_EQ(complaint([](json& r) { r["roots"][0]["candidates"] = 1e308; }),
            "a load report is damaged: 'candidates' is 1e+308, which is no number that fits");
  EXPECT_EQ(complaint([](json& r) { r["roots"][0]["candidates"] = -1; }),
            "a load report is damaged: 'candidates' is -1, which is no number that fits");
  EXPECT_EQ(complaint([](json& r) { r["candidates"][0]["rank"] = 1e300; }),
            "a load report is damaged: 'rank' is 1e+300, which is no number that fits");
  EXPECT_EQ(complaint([](json& r) { r["candidates"][0]["score"] = 5000000000; }),
            "a load report is damaged: 'score' is 5000000000, which is no number that fits");
}

}  // namespace
}  // namespace ferrule::test
