// Tests of the choice among several modules: one is opened, the others are not.
#include "loader_fixture.h"

#include "core/platform/machine/cpu_features.h"

#include <ferrule/cpp/cpu_features.hpp>

namespace ferrule::test {
namespace {

using Loader = LoaderTest;

TEST_F(Loader, LosingVariantIsNeverOpened) {
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 2}});
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_pair-high").state, LoadState::loaded);
  EXPECT_EQ(row(report, "t_pair-low").state, LoadState::outranked);
  EXPECT_CONTAINS(row(report, "t_pair-low").reason, "libferrule-t_pair-high" MODULE_ENDING " has the higher rank 2");
  EXPECT_TRUE(noted("opened t_pair-high"));
  EXPECT_FALSE(noted("opened t_pair-low")) << notes();
  EXPECT_EQ(Registry::instance().find_backend("t_pair")->variant(), "high");
}

TEST_F(Loader, ImpossibleVariantIsNeverOpened) {
  std::string impossible = "a_feature_of_tomorrow";
#if defined(FERRULE_HAS_CPU_FEATURES)
  for (const sdk::processor::Feature& feature : sdk::processor::features)
    if (!*has_cpu_feature(feature.name)) impossible = feature.name;
#endif
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 2}, {"cpu_features", {impossible}}});
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_pair-low").state, LoadState::loaded);
  EXPECT_EQ(row(report, "t_pair-high").state, LoadState::incompatible);
  EXPECT_CONTAINS(row(report, "t_pair-high").reason, "this CPU has no " + impossible);
  EXPECT_FALSE(noted("opened t_pair-high")) << notes();
}

TEST_F(Loader, ModuleWhoseDriverIsMissingIsNeverOpened) {
  put_with_manifest(root(), "t_plain", {{"driver", {SYSTEM_LIBRARY, "libno_such_driver.so.1"}}});
  const LoadRow result = row(load_from({root()}), "t_plain");
  EXPECT_EQ(result.state, LoadState::incompatible);
  EXPECT_CONTAINS(result.reason, "libno_such_driver.so.1");
  EXPECT_EQ(notes(), "");
}

TEST_F(Loader, SecondBestModuleIsUsedIfTheBestFailsInInit) {
  put_with_manifest(root(), "t_pair-broken", {{"rank", 9}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 2}});
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_pair-broken").state, LoadState::error);
  EXPECT_EQ(row(report, "t_pair-broken").reason, "the test wants it to fail");
  EXPECT_EQ(row(report, "t_pair-high").state, LoadState::loaded);
}

TEST_F(Loader, EqualRanksAreOrderedByFileName) {
  put_with_manifest(root(), "t_pair-low", {{"rank", 5}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 5}});
  EXPECT_EQ(row(load_from({root()}), "t_pair-high").state, LoadState::loaded);
}

TEST_F(Loader, NoVariantIsTheLastResortWhateverItsManifestSays) {
  put_with_manifest(root(), "t_pair", {{"rank", 1000}});
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_pair-low").state, LoadState::loaded);
  EXPECT_EQ(row(report, "t_pair").rank, 0);
}

TEST_F(Loader, FirstRootWithARunnableModuleWins) {
  put_with_manifest(root("first"), "t_pair-broken", {{"rank", 9}});
  put_with_manifest(root("second"), "t_pair-low", {{"rank", 1}});
  put_with_manifest(root("third"), "t_pair-high", {{"rank", 2}});
  const LoadReport report = load_from({root("first"), root("second"), root("third")});
  EXPECT_EQ(row(report, "t_pair-low").state, LoadState::loaded);
  EXPECT_CONTAINS(row(report, "t_pair-high").reason, "earlier root");
  EXPECT_FALSE(noted("opened t_pair-high")) << notes();
}

TEST_F(Loader, WithoutAManifestTheHighestScoreWins) {
  put(root(), "t_score-3");
  put(root(), "t_score-7");
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_score-7").state, LoadState::loaded);
  EXPECT_EQ(row(report, "t_score-7").score, 7);
  EXPECT_CONTAINS(row(report, "t_score-3").reason, "higher score 7");
  EXPECT_FALSE(noted("initialised t_score-3")) << notes();
}

TEST_F(Loader, ModulesWithAManifestComeBeforeThoseWithout) {
  put(root(), "t_score-7");
  put_with_manifest(root(), "t_score-3", {{"rank", 1}});
  const LoadReport report = load_from({root()});
  EXPECT_EQ(row(report, "t_score-3").state, LoadState::loaded);
  EXPECT_FALSE(noted("opened t_score-7")) << notes();
}

TEST_F(Loader, SelectScoreOpensEveryVariantAndCallsItsScore) {
  put_with_manifest(root(), "t_score-3", {{"rank", 2}});
  put_with_manifest(root(), "t_score-7", {{"rank", 1}});
  LoadOptions options;
  options.dirs = {root()};
  options.policy.select = Select::by_score;
  const LoadReport report = load_all(options);
  EXPECT_EQ(row(report, "t_score-7").state, LoadState::loaded);
  EXPECT_EQ(row(report, "t_score-3").reason,
            "libferrule-t_score-7" MODULE_ENDING " has the higher score 7; this one has 3");
}

TEST_F(Loader, SelectScoreReportsAScoreForEveryCandidate) {
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  put_with_manifest(root(), "t_pair-high", {{"rank", 2}});
  put_with_manifest(root("scored"), "t_pair", {{"rank", 0}});
  put_with_manifest(root("scored"), "t_pair-high", {{"rank", 2}});
  LoadOptions options;
  options.policy.select = Select::by_score;
  options.dirs = {root()};
  EXPECT_EQ(row(load_all(options), "t_pair-low").reason,
            "libferrule-t_pair-high" MODULE_ENDING " has the same score 1, and comes first");
  Registry::instance().unload("t_pair");
  options.dirs = {root("scored")};
  EXPECT_EQ(row(load_all(options), "t_pair-high").reason,
            "libferrule-t_pair" MODULE_ENDING
            " has the higher score 100; this one has 1, which is what a module without a score has");
}

TEST_F(Loader, UnknownPolicyIsRefusedWithTheListOfPolicies) {
  EXPECT_EQ(policy_of("load", "score", "always", "any", true).probe, ProbePolicy::always);
  const Error select = error_of([] { policy_of("load", "beauty", "", "", false); });
  EXPECT_EQ(select.code(), FE_INVALID_ARGUMENT);
  EXPECT_STREQ(select.what(), "load: select is 'beauty', and must be one of: manifest, score");
  EXPECT_EQ(error_of([] { policy_of("load", "manifest", "sometimes", "", false); }).code(), FE_INVALID_ARGUMENT);
  EXPECT_EQ(error_of([] { policy_of("load", "manifest", "", "everybody", false); }).code(), FE_INVALID_ARGUMENT);
}

TEST_F(Loader, ScoreOfZeroVetoesAManifest) {
  put_with_manifest(root(), "t_zero", {{"rank", 5}});
  const LoadRow result = row(load_from({root()}), "t_zero");
  EXPECT_EQ(result.state, LoadState::incompatible);
  EXPECT_EQ(result.score, 0);
  EXPECT_FALSE(noted("initialised t_zero"));
}

TEST_F(Loader, DisableAndOnlyExcludeNames) {
  put(root(), "t_plain");
  put(root(), "t_two");
  {
    const Variable disable("FERRULE_DISABLE", "T_Plain, t_something");
    const LoadReport report = load_from({root()});
    EXPECT_EQ(row(report, "t_plain").state, LoadState::disabled);
    EXPECT_EQ(row(report, "t_plain").reason, "FERRULE_DISABLE names it");
    EXPECT_EQ(row(report, "t_two").state, LoadState::loaded);
  }
  Registry::instance().unload("t_two");
  {
    const Variable only("FERRULE_ONLY", "t_plain");
    const LoadReport report = load_from({root()});
    EXPECT_EQ(row(report, "t_plain").state, LoadState::loaded);
    EXPECT_EQ(row(report, "t_two").state, LoadState::disabled);
  }
  Registry::instance().unload("t_plain");
  forget_notes();
  LoadOptions options;
  options.dirs = {root()};
  options.only = {"t_two"};
  EXPECT_EQ(row(load_all(options), "t_plain").state, LoadState::disabled);
  EXPECT_FALSE(noted("opened t_plain"));
}

TEST_F(Loader, EmptyVariablesAreUnset) {
  put(root(), "t_plain");
  const Variable disable("FERRULE_DISABLE", ""), only("FERRULE_ONLY", ""), files("FERRULE_BACKEND_PATH", "");
  EXPECT_EQ(row(load_from({root()}), "t_plain").state, LoadState::loaded);
  const Variable dirs("FERRULE_BACKEND_DIR", "");
  for (const LoadRoot& root : load_all().roots) EXPECT_NE(root.origin, "FERRULE_BACKEND_DIR") << root.path;
}

TEST_F(Loader, RequireThrowsWithTheReportRowsOfMissingBackends) {
  put(root(), "t_major");
  LoadOptions options;
  options.dirs = {root()};
  options.require = {"t_major", "t_absent"};
  const LoadReport report = load_all(options);
  const Error error = error_of([&] { check_required(options, report); });
  EXPECT_EQ(error.code(), FE_NOT_FOUND);
  EXPECT_CONTAINS(std::string(error.what()), "t_major, t_absent are required");
  EXPECT_CONTAINS(std::string(error.what()), "interface 99.");
  EXPECT_CONTAINS(std::string(error.what()), "no module named t_absent was found");
}

}  // namespace
}  // namespace ferrule::test
