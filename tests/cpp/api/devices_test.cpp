// The capabilities that ferrule.h reports for devices with and without queues, and with and without host memory.
#include "api_handles.h"
#include "core/api/handles.h"
#include "error_of.h"
#include "lifecycle_fixture.h"

#include <cstring>

namespace ferrule::test {
namespace {

class ApiDevices : public LifecycleTest {
 protected:
  static uint32_t capabilities(const std::shared_ptr<Device>& device) {
    const DeviceHandle handle(new fe_device{device});
    fe_device_details details{};
    details.struct_size = sizeof details;
    const ErrorPointer error(fe_device_details_get(handle.get(), &details));
    EXPECT_EQ(error, nullptr) << message_of(error.get());
    return details.capabilities;
  }
};

TEST_F(ApiDevices, CapabilitiesMatchTheFunctionsThatTheDeviceImplements) {
  EXPECT_EQ(capabilities(cpu()), FE_CAPABILITY_HOST_BUFFERS | FE_CAPABILITY_BORROWS);
#ifdef FERRULE_NULL_MODULE
  load(FERRULE_NULL_MODULE);
#endif
  const auto null = registry.by_name("null");
  EXPECT_EQ(capabilities(null), FE_CAPABILITY_ASYNCHRONOUS | FE_CAPABILITY_EVENTS);
  load(put(root(), "t_plain"));
  EXPECT_EQ(capabilities(registry.by_name("t_plain")), FE_CAPABILITY_HOST_BUFFERS);
}

TEST_F(ApiDevices, HostMemoryIsFreedOnceAndKeepsItsBackend) {
#ifdef FERRULE_NULL_MODULE
  load(FERRULE_NULL_MODULE);
#endif
  const DeviceHandle null(new fe_device{registry.by_name("null")}), plain(new fe_device{cpu()});
  for (fe_device* device : {null.get(), plain.get()}) {
    void* memory = &memory;
    const ErrorPointer empty(fe_host_allocate(device, 0, &memory));
    EXPECT_EQ(code_of(empty.get()), FE_INVALID_ARGUMENT);
    EXPECT_EQ(memory, nullptr);
    const ErrorPointer huge(fe_host_allocate(device, uint64_t{1} << 60, &memory));
    EXPECT_EQ(code_of(huge.get()), FE_OUT_OF_MEMORY) << message_of(huge.get());
    ASSERT_EQ(fe_host_allocate(device, 1000, &memory), nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    std::memset(memory, 1, 1000);
    const ErrorPointer within(fe_host_free(device, static_cast<char*>(memory) + 64));
    EXPECT_NE(std::string(message_of(within.get())).find("is not from host_allocate of"), std::string::npos);
    if (device == null.get()) {
      const Error refused = error_of([&] { registry.unload("null"); });
      EXPECT_NE(std::string(refused.what()).find("host memory of 1000 bytes"), std::string::npos) << refused.what();
    }
    EXPECT_EQ(fe_host_free(device, nullptr), nullptr);
    EXPECT_EQ(fe_host_free(device, memory), nullptr);
    const ErrorPointer twice(fe_host_free(device, memory));
    EXPECT_EQ(code_of(twice.get()), FE_INVALID_ARGUMENT);
  }
  registry.unload("null");
}

}  // namespace
}  // namespace ferrule::test
