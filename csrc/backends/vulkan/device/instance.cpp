#include "device/instance.h"

#include <algorithm>
#include <cstdlib>

namespace ferrule::vulkan {
namespace {

constexpr const char* validation_layer = "VK_LAYER_KHRONOS_validation";

// Variables that choose the loader's drivers, for error messages: they are a common cause of errors.
std::string about_variables() {
  std::string text;
  for (const char* name : {"VK_DRIVER_FILES", "VK_ICD_FILENAMES"})
    if (const char* const value = std::getenv(name); value != nullptr)
      text += std::string("; ") + name + " is '" + value + "'";
  return text;
}

}  // namespace

Instance::Instance(bool validate) : global_(open_library()) {
  try {
    create(validate);
  } catch (...) {
    if (functions_.DestroyInstance != nullptr) functions_.DestroyInstance(instance_, nullptr);
    throw;
  }
}

Instance::~Instance() {
  if (messenger_ != VK_NULL_HANDLE) functions_.DestroyDebugUtilsMessengerEXT(instance_, messenger_, nullptr);
  functions_.DestroyInstance(instance_, nullptr);
}

void Instance::create(bool validate) {
  if (global_.EnumerateInstanceVersion != nullptr)
    check(global_.EnumerateInstanceVersion(&version_), "vkEnumerateInstanceVersion");
  if (version_ < VK_API_VERSION_1_1)
    throw sdk::Error(FE_UNSUPPORTED, "this system's Vulkan loader is of version 1.0, and the backend needs 1.1");
  version_ = std::min(version_, VK_API_VERSION_1_3);

  std::vector<const char*> extensions, layers;
  VkInstanceCreateFlags flags = 0;
  const auto known = enumerate<VkExtensionProperties>(
      "vkEnumerateInstanceExtensionProperties", [&](uint32_t* count, VkExtensionProperties* items) {
        return global_.EnumerateInstanceExtensionProperties(nullptr, count, items);
      });
  // Without this extension, the loader hides devices that implement a subset of Vulkan, such as MoltenVK's.
  if (has_extension(known, VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME)) {
    extensions.push_back(VK_KHR_PORTABILITY_ENUMERATION_EXTENSION_NAME);
    flags |= VK_INSTANCE_CREATE_ENUMERATE_PORTABILITY_BIT_KHR;
  }

  auto application = typed<VkApplicationInfo>(VK_STRUCTURE_TYPE_APPLICATION_INFO);
  application.pApplicationName = application.pEngineName = "ferrule";
  application.apiVersion = version_;
  const VkDebugUtilsMessengerCreateInfoEXT messenger = messenger_info();
  const VkValidationFeatureEnableEXT synchronization = VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT;
  auto features = typed<VkValidationFeaturesEXT>(VK_STRUCTURE_TYPE_VALIDATION_FEATURES_EXT);
  features.pNext = &messenger;  // reports on the creation of the instance itself
  features.enabledValidationFeatureCount = 1;
  features.pEnabledValidationFeatures = &synchronization;
  if (validate) {
    enable_validation(extensions);
    layers.push_back(validation_layer);
  }
  auto info = typed<VkInstanceCreateInfo>(VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO);
  if (validate) info.pNext = &features;
  info.flags = flags;
  info.pApplicationInfo = &application;
  info.enabledLayerCount = static_cast<uint32_t>(layers.size());
  info.ppEnabledLayerNames = layers.data();
  info.enabledExtensionCount = static_cast<uint32_t>(extensions.size());
  info.ppEnabledExtensionNames = extensions.data();
  const VkResult result = global_.CreateInstance(&info, nullptr, &instance_);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER || result == VK_ERROR_INITIALIZATION_FAILED)
    throw sdk::Error(FE_NOT_FOUND, "no Vulkan driver could be loaded (vkCreateInstance came back with " +
                                       name_of(result) + about_variables() + ")");
  check(result, "vkCreateInstance");
  functions_ = functions_of(global_, instance_);
  if (validate)
    check(functions_.CreateDebugUtilsMessengerEXT(instance_, &messenger, nullptr, &messenger_),
          "vkCreateDebugUtilsMessengerEXT");
}

void Instance::enable_validation(std::vector<const char*>& extensions) const {
  const auto layers = enumerate<VkLayerProperties>("vkEnumerateInstanceLayerProperties",
                                                   [&](uint32_t* count, VkLayerProperties* items) {
                                                     return global_.EnumerateInstanceLayerProperties(count, items);
                                                   });
  if (!has_layer(layers, validation_layer))
    throw sdk::Error(FE_UNSUPPORTED, std::string("validate needs ") + validation_layer +
                                         ", which is not installed (Debian package vulkan-validationlayers)");
  const auto of_layer = enumerate<VkExtensionProperties>(
      "vkEnumerateInstanceExtensionProperties", [&](uint32_t* count, VkExtensionProperties* items) {
        return global_.EnumerateInstanceExtensionProperties(validation_layer, count, items);
      });
  for (const char* needed : {VK_EXT_DEBUG_UTILS_EXTENSION_NAME, VK_EXT_VALIDATION_FEATURES_EXTENSION_NAME}) {
    if (!has_extension(of_layer, needed))
      throw sdk::Error(FE_UNSUPPORTED, std::string("validate needs ") + needed + ", and the installed " +
                                           validation_layer + " does not have it");
    extensions.push_back(needed);
  }
}

VkDebugUtilsMessengerCreateInfoEXT Instance::messenger_info() {
  auto info = typed<VkDebugUtilsMessengerCreateInfoEXT>(VK_STRUCTURE_TYPE_DEBUG_UTILS_MESSENGER_CREATE_INFO_EXT);
  info.messageSeverity =
      VK_DEBUG_UTILS_MESSAGE_SEVERITY_WARNING_BIT_EXT | VK_DEBUG_UTILS_MESSAGE_SEVERITY_ERROR_BIT_EXT;
  info.messageType = VK_DEBUG_UTILS_MESSAGE_TYPE_VALIDATION_BIT_EXT;
  info.pfnUserCallback = on_message;
  info.pUserData = this;
  return info;
}

VKAPI_ATTR VkBool32 VKAPI_CALL Instance::on_message(VkDebugUtilsMessageSeverityFlagBitsEXT,
                                                    VkDebugUtilsMessageTypeFlagsEXT,
                                                    const VkDebugUtilsMessengerCallbackDataEXT* data, void* instance) {
  const char* const text = data->pMessage != nullptr ? data->pMessage : "a message without text";
  sdk::host->log(FE_LOG_ERROR, text);
  auto& self = *static_cast<Instance*>(instance);
  const std::lock_guard lock(self.mutex_);
  if (!self.finding_) self.finding_ = text;
  return VK_FALSE;  // do not abort the call
}

std::optional<std::string> Instance::take_finding() {
  const std::lock_guard lock(mutex_);
  return std::exchange(finding_, std::nullopt);
}

std::vector<VkPhysicalDevice> Instance::physical_devices() const {
  try {
    return enumerate<VkPhysicalDevice>("vkEnumeratePhysicalDevices", [&](uint32_t* count, VkPhysicalDevice* items) {
      return functions_.EnumeratePhysicalDevices(instance_, count, items);
    });
  } catch (const sdk::Error& error) {
    // The loader's result if no driver has a device.
    if (error.code() != FE_UNSUPPORTED) throw;
    throw sdk::Error(FE_NOT_FOUND,
                     std::string("no Vulkan driver finds a device (") + error.what() + about_variables() + ")");
  }
}

}  // namespace ferrule::vulkan
