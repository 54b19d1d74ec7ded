#include "core/cache/module_cache.h"

#include "core/cache/disk_cache.h"
#include "core/log.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule {
namespace {

constexpr std::size_t longest_kind = 32;

bool is_kind(std::string_view kind) {
  const auto is_allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  return !kind.empty() && kind.size() <= longest_kind && std::all_of(kind.begin(), kind.end(), is_allowed);
}

// The cache's kind for a module's kind; nullopt when the arguments are invalid.
std::optional<std::string> check_key(const char* what, const char* kind, const void* key, std::size_t key_size) {
  const std::string_view word = kind != nullptr ? kind : "";
  if (is_kind(word) && (key != nullptr || key_size == 0)) return fmt::format("{}{}", disk_cache::module_prefix, word);
  log_debug("cache: {} of '{}' is refused: a kind is at most {} characters of [a-z0-9_], and a key must not be null",
            what, word.substr(0, 2 * longest_kind), longest_kind);
  return std::nullopt;
}

std::string_view bytes_of(const void* bytes, std::size_t size) { return {static_cast<const char*>(bytes), size}; }

int get(const char* kind, const void* key, std::size_t key_size,
        void (*found)(void* argument, const void* bytes, std::size_t size), void* argument) try {
  const auto word = check_key("get", kind, key, key_size);
  if (!word || found == nullptr) return 0;
  const auto text = disk_cache::get(*word, bytes_of(key, key_size));
  if (text) found(argument, text->data(), text->size());
  return text ? 1 : 0;
} catch (const std::exception&) {  // no memory
  return 0;
}

int put(const char* kind, const void* key, std::size_t key_size, const void* bytes, std::size_t size) try {
  const auto word = check_key("put", kind, key, key_size);
  if (!word || (bytes == nullptr && size > 0)) return 0;
  return disk_cache::put(*word, bytes_of(key, key_size), bytes_of(bytes, size)) ? 1 : 0;
} catch (const std::exception&) {
  return 0;
}

constexpr fe_cache cache = {.struct_size = sizeof(fe_cache), .get = get, .put = put};

}  // namespace

const fe_cache* module_cache() noexcept { return &cache; }

}  // namespace ferrule
