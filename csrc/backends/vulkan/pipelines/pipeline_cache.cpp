#include "pipelines/pipeline_cache.h"

#include <ferrule/cpp/cache.hpp>

#include <cstring>
#include <exception>
#include <utility>

namespace ferrule::vulkan {
namespace {

constexpr const char* kind = "vulkan_pipelines";

std::string hexadecimal(const uint8_t* bytes, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i)
    for (const int shift : {4, 0}) text += "0123456789abcdef"[bytes[i] >> shift & 15];
  return text;
}

// Identifies the driver, its build, the device, and the build of the shaders.
std::string key_of(const PhysicalDevice& device) {
  const VkPhysicalDeviceProperties& properties = device.properties;
  return std::string("ferrule-vulkan ") + FERRULE_VERSION + "\nvendor " + std::to_string(properties.vendorID) +
         "\ndevice " + std::to_string(properties.deviceID) + " " + hexadecimal(device.uuid.data(), device.uuid.size()) +
         "\ndriver " + std::to_string(properties.driverVersion) + " " +
         hexadecimal(properties.pipelineCacheUUID, VK_UUID_SIZE) + "\nbits " + std::to_string(8 * sizeof(void*));
}

}  // namespace

bool is_cache_of(const VkPhysicalDeviceProperties& device, const std::vector<uint8_t>& bytes) {
  VkPipelineCacheHeaderVersionOne header;
  if (bytes.size() < sizeof header) return false;
  std::memcpy(&header, bytes.data(), sizeof header);
  return header.headerSize >= sizeof header && header.headerSize <= bytes.size() &&
         header.headerVersion == VK_PIPELINE_CACHE_HEADER_VERSION_ONE && header.vendorID == device.vendorID &&
         header.deviceID == device.deviceID &&
         std::memcmp(header.pipelineCacheUUID, device.pipelineCacheUUID, VK_UUID_SIZE) == 0;
}

PipelineCache::PipelineCache(Context& context, size_t max_bytes)
    : context_(context), max_bytes_(max_bytes), key_(key_of(context.physical())) {
  if (auto bytes = sdk::kept(kind, key_); bytes && is_cache_of(context.physical().properties, *bytes))
    saved_ = std::move(*bytes);
  cache_ = made_of(saved_);
}

PipelineCache::Pointer PipelineCache::made_of(const std::vector<uint8_t>& bytes) const {
  auto info = typed<VkPipelineCacheCreateInfo>(VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO);
  info.initialDataSize = bytes.size();
  info.pInitialData = bytes.empty() ? nullptr : bytes.data();
  const auto& vk = context_.api();
  VkPipelineCache cache = VK_NULL_HANDLE;
  if (vk.CreatePipelineCache(context_.device(), &info, nullptr, &cache) != VK_SUCCESS) cache = VK_NULL_HANDLE;
  const auto destroy = [&vk, device = context_.device()](const VkPipelineCache* held) {
    const std::unique_ptr<const VkPipelineCache> owned(held);
    if (*owned != VK_NULL_HANDLE) vk.DestroyPipelineCache(device, *owned, nullptr);
  };
  return {std::make_unique<VkPipelineCache>(cache).release(), destroy};
}

PipelineCache::Pointer PipelineCache::get() const {
  const std::lock_guard lock(mutex_);
  return cache_;
}

std::vector<uint8_t> PipelineCache::data() const {
  const auto& vk = context_.api();
  const Pointer cache = get();
  size_t size = 0;
  if (vk.GetPipelineCacheData(context_.device(), *cache, &size, nullptr) != VK_SUCCESS) return {};
  std::vector<uint8_t> bytes(size);
  // The cache may have grown since the size query: Vulkan then writes a prefix of it that is a valid cache.
  const VkResult result = vk.GetPipelineCacheData(context_.device(), *cache, &size, bytes.data());
  bytes.resize(result == VK_SUCCESS || result == VK_INCOMPLETE ? size : 0);
  return bytes;
}

void PipelineCache::save() noexcept try {
  if (*get() == VK_NULL_HANDLE) return;
  const std::lock_guard saving(saving_);
  std::vector<uint8_t> now = data();
  if (now.size() > max_bytes_) {
    const Pointer empty = made_of({});
    const std::lock_guard lock(mutex_);
    cache_ = empty;
    return;
  }
  if (sdk::host_cache() == nullptr || now.empty() || now == saved_) return;
  sdk::keep(kind, key_, now);
  saved_ = std::move(now);
} catch (const std::exception&) {  // out of memory: the next process compiles again
}

}  // namespace ferrule::vulkan
