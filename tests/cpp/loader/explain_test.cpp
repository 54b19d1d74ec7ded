// One sentence per backend: the text of each state, and which candidate is reported if there are several.
#include "core/loader/report/explain.h"

#include <gtest/gtest.h>

#include <set>

namespace ferrule {
namespace {

LoadRow row_of(LoadState state, const std::string& reason = "") {
  LoadRow row;
  row.path = "/backends/libferrule-cuda.so";
  row.root = "/backends";
  row.name = "cuda";
  row.state = state;
  row.reason = reason;
  return row;
}

LoadReport report_of(std::vector<LoadRow> rows) {
  LoadReport report;
  report.roots.push_back({"/backends", "beside libferrule", rows.size(), ""});
  report.rows = std::move(rows);
  return report;
}

std::string explained(const LoadRow& row) { return explain(report_of({row}), "cuda"); }

TEST(Explain, ReasonOfAnInstalledModuleIncludesItsVersion) {
  LoadRow row = row_of(LoadState::error, "the driver is 470.57; it needs 550 or newer.\n");
  row.version = "0.3";
  row.times.init = 1;
  EXPECT_EQ(
      explained(row),
      "cuda: ferrule-cuda 0.3 is installed (/backends/libferrule-cuda.so), but it failed while it was opened: the "
      "driver is 470.57; it needs 550 or newer.");
}

TEST(Explain, LoadedModuleIsExplainedWithFileDevicesAndNotes) {
  LoadRow row = row_of(LoadState::loaded);
  row.devices = {"cuda:0", "cuda:1"};
  EXPECT_EQ(explained(row), "cuda: it is loaded from /backends/libferrule-cuda.so, and drives cuda:0, cuda:1.");
  row.notes = {"its folder can be written by others."};
  EXPECT_EQ(
      explained(row),
      "cuda: it is loaded from /backends/libferrule-cuda.so, and drives cuda:0, cuda:1; its folder can be written "
      "by others.");
  row.root = row.path = "static";
  row.notes.clear();
  EXPECT_EQ(explained(row), "cuda: it is linked into the program, and drives cuda:0, cuda:1.");
}

TEST(Explain, EachStateHasItsOwnSentenceWithTheReason) {
  std::set<std::string> sentences;
  for (int state = 1; state <= static_cast<int>(LoadState::error); ++state) {
    const std::string text = explained(row_of(static_cast<LoadState>(state), "the test says so"));
    EXPECT_TRUE(text.starts_with("cuda: /backends/libferrule-cuda.so is there, but ")) << text;
    EXPECT_TRUE(text.ends_with(": the test says so.")) << text;
    sentences.insert(text);
  }
  EXPECT_EQ(sentences.size(), static_cast<std::size_t>(LoadState::error));
}

TEST(Explain, CandidateThatGotFurthestDeterminesTheExplanation) {
  LoadRow opened = row_of(LoadState::error, "init failed");
  opened.times.open = 1;
  // Each candidate failed at a later step than the one before it.
  const std::vector<LoadRow> rows = {row_of(LoadState::outranked, "reason 0"), row_of(LoadState::disabled, "reason 1"),
                                     row_of(LoadState::unsafe, "reason 2"),    row_of(LoadState::error, "damaged"),
                                     row_of(LoadState::incompatible, "r 4"),   row_of(LoadState::not_probed, "r 5"),
                                     row_of(LoadState::probe_failed, "r 6"),   opened,
                                     row_of(LoadState::no_device, "r 8"),      row_of(LoadState::loaded)};
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) {
    const std::string text = explain(report_of({rows[i + 1], rows[i]}), "cuda");
    if (rows[i + 1].state == LoadState::loaded)
      EXPECT_EQ(text, explained(rows[i + 1]));
    else
      EXPECT_NE(text.find(rows[i + 1].reason + " (1 more of that name got no further)."), std::string::npos) << text;
    EXPECT_EQ(text, explain(report_of({rows[i], rows[i + 1]}), "cuda"));
  }
}

TEST(Explain, NameWithoutCandidateListsTheSearchedRoots) {
  LoadReport report = report_of({row_of(LoadState::loaded)});
  report.roots.push_back({"/other", "FERRULE_BACKEND_DIR", 0, "it cannot be read"});
  EXPECT_EQ(explain(report, "vulkan"),
            "vulkan: no module of that name was found in /backends (beside libferrule); /other (FERRULE_BACKEND_DIR), "
            "where it cannot be read.");
  EXPECT_EQ(explain({}, "vulkan"), "vulkan: no module of that name was found, and there was no folder to look into.");
}

TEST(Explain, NameMatchIgnoresCaseAndIncludesFilesWithInvalidNames) {
  EXPECT_EQ(explain(report_of({row_of(LoadState::no_device, "none")}), "CUDA"),
            explained(row_of(LoadState::no_device, "none")));
  LoadRow misnamed = row_of(LoadState::error, "a backend's name consists of a-z, 0-9 and _");
  misnamed.path = "/backends/libferrule-CUDA.so";
  misnamed.name.clear();
  EXPECT_EQ(explained(misnamed),
            "cuda: /backends/libferrule-CUDA.so is there, but it cannot be opened: a backend's name consists of a-z, "
            "0-9 and _.");
}

}  // namespace
}  // namespace ferrule
