// The null backend without a core, called through the C++ wrapper of the SDK: each slot and each fault.
#include "fake_host.h"
#include "variable.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

extern "C" const fe_static_module ferrule_module_null;

namespace ferrule::test {
namespace {

// Sets FERRULE_NULL_FAULT during its lifetime.
class Fault {
 public:
  explicit Fault(const char* name) { set_variable("FERRULE_NULL_FAULT", name); }
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;
  ~Fault() { set_variable("FERRULE_NULL_FAULT", nullptr); }
};

class NullBackend : public testing::Test {
 protected:
  Outcome init() {
    backend.struct_size = sizeof(backend);
    return outcome(ferrule_module_null.init(&fake_host(), &backend));
  }
  Outcome open(std::initializer_list<std::pair<const char*, const char*>> options = {}) {
    if (!backend.self) {
      EXPECT_EQ(init().code, FE_OK);
    }
    std::vector<fe_option> array;
    for (const auto& [key, value] : options) array.push_back({sizeof(fe_option), key, value});
    Outcome result =
        outcome(backend.device_open(backend.self, 0, array.data(), static_cast<uint32_t>(array.size()), &device));
    if (result.code == FE_OK) {
      EXPECT_EQ(outcome(backend.queue_create(device, FE_QUEUE_COMPUTE, &queue)).code, FE_OK);
    }
    return result;
  }
  // Runs `silu` once and returns the status of the queue's event.
  Outcome execute_and_wait(int64_t timeout_ns = -1) {
    OneNode graph("silu", 1, 4, "float32");
    fe_module_executable* executable = nullptr;
    EXPECT_EQ(outcome(backend.compile(device, &graph.view, &executable)).code, FE_OK);
    fe_module_buffer* buffer = nullptr;
    EXPECT_EQ(outcome(backend.buffer_allocate(device, 64, 64, &buffer)).code, FE_OK);
    const fe_binding bindings[] = {{sizeof(fe_binding), buffer, 0, 0}, {sizeof(fe_binding), buffer, 16, 0}};
    fe_execution execution{};
    execution.struct_size = sizeof(execution);
    execution.bindings = bindings;
    EXPECT_EQ(outcome(backend.execute(executable, queue, &execution)).code, FE_OK);
    fe_module_event* event = nullptr;
    EXPECT_EQ(outcome(backend.event_record(queue, &event)).code, FE_OK);
    Outcome result = outcome(backend.event_wait(event, timeout_ns));
    if (result.code == FE_TIMEOUT) {
      EXPECT_EQ(backend.event_done(event), 0);
      EXPECT_EQ(outcome(backend.queue_reset(queue)).code, FE_OK);
      EXPECT_EQ(backend.event_done(event), 1);
    }
    backend.event_release(event);
    backend.buffer_free(buffer);
    backend.executable_release(executable);
    return result;
  }
  void TearDown() override {
    if (queue) backend.queue_destroy(queue);
    if (device) backend.device_close(device);
    if (backend.self) backend.close(backend.self);
  }

  fe_backend backend{};
  fe_module_device* device = nullptr;
  fe_module_queue* queue = nullptr;
};

TEST_F(NullBackend, DescribesOneTestDevice) {
  ASSERT_EQ(init().code, FE_OK);
  EXPECT_STREQ(backend.name, "null");
  EXPECT_STREQ(backend.variant, "");
  EXPECT_EQ(backend.device_count(backend.self), 1u);
  fe_device_properties properties{};
  properties.struct_size = sizeof(properties);
  ASSERT_EQ(outcome(backend.device_properties(backend.self, 0, &properties)).code, FE_OK);
  EXPECT_EQ(properties.kind, static_cast<uint32_t>(FE_DEVICE_TEST));
  EXPECT_STREQ(properties.name, "null");
  EXPECT_EQ(outcome(backend.device_properties(backend.self, 1, &properties)).code, FE_NOT_FOUND);
}

TEST_F(NullBackend, FillsOnlyTheCallersStructSize) {
  ASSERT_EQ(init().code, FE_OK);
  fe_device_properties properties{};
  properties.struct_size = offsetof(fe_device_properties, description);
  ASSERT_EQ(outcome(backend.device_properties(backend.self, 0, &properties)).code, FE_OK);
  EXPECT_STREQ(properties.name, "null");
  EXPECT_EQ(properties.description, nullptr);
}

TEST_F(NullBackend, FaultVariableSelectsLoadingFaults) {
  {
    const Fault fault("score0");
    EXPECT_EQ(ferrule_module_null.score(), 0);
  }
  EXPECT_GT(ferrule_module_null.score(), 0);
  {
    const Fault fault("init_fails");
    EXPECT_EQ(init().message, "null: init fails because FERRULE_NULL_FAULT says so");
  }
  {
    const Fault fault("init_throws");
    EXPECT_EQ(init().message, "null: init throws because FERRULE_NULL_FAULT says so");
  }
  EXPECT_EQ(backend.self, nullptr);
}

TEST_F(NullBackend, FaultVariableSetsTheDeviceCount) {
  {
    const Fault fault("no_devices");
    ASSERT_EQ(init().code, FE_OK);
    EXPECT_EQ(backend.device_count(backend.self), 0u);
    backend.close(backend.self);
  }
  const Fault fault("two_devices");
  ASSERT_EQ(init().code, FE_OK);
  EXPECT_EQ(backend.device_count(backend.self), 2u);
}

TEST_F(NullBackend, AcceptsEveryNodeAndWritesZeros) {
  ASSERT_EQ(open().code, FE_OK);
  OneNode graph("add", 2, 4, "float32");
  fe_requirements requirements{};
  requirements.struct_size = sizeof(requirements);
  EXPECT_EQ(backend.supports(device, &graph.view, 0, &requirements), 1);
  EXPECT_STREQ(requirements.kernel, "nothing");
  EXPECT_EQ(execute_and_wait().code, FE_OK);
}

TEST_F(NullBackend, UnknownOptionIsAnErrorThatListsTheKnownOnes) {
  const Outcome result = open({{"slow", "1"}});
  EXPECT_EQ(result.code, FE_INVALID_ARGUMENT);
  EXPECT_EQ(
      result.message,
      "'slow' is not an option of this device; it knows out_of_memory_at device_lost_at execution_fails_at "
      "copy_fails_at submit_fails_at record_fails_at wait_fails_at reset_fails_at slow_ms held_while threaded late "
      "seed latency_ns execution_ns bytes_per_second real_time memory hidden host_memory computes_with without");
  EXPECT_EQ(open({{"slow_ms", "1.5"}}).message, "option slow_ms is '1.5', and must be an integer");
}

TEST_F(NullBackend, RunsOutOfMemoryAtTheNthAllocation) {
  ASSERT_EQ(open({{"out_of_memory_at", "2"}}).code, FE_OK);
  fe_module_buffer* buffers[2] = {};
  EXPECT_EQ(outcome(backend.buffer_allocate(device, 8, 64, &buffers[0])).code, FE_OK);
  EXPECT_EQ(outcome(backend.buffer_allocate(device, 8, 64, &buffers[1])).code, FE_OUT_OF_MEMORY);
  EXPECT_EQ(outcome(backend.buffer_allocate(device, 8, 64, &buffers[1])).code, FE_OK);
  for (fe_module_buffer* buffer : buffers) backend.buffer_free(buffer);
}

TEST_F(NullBackend, DeviceLostAtTheNthExecutionIsReportedByEventsUntilReset) {
  ASSERT_EQ(open({{"device_lost_at", "2"}}).code, FE_OK);
  EXPECT_EQ(execute_and_wait().code, FE_OK);
  EXPECT_EQ(execute_and_wait().code, FE_DEVICE_LOST);
  EXPECT_EQ(execute_and_wait().code, FE_DEVICE_LOST);
  EXPECT_EQ(outcome(backend.queue_reset(queue)).code, FE_OK);
  EXPECT_EQ(execute_and_wait().code, FE_OK);
}

TEST_F(NullBackend, SlowOptionDelaysWorkSoThatWaitsTimeOut) {
  ASSERT_EQ(open({{"slow_ms", "300"}}).code, FE_OK);
  EXPECT_EQ(execute_and_wait(1'000'000).code, FE_TIMEOUT);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(execute_and_wait().code, FE_OK);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

TEST_F(NullBackend, FailedWaitOrResetDoesNotStopTheWork) {
  ASSERT_EQ(open({{"slow_ms", "500"}, {"wait_fails_at", "1"}, {"reset_fails_at", "1"}}).code, FE_OK);
  OneNode graph("silu", 1, 4, "float32");
  fe_module_executable* executable = nullptr;
  ASSERT_EQ(outcome(backend.compile(device, &graph.view, &executable)).code, FE_OK);
  fe_module_buffer* buffer = nullptr;
  ASSERT_EQ(outcome(backend.buffer_allocate(device, 64, 64, &buffer)).code, FE_OK);
  auto* const bytes = static_cast<char*>(backend.buffer_host_pointer(buffer));
  std::memset(bytes, 7, 64);
  const fe_binding bindings[] = {{sizeof(fe_binding), buffer, 0, 0}, {sizeof(fe_binding), buffer, 16, 0}};
  fe_execution execution{};
  execution.struct_size = sizeof(execution);
  execution.bindings = bindings;
  ASSERT_EQ(outcome(backend.execute(executable, queue, &execution)).code, FE_OK);
  fe_module_event* event = nullptr;
  ASSERT_EQ(outcome(backend.event_record(queue, &event)).code, FE_OK);
  EXPECT_EQ(outcome(backend.event_wait(event, -1)).message, "null: wait 1 failed, as requested");
  EXPECT_EQ(outcome(backend.queue_reset(queue)).message, "null: reset 1 failed, as requested");
  EXPECT_EQ(backend.event_done(event), 0);
  EXPECT_EQ(outcome(backend.event_wait(event, -1)).code, FE_OK);
  EXPECT_EQ(bytes[16], 0);
  backend.event_release(event);
  backend.buffer_free(buffer);
  backend.executable_release(executable);
}

TEST_F(NullBackend, DestroyingAQueueWaitsForItsWork) {
  ASSERT_EQ(open({{"slow_ms", "300"}}).code, FE_OK);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(execute_and_wait(0).code, FE_TIMEOUT);
  backend.queue_destroy(std::exchange(queue, nullptr));
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(300));
}

TEST_F(NullBackend, BorrowIsUnsupported) {
  ASSERT_EQ(open().code, FE_OK);
  char bytes[64];
  fe_module_buffer* buffer = nullptr;
  EXPECT_EQ(outcome(backend.buffer_borrow(device, bytes, sizeof(bytes), FE_ACCESS_READ, &buffer)).code, FE_UNSUPPORTED);
}

}  // namespace
}  // namespace ferrule::test
