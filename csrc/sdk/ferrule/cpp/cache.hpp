// Access to the persistent cache of ferrule/cache.h. See ferrule/backend.hpp.
#pragma once

#include <ferrule/backend.h>
#include <ferrule/cache.h>
#include <ferrule/cpp/error.hpp>

#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule::sdk {

// The host's cache; null if it has none.
inline const fe_cache* host_cache() {
  const fe_host* const core = host;
  if (!FE_HAS_SLOT(core, get_proc)) return nullptr;
  const auto* cache = static_cast<const fe_cache*>(core->get_proc(FE_CACHE));
  return cache != nullptr && FE_HAS_SLOT(cache, get) && FE_HAS_SLOT(cache, put) ? cache : nullptr;
}

// The latest entry of a kind ("vulkan_pipelines") and a key; none if there is none.
inline std::optional<std::vector<uint8_t>> kept(const std::string& kind, std::string_view key) {
  const fe_cache* const cache = host_cache();
  if (cache == nullptr) return std::nullopt;
  std::optional<std::vector<uint8_t>> bytes;
  const auto found = [](void* out, const void* data, size_t size) {
    const auto* first = static_cast<const uint8_t*>(data);
    try {
      static_cast<decltype(bytes)*>(out)->emplace(first, first + size);
    } catch (const std::bad_alloc&) {  // treated as missing: nothing may be thrown through the host
    }
  };
  cache->get(kind.c_str(), key.data(), key.size(), found, &bytes);
  return bytes;
}

// Stores an entry, replacing an earlier one. Returns whether it was stored.
inline bool keep(const std::string& kind, std::string_view key, std::span<const uint8_t> bytes) {
  const fe_cache* const cache = host_cache();
  return cache != nullptr && cache->put(kind.c_str(), key.data(), key.size(), bytes.data(), bytes.size()) != 0;
}

// FNV-1a of a text, or of further texts, given the hash of those before. For keys: a module that was built from other
// texts has other entries. Entries themselves are verified by the host.
inline uint64_t hash_of(std::string_view text, uint64_t of_earlier = 0xcbf29ce484222325) {
  uint64_t hash = of_earlier;
  for (const char letter : text) hash = (hash ^ static_cast<uint8_t>(letter)) * 0x100000001b3;
  return hash;
}

}  // namespace ferrule::sdk
