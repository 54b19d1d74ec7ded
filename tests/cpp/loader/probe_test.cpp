// Modules are probed in a child process, and the verdicts are cached.
#include "loader_fixture.h"
#include "wine.h"

#include "core/cache/disk_cache.h"
#include "core/loader/probe/probe_process.h"
#include "core/loader/probe/probe_verdict.h"
#include "core/loader/probe/prober.h"
#include "core/loader/search/find_candidates.h"
#include "core/loader/search/read_candidate.h"
#include "core/loader/trust/trust_check.h"
#include "module_file/sha256.h"

#include <chrono>

namespace ferrule::test {
namespace {

class LoaderProbe : public LoaderTest {
 protected:
  LoadRow probed(const std::string& stem, ProbePolicy policy = ProbePolicy::automatic, bool reprobe = false) {
    LoadOptions options;
    options.dirs = {root()};
    options.policy.probe = policy;
    options.policy.reprobe = reprobe;
    return row(load_all(options), stem);
  }
  void unload(const std::string& name) { Registry::instance().unload(name); }

  const std::string opened = "opened t_plain\ninitialised t_plain\n";
  Variable cache_{"FERRULE_CACHE_DIR", folder_ / "cache"};
  Variable no_driver_variable_{"T_DRIVER_DEVICES", nullptr}, no_binding_{"LD_BIND_NOW", nullptr};
};

TEST_F(LoaderProbe, PassedModuleIsLoadedAndNotProbedAgain) {
  put(root(), "t_plain");
  const LoadRow first = probed("t_plain");
  EXPECT_EQ(first.state, LoadState::loaded) << first.reason;
  EXPECT_EQ(first.probed, "yes");
  EXPECT_GT(first.times.probe, 0);
  EXPECT_EQ(notes(), opened + "device opened t_plain\ndevice closed t_plain\nclosed t_plain\n" + opened);
  unload("t_plain");
  forget_notes();
  const LoadRow second = probed("t_plain");
  EXPECT_EQ(second.state, LoadState::loaded);
  EXPECT_EQ(second.probed, "cached");
  EXPECT_EQ(notes(), opened);
}

#if !defined(_WIN32)
TEST_F(LoaderProbe, ProbeThatEndsWithoutAnAnswerIsNotSaidToBeKilled) {
  const std::string text = error_of([] { run_probe("/bin/false", "module", {}); }).what();
  EXPECT_NE(text.find("its probe ended with status 1 before it answered"), std::string::npos) << text;
}
#endif

TEST_F(LoaderProbe, PolicyNeverStartsNoProbe) {
  put(root(), "t_plain");
  const LoadRow result = probed("t_plain", ProbePolicy::never);
  EXPECT_EQ(result.state, LoadState::loaded);
  EXPECT_EQ(result.probed, "no");
  EXPECT_EQ(notes(), opened);
}

TEST_F(LoaderProbe, AbortVerdictIsCached) {
  put(root(), "t_abort");
  const LoadRow first = probed("t_abort");
  EXPECT_EQ(first.state, LoadState::probe_failed);
#if defined(_WIN32)  // wine's abort() ends the process as exit(3) does
  EXPECT_CONTAINS(first.reason, is_wine() ? "it ended its process with exit status 3 (step 'init')"
                                          : "its probe was ended by a fast fail (it called abort");
#else
  EXPECT_EQ(first.reason, "its probe was ended by SIGABRT (it called abort) (step 'init')");
#endif
  forget_notes();
  const LoadRow second = probed("t_abort");
  EXPECT_EQ(second.state, LoadState::probe_failed);
  EXPECT_EQ(second.probed, "cached");
  EXPECT_EQ(second.reason, first.reason);
  EXPECT_EQ(notes(), "") << "it was opened again";
  EXPECT_EQ(probed("t_abort", ProbePolicy::automatic, true).probed, "yes");
  EXPECT_EQ(notes(), "opened t_abort\ninitialised t_abort\n");
}

TEST_F(LoaderProbe, HangingProbeEndsAtTheTimeLimit) {
  put(root(), "t_hang");
  std::string reason, limit;
  for (const char* const seconds : {"0.5", "4", "32"}) {  // until it reaches init before the end
    const Variable timeout("FERRULE_PROBE_TIMEOUT", seconds);
    const LoadRow result = probed("t_hang", ProbePolicy::automatic, true);
    EXPECT_EQ(result.state, LoadState::probe_failed);
    reason = result.reason;
    limit = seconds;
    if (reason.find("(step 'init')") != std::string::npos) break;
  }
  EXPECT_EQ(reason, "its probe did not end within " + limit + " s (step 'init')");
}

TEST_F(LoaderProbe, RoundingModeChangeIsRefused) {
  put(root(), "t_rounding");
  const LoadRow result = probed("t_rounding");
  EXPECT_EQ(result.state, LoadState::probe_failed);
  EXPECT_CONTAINS(result.reason,
                  "it changes the process: it changes the rounding of floating-point numbers (step 'init')");
}

TEST_F(LoaderProbe, EnvironmentChangeIsANote) {
  const Variable unset("T_VARIABLE", nullptr);
  put(root(), "t_variable");
  const LoadRow result = probed("t_variable");
  EXPECT_EQ(result.state, LoadState::loaded) << result.reason;
  ASSERT_EQ(result.notes.size(), 1u) << result.notes.back();
  EXPECT_EQ(result.notes[0], "it sets T_VARIABLE in the environment (step 'init')");
}

TEST_F(LoaderProbe, OutputOfTheProbeIsInTheReport) {
  put(root(), "t_words");
  EXPECT_EQ(probed("t_words").output, "a word from init\n");
}

TEST_F(LoaderProbe, ProperRefusalKeepsItsState) {
  put(root(), "t_zero");
  put(root(), "t_no_device");
  put(root(), "t_throwing");
  EXPECT_EQ(probed("t_zero").state, LoadState::incompatible);
  EXPECT_EQ(probed("t_no_device").state, LoadState::no_device);
  const LoadRow throwing = probed("t_throwing");
  EXPECT_EQ(throwing.state, LoadState::error);
  EXPECT_CONTAINS(throwing.reason, "threw a C++ exception");
}

TEST_F(LoaderProbe, InitThatRefusesHasTheSameStateWithAndWithoutAProbe) {
  for (const char* stem : {"t_init_finds_nothing", "t_init_lacks_something", "t_pair-broken"}) put(root(), stem);
  for (const ProbePolicy policy : {ProbePolicy::never, ProbePolicy::automatic}) {
    EXPECT_EQ(probed("t_init_finds_nothing", policy).state, LoadState::no_device);
    EXPECT_EQ(probed("t_init_lacks_something", policy).state, LoadState::incompatible);
    const LoadRow broken = probed("t_pair-broken", policy);
    EXPECT_EQ(broken.state, LoadState::error);
    EXPECT_EQ(broken.reason, "the test wants it to fail");
    EXPECT_EQ(broken.probed, policy == ProbePolicy::never ? "no" : "cached");
  }
}

TEST_F(LoaderProbe, NextVariantIsTriedAfterAFailure) {
  put_with_manifest(root(), "t_pair-broken", {{"rank", 3}});
  put_with_manifest(root(), "t_pair-low", {{"rank", 1}});
  EXPECT_EQ(probed("t_pair-low").state, LoadState::loaded);
}

TEST_F(LoaderProbe, DriverVariablesArePartOfTheVerdictKey) {
  put_with_manifest(root(), "t_plain", {{"driver", {{{"library", SYSTEM_LIBRARY}, {"variables", {"T_DRIVER_*"}}}}}});
  EXPECT_EQ(probed("t_plain").probed, "yes");
  unload("t_plain");
  const Variable other("T_DRIVER_DEVICES", "1");
  EXPECT_EQ(probed("t_plain").probed, "yes");
}

// The init of a module may change the environment of the modules after it.
TEST_F(LoaderProbe, CachedVerdictAppliesToTheSameKeyOnly) {
  put(root(), "t_plain");
  EXPECT_EQ(probed("t_plain").probed, "yes");
  const Prober prober(policy_of("load_all", "manifest", "auto", "owner", false));
  Candidate candidate = candidate_at(root() / "libferrule-t_plain" MODULE_ENDING);
  TrustCheck trust(Trust::owner);
  read_candidate(candidate, trust);
  if (candidate.hash.empty())  // a DLL is too large to be hashed early
    candidate.hash = *module_file::sha256_of_file(candidate.real);
  prober.recall(candidate);
  ASSERT_TRUE(candidate.earlier_verdict) << candidate.row.reason;
  const std::string hash = candidate.hash;
  fs::remove_all(folder_ / "cache");
  prober.probe(candidate, hash);
  EXPECT_EQ(candidate.row.probed, "cached") << "what was recalled was not used";
  const Variable other("LD_BIND_NOW", "1");
  prober.probe(candidate, hash);
  EXPECT_EQ(candidate.row.probed, "yes");
}

TEST_F(LoaderProbe, TimeoutVerdictExpiresAfterTenMinutesAndCrashVerdictDoesNot) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto remembered = [&](const std::string& word, int64_t age) {
    const nlohmann::json line = {{"verdict", word}, {"reason", "why"}};
    disk_cache::put("verdict", "key", fmt::format("{}\n{}", now.count() - age, line.dump()));
    return remembered_verdict("key").has_value();
  };
  EXPECT_TRUE(remembered("timeout", 590));
  EXPECT_FALSE(remembered("timeout", 610));
  EXPECT_FALSE(remembered("timeout", -10)) << "from the future";
  EXPECT_FALSE(remembered("refused", 610));
  EXPECT_TRUE(remembered("failed", 1'000'000));
  EXPECT_TRUE(remembered("passed", 1'000'000));
  EXPECT_FALSE(remembered("praised", 0));
}

#if !defined(_WIN32)  // which ends no process for lack of memory
// A module that was killed for lack of memory may be good.
TEST_F(LoaderProbe, PossiblyTransientFailureExpiresAfterTenMinutes) {
  const auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto remembered = [&](const std::string& line, int64_t age) {
    disk_cache::put("verdict", "key", fmt::format("{}\n{}", now.count() - age, line));
    return remembered_verdict("key").has_value();
  };
  const auto line_about = [&](const char* stem) { return run_probe(*find_probe(), built(stem), probe_limits()); };
  const std::string killed = line_about("t_kill"), aborted = line_about("t_abort");
  EXPECT_EQ(verdict_from(killed).kind, VerdictKind::failed);
  EXPECT_CONTAINS(verdict_from(killed).reason, "its probe was ended by SIGKILL (step 'init')");
  EXPECT_TRUE(remembered(killed, 590));
  EXPECT_FALSE(remembered(killed, 610));
  EXPECT_TRUE(remembered(aborted, 1'000'000));
}
#endif

TEST_F(LoaderProbe, LimitsAreChecked) {
  const Variable twelve("FERRULE_PROBE_TIMEOUT", "12.5"), half_a_gigabyte("FERRULE_PROBE_MEMORY", "512");
  EXPECT_EQ(probe_limits().milliseconds, 12'500u);
  EXPECT_EQ(probe_limits().mebibytes, 512u);
  for (const std::string bad : {"0", "-1", "nan", "inf", "2s", "1e9"}) {
    const Variable wrong("FERRULE_PROBE_TIMEOUT", bad.c_str());
    const Lines lines;
    EXPECT_EQ(probe_limits().milliseconds, 20'000u) << bad;
    EXPECT_EQ(lines.text,
              "FERRULE_PROBE_TIMEOUT is '" + bad + "', and must be a number above 0 and up to a million; using 20\n");
  }
}

TEST_F(LoaderProbe, InvalidAnswerIsAnError) {
  EXPECT_EQ(error_of([] { verdict_from("nonsense"); }).code(), FE_IO);
  EXPECT_EQ(error_of([] { verdict_from("{}"); }).code(), FE_IO);
  EXPECT_EQ(error_of([] { verdict_from(R"({"verdict": "splendid", "reason": ""})"); }).code(), FE_IO);
  EXPECT_EQ(error_of([] { verdict_from(R"({"verdict": "passed", "reason": 7})"); }).code(), FE_IO);
}

TEST_F(LoaderProbe, InvalidProbeProgramIsAnError) {
  EXPECT_EQ(error_of([&] { run_probe(folder_ / "nothing", "x", {}); }).code(), FE_IO);
#if defined(_WIN32)
  const fs::path another = FERRULE_TEST_MANIFEST_WRITER;  // does not know the options
#else
  const fs::path another = "/bin/true";
#endif
  EXPECT_EQ(error_of([&] { run_probe(another, "x", {}); }).code(), FE_IO);
}

}  // namespace
}  // namespace ferrule::test
