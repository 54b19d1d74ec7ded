#include "core/log.h"

#include "core/error.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace ferrule::test {
namespace {

class Log : public testing::Test {
 protected:
  ~Log() override {
    set_log_callback(nullptr, nullptr);
    set_log_level(before_);
  }
  void listen(LogDelivery delivery) {
    set_log_level(FE_LOG_INFO);
    set_log_callback(
        [](void* self, fe_log_level level, const char* line) {
          static_cast<Log*>(self)->lines_.push_back(std::string(name_of(level)) + " " + line);
          static_cast<Log*>(self)->thread_ = std::this_thread::get_id();
        },
        this, delivery);
  }
  std::vector<std::string> lines_;
  std::thread::id thread_;

 private:
  const fe_log_level before_ = log_level();
};

TEST_F(Log, CallbackGetsLinesOfItsLevel) {
  listen(LogDelivery::immediate);
  log_debug("not {}", "this");
  log_info("{} and {}", 1, 2);
  log_warning("three");
  EXPECT_EQ(lines_, (std::vector<std::string>{"info 1 and 2", "warning three"}));
}

TEST_F(Log, QueuedLinesAreDeliveredOnTheDrainingThread) {
  listen(LogDelivery::queued);
  std::thread([] { log_warning("from elsewhere"); }).join();
  EXPECT_TRUE(lines_.empty());
  EXPECT_EQ(drain_log(), 1u);
  EXPECT_EQ(lines_, std::vector<std::string>{"warning from elsewhere"});
  EXPECT_EQ(thread_, std::this_thread::get_id());
  EXPECT_EQ(drain_log(), 0u);
}

TEST_F(Log, QueueIsBoundedAndCountsDroppedLines) {
  listen(LogDelivery::queued);
  for (int i = 0; i < 1500; ++i) log_info("line {}", i);
  EXPECT_EQ(drain_log(), 1001u);
  EXPECT_EQ(lines_.front(), "warning 500 log lines were dropped: fe_drain() was not called");
  EXPECT_EQ(lines_.back(), "info line 1499");
}

TEST_F(Log, ThreadsMayLogWhileTheCallbackChanges) {
  listen(LogDelivery::queued);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 200; ++i) log_info("line");
    });
  for (int i = 0; i < 20; ++i) drain_log();
  for (std::thread& thread : threads) thread.join();
  drain_log();
  EXPECT_EQ(lines_.size(), 800u);
}

TEST(Errors, RoundTripThroughTheCApiKeepsCodeAndMessage) {
  const ErrorPointer error(to_error(Error(FE_TIMEOUT, "too late")));
  EXPECT_EQ(code_of(error.get()), FE_TIMEOUT);
  EXPECT_STREQ(message_of(error.get()), "too late");
  EXPECT_NO_THROW(check(nullptr));
  try {
    check(make_error(FE_IO, "no disk"));
    FAIL();
  } catch (const Error& thrown) {
    EXPECT_EQ(thrown.code(), FE_IO);
    EXPECT_STREQ(thrown.what(), "no disk");
  }
}

TEST(Errors, GuardedConvertsExceptionsToErrors) {
  EXPECT_EQ(guarded([] {}), nullptr);
  const auto code = [](auto function) { return code_of(ErrorPointer(guarded(function)).get()); };
  EXPECT_EQ(code([] { fail(FE_NOT_FOUND, "no {}", 1); }), FE_NOT_FOUND);
  EXPECT_EQ(code([] { throw std::bad_alloc(); }), FE_OUT_OF_MEMORY);
  EXPECT_EQ(code([] { throw std::runtime_error("x"); }), FE_INTERNAL);
  EXPECT_EQ(code([] { throw 3; }), FE_INTERNAL);
  EXPECT_EQ(code([]() -> fe_error* { return make_error(FE_IO, ""); }), FE_IO);
  EXPECT_EQ(code([] { throw Error(FE_OK, "a success that is none"); }), FE_INTERNAL);
}

TEST(Errors, EveryCodeHasAName) {
  EXPECT_STREQ(name_of(FE_INVALID_ARGUMENT), "invalid_argument");
  EXPECT_STREQ(name_of(FE_CANCELLED), "cancelled");
}

}  // namespace
}  // namespace ferrule::test
