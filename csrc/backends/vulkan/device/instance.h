// The instance of Vulkan: what the driver's devices are asked through, and where the validation layer speaks.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "device/entry_points.h"

namespace ferrule::vulkan {

class Instance {
 public:
  // `validate`: with the Khronos validation layer, which checks each call and the ordering of memory accesses; what it
  // finds is logged as errors, and kept for take_finding. Throws FE_UNSUPPORTED when it is not installed, FE_NOT_FOUND
  // when there is no driver.
  explicit Instance(bool validate);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  const InstanceFunctions& api() const { return functions_; }
  uint32_t version() const { return version_; }  // that may be used of a device which has it
  std::vector<VkPhysicalDevice> physical_devices() const;
  // The first thing that the validation layer has found since this was called last.
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
