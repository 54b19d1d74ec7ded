// The Vulkan backend without a core, with Vulkan's validation layer enabled: a validation message fails the test.
#pragma once

#include "buffers/device_memory.h"
#include "queues/queue.h"

#include "fake_host.h"
#include "variable.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

extern "C" const fe_static_module ferrule_module_vulkan;

namespace ferrule::test {

// Log lines of the module since the last call of `take`.
class Log {
 public:
  static Log& instance() {
    static Log log;
    return log;
  }
  void add(fe_log_level level, const char* line) {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back((level >= FE_LOG_WARNING ? "! " : "") + std::string(line));
  }
  std::vector<std::string> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(lines_, {});
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

inline const fe_host& logging_host() {
  static const fe_host host = [] {
    fe_host slots = fake_host();
    slots.log = [](fe_log_level level, const char* line) { Log::instance().add(level, line); };
    return slots;
  }();
  return host;
}

// An open device with access to its internals.
class VulkanContext : public testing::Test {
 protected:
  void SetUp() override {
    sdk::host = &logging_host();
    Log::instance().take();
    instance = std::make_shared<vulkan::Instance>(true);
    context = std::make_shared<vulkan::OpenDevice>(instance, vulkan::find_devices(*instance).front(),
                                                   sdk::Options(nullptr, 0));
  }
  void TearDown() override {
    context.reset();
    EXPECT_FALSE(instance->take_finding());
    instance.reset();
    EXPECT_EQ(Log::instance().take(), std::vector<std::string>{});
  }
  vulkan::Allocation allocate(uint64_t size) { return context->memory().allocate(size, 64, vulkan::Use::device); }
  // Runs an executable.
  void fill(vulkan::Queue& queue, const vulkan::Allocation& to, uint32_t word, std::function<void()> after = {},
            std::shared_ptr<void> keep_alive = {}) {
    queue.submit(
        {&to},
        [&](VkCommandBuffer commands) { context->api().CmdFillBuffer(commands, to.buffer, to.offset, to.size, word); },
        std::move(keep_alive), std::move(after));
  }

  std::shared_ptr<vulkan::Instance> instance;
  std::shared_ptr<vulkan::OpenDevice> context;
};

// The error that a call throws.
template <class Function>
Outcome outcome_of(Function&& function) {
  try {
    function();
  } catch (const sdk::Error& error) {
    return {error.code(), error.what()};
  }
  return {};
}

}  // namespace ferrule::test
