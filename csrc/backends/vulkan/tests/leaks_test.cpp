// Mesa and Vulkan's loader leak a little memory. LeakSanitizer can suppress these leaks only while their libraries are
// loaded, so this keeps them loaded. Vulkan objects that the backend leaks are found by the validation layer.
#if defined(__SANITIZE_ADDRESS__)
#include <dlfcn.h>

#include <gtest/gtest.h>

extern "C" __attribute__((visibility("default"))) const char* __lsan_default_suppressions() {
  return "leak:libvulkan_lvp.so\nleak:libvulkan.so\nleak:libLLVM\nleak:libVkLayer_khronos_validation.so\n";
}

namespace {

class KeptDrivers : public testing::Environment {
 public:
  void SetUp() override {
    for (const char* library : {"libvulkan.so.1", "libvulkan_lvp.so", "libVkLayer_khronos_validation.so"})
      dlopen(library, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  }
};

const testing::Environment* const environment = testing::AddGlobalTestEnvironment(new KeptDrivers);

}  // namespace
#endif
