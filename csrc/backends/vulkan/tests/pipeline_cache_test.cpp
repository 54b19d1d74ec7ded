// Compiled pipelines are stored for the next process, and stored data is validated before use.
#include "device_fixture.h"

#include "pipelines/pipeline_cache.h"

#include <ferrule/cache.h>

#include <cstring>
#include <map>

namespace ferrule::test {
namespace {

using vulkan::PipelineCache;

// An in-memory cache with the interface of a host's.
std::map<std::string, std::string>& entries() {
  static std::map<std::string, std::string> all;
  return all;
}

int get(const char* kind, const void* key, size_t key_size, void (*found)(void*, const void*, size_t), void* argument) {
  const auto place = entries().find(std::string(kind) + " " + std::string(static_cast<const char*>(key), key_size));
  if (place == entries().end()) return 0;
  found(argument, place->second.data(), place->second.size());
  return 1;
}

int put(const char* kind, const void* key, size_t key_size, const void* bytes, size_t size) {
  entries()[std::string(kind) + " " + std::string(static_cast<const char*>(key), key_size)] =
      std::string(static_cast<const char*>(bytes), size);
  return 1;
}

const fe_host& caching_host() {
  static fe_cache cache{sizeof(fe_cache), get, put};
  static const fe_host host = [] {
    fe_host slots = logging_host();
    slots.get_proc = [](const char* name) -> void* { return std::strcmp(name, FE_CACHE) == 0 ? &cache : nullptr; };
    return slots;
  }();
  return host;
}

class VulkanPipelineCache : public VulkanContext {
 protected:
  void SetUp() override {
    VulkanContext::SetUp();
    entries().clear();
    sdk::host = &caching_host();
  }
  void save() const {
    PipelineCache cache(*context);
    cache.save();
  }
};

TEST_F(VulkanPipelineCache, IsKeptUnderTheDriverAndTheDevice) {
  save();
  ASSERT_EQ(entries().size(), 1u);
  const auto& [key, bytes] = *entries().begin();
  EXPECT_TRUE(key.starts_with("vulkan_pipelines ferrule-vulkan ")) << key;
  EXPECT_NE(key.find("driver " + std::to_string(context->physical().properties.driverVersion)), std::string::npos);
  EXPECT_TRUE(vulkan::is_cache_of(context->physical().properties, {bytes.begin(), bytes.end()}));
}

TEST_F(VulkanPipelineCache, UnchangedCacheIsNotWrittenAgain) {
  save();
  PipelineCache cache(*context);
  entries().clear();
  cache.save();
  EXPECT_TRUE(entries().empty());
}

TEST_F(VulkanPipelineCache, DataOfAnotherDriverIsIgnored) {
  save();
  std::string& kept = entries().begin()->second;
  const std::string whole = kept;
  for (size_t i = 0; i < sizeof(VkPipelineCacheHeaderVersionOne); ++i) {
    kept = whole;
    kept[i] = static_cast<char>(kept[i] ^ 0x40);
    save();  // a driver that accepted it would crash here, or the validation layer would report it
    EXPECT_EQ(kept, whole) << "it was taken with a wrong byte " << i;
  }
  for (const size_t size : {size_t{0}, size_t{1}, sizeof(VkPipelineCacheHeaderVersionOne) - 1}) {
    kept = whole.substr(0, size);
    save();
    EXPECT_EQ(kept, whole);
  }
}

TEST_F(VulkanPipelineCache, RestartsBeyondItsBoundAndKeepsTheFile) {
  save();
  const auto kept = entries();
  PipelineCache cache(*context, sizeof(VkPipelineCacheHeaderVersionOne) - 1);
  const PipelineCache::Pointer before = cache.get();  // held as a compiling thread holds it
  cache.save();
  EXPECT_NE(*cache.get(), *before);
  EXPECT_NE(*cache.get(), VK_NULL_HANDLE);
  EXPECT_EQ(entries(), kept);
}

TEST_F(VulkanPipelineCache, HostWithoutACacheIsSupported) {
  sdk::host = &logging_host();
  save();
  EXPECT_TRUE(entries().empty());
  EXPECT_NE(*PipelineCache(*context).get(), VK_NULL_HANDLE);
}

}  // namespace
}  // namespace ferrule::test
