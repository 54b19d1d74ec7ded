// The Vulkan instance. It lists the devices of the drivers and collects the messages of the validation layer.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "device/entry_points.h"

namespace ferrule::vulkan {

class Instance {
 public:
  // `validate` enables the Khronos validation layer, which checks each call and the ordering of memory accesses. Its
  // findings are logged as errors, and kept for take_finding. Throws FE_UNSUPPORTED if the layer is not installed,
  // FE_NOT_FOUND if there is no driver.
  explicit Instance(bool validate);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  const InstanceFunctions& api() const { return functions_; }
  uint32_t version() const { return version_; }  // the highest that may be used with a device that supports it
  std::vector<VkPhysicalDevice> physical_devices() const;
  // The first finding of the validation layer since the last call.
  std::optional<std::string> take_finding();

 private:
  void create(bool validate);
  void enable_validation(std::vector<const char*>& extensions) const;
  VkDebugUtilsMessengerCreateInfoEXT messenger_info();
  static VKAPI_ATTR VkBool32 VKAPI_CALL on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                   VkDebugUtilsMessageTypeFlagsEXT,
                                                   const VkDebugUtilsMessengerCallbackDataEXT* data, void* instance);

  GlobalFunctions global_;
  InstanceFunctions functions_;
  uint32_t version_ = VK_API_VERSION_1_0;
  VkInstance instance_ = VK_NULL_HANDLE;
  VkDebugUtilsMessengerEXT messenger_ = VK_NULL_HANDLE;
  std::mutex mutex_;
  std::optional<std::string> finding_;
};

}  // namespace ferrule::vulkan
