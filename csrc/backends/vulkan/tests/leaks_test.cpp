// Suppresses leaks in Mesa and Vulkan's loader. LeakSanitizer can only name a library that is still loaded, so this
// file keeps them loaded. The validation layer finds Vulkan objects that the backend leaks.
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
