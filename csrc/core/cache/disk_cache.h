// The cache on disk, which later processes use as well: verified hashes, verdicts of probes, code that modules have
// compiled. One file per key, in the user's cache folder. A cache that is missing, full, read-only, broken or owned by
// another user counts as empty: get and put do not throw, and only log at debug level.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule::disk_cache {

// The folder: FERRULE_CACHE_DIR (must be absolute), else "ferrule" in the user's cache folder; empty without either.
std::filesystem::path folder();

// The text stored under a key. `kind` is a word of [a-z0-9_] that says what the text is.
std::optional<std::string> get(std::string_view kind, std::string_view key) noexcept;
// The prefix of the kinds of modules, so that the core never reads an entry that a module wrote.
inline constexpr std::string_view module_prefix = "module_";

// Writes or replaces an entry; returns whether it is kept. Key and text together are limited to about 64 KiB, for
// modules' kinds 64 MiB; larger ones are not kept. The oldest entries are removed when there are more than 512, for
// modules' kinds more than 16.
bool put(std::string_view kind, std::string_view key, std::string_view text) noexcept;

}  // namespace ferrule::disk_cache
