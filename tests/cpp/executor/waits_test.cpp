// Work without a completion event: memory that the device may still write is neither freed nor reused until the work
// ends.
#include "core/memory/queue.h"
#include "executor_fixture.h"
#if !defined(_WIN32)
#include "other_process.h"
#endif

#ifdef FERRULE_NULL_MODULE

#include <chrono>
#include <thread>

namespace ferrule::test {
namespace {

using Clock = std::chrono::steady_clock;

// The null device delays the writes of executions by this time.
constexpr std::chrono::milliseconds late{60};
constexpr const char* late_ms = "60";

// Opens device `null` with an option that makes one call fail. The second event is the execution's; the first is that
// of the copy of its input.
class ExecutorWaits : public ExecutorTest {
 protected:
  ExecutorWaits() {
    load(FERRULE_NULL_MODULE);
    null = Registry::instance().by_name("null");
    graph.outputs = {add("exp", {input({4096})})};
  }
  ~ExecutorWaits() override {
    graph = {};
    null.reset();
    Registry::instance().unload("null");
  }
  StridedArray ones() const { return array(null, {4096}, std::vector<float>(4096, 1)); }

  std::shared_ptr<Device> null;
};

class OneFailure : public ExecutorWaits, public testing::WithParamInterface<const char*> {};

TEST_P(OneFailure, WithoutAnEndEventIsAnErrorAfterTheEnd) {
  null->open({{"slow_ms", late_ms}, {GetParam(), "2"}});
  const auto executable = build(null);
  const StridedArray given = ones();
  const auto begin = Clock::now();
  const Error error = error_of([&] { run(*executable, {given}); });
  EXPECT_GE(Clock::now() - begin, late);
  EXPECT_EQ(error.code(), FE_INTERNAL) << error.what();
  EXPECT_NE(std::string(error.what()).find("2 failed, as requested"), std::string::npos) << error.what();
  // The memory of that run's output is available to others and keeps their data.
  const StridedArray next = ones();
  std::this_thread::sleep_for(2 * late);
  EXPECT_EQ(values_of<float>(next), std::vector<float>(4096, 1));
  EXPECT_EQ(values_of<float>(run(*executable, {given})[0]), std::vector<float>(4096, 0));
  EXPECT_FALSE(null->is_lost());
}

#if !defined(_WIN32)
TEST_P(OneFailure, WithoutAnyEndSignalLosesTheDeviceAndKeepsItsMemory) {
  // Memory that is never freed also keeps the backend from being unloaded.
  EXPECT_TRUE(in_processes(1, [this](int) {
    null->open({{"slow_ms", late_ms}, {GetParam(), "2"}, {"reset_fails_at", "1"}});
    std::shared_ptr<Executable> executable = build(null);
    StridedArray given = ones();
    const Error error = error_of([&] { run(*executable, {given}); });
    const std::string sentence = error.what();
    bool is_right = error.code() == FE_DEVICE_LOST && sentence.find("counts as lost") != std::string::npos &&
                    sentence.find("2 failed, as requested") != std::string::npos;
    is_right = is_right && null->is_lost();
    executable.reset();
    given = {};
    const uint64_t live = memory_statistics(*null).live;
    std::this_thread::sleep_for(2 * late);  // the device writes memory that must not be freed; a sanitizer would notice
    is_right = is_right && live >= 2 * 4096 * sizeof(float);
    is_right = is_right && error_of([&] { Registry::instance().unload("null"); }).code() == FE_INVALID_ARGUMENT;
    if (!is_right) ADD_FAILURE() << sentence << "; live: " << live;
    return is_right;
  }));
}
#endif

INSTANTIATE_TEST_SUITE_P(Of, OneFailure, testing::Values("record_fails_at", "wait_fails_at"),
                         [](const auto& information) { return std::string(information.param); });

}  // namespace
}  // namespace ferrule::test

#endif
