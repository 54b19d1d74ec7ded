// The capabilities that ferrule.h reports for devices with and without queues, and with and without host memory.
#include "api_handles.h"
#include "core/api/handles.h"
#include "life_fixture.h"

namespace ferrule::test {
namespace {

class ApiDevices : public LifeTest {
 protected:
  static uint32_t capabilities(const std::shared_ptr<Device>& device) {
    const DeviceHandle handle(new fe_device{device});
    fe_device_details details{};
    details.struct_size = sizeof details;
    const ErrorPointer error(fe_device_details_get(handle.get(), &details));
    EXPECT_EQ(error, nullptr) << message_of(error.get());
    return details.capabilities;
  }
  static nlohmann::json capability_names(const std::shared_ptr<Device>& device) {
    const DeviceHandle handle(new fe_device{device});
    fe_string* text = nullptr;
    const ErrorPointer error(fe_device_info(handle.get(), &text));
    const Text owner(text);
    return nlohmann::json::parse(fe_string_data(text)).at("capabilities");
  }
};

TEST_F(ApiDevices, CapabilitiesAreExactlyWhatTheDeviceCanDo) {
  EXPECT_EQ(capabilities(cpu()), FE_CAPABILITY_HOST_BUFFERS | FE_CAPABILITY_BORROWS);
  EXPECT_EQ(capability_names(cpu()), (nlohmann::json{"host_buffers", "borrows"}));
#ifdef FERRULE_NULL_MODULE
  load(FERRULE_NULL_MODULE);
#endif
  const auto null = registry.by_name("null");
  EXPECT_EQ(capabilities(null), FE_CAPABILITY_ASYNCHRONOUS | FE_CAPABILITY_EVENTS);
  EXPECT_EQ(capability_names(null), (nlohmann::json{"asynchronous", "events"}));
  load(put(root(), "t_plain"));
  EXPECT_EQ(capabilities(registry.by_name("t_plain")), FE_CAPABILITY_HOST_BUFFERS);
  EXPECT_EQ(capability_names(registry.by_name("t_plain")), (nlohmann::json{"host_buffers"}));
}

}  // namespace
}  // namespace ferrule::test
