// Options of the null backend that change how it loads. ferrule-conformance and the tests of the executor use its other
// options.
#include "fake_host.h"
#include "variable.h"

#include <gtest/gtest.h>

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
    return outcome(backend.device_open(backend.self, 0, array.data(), static_cast<uint32_t>(array.size()), &device));
  }
  void TearDown() override {
    if (device) backend.device_close(device);
    if (backend.self) backend.close(backend.self);
  }

  fe_backend backend{};
  fe_module_device* device = nullptr;
};

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

TEST_F(NullBackend, ComputingModuleThatCannotBeOpenedIsAnError) {
  const Outcome refused = open({{"computes_with", "/there/is/no/such.so"}});
  EXPECT_EQ(refused.code, FE_IO);
  EXPECT_NE(refused.message.find("/there/is/no/such.so cannot be opened"), std::string::npos) << refused.message;
}

}  // namespace
}  // namespace ferrule::test
