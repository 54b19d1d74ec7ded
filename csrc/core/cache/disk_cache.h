// What was found out at some cost and holds for the next process, too: verified hashes, verdicts of probes, what a
// module has compiled. One file a key, in the user's cache folder. A cache that is missing, full, read-only, broken or
// not this user's own is as good as empty: nothing here throws, and only the debug log tells.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace ferrule::disk_cache {

// FERRULE_CACHE_DIR (must be absolute), else "ferrule" in the user's folder for caches; empty when there is none.
std::filesystem::path folder();

// The text that was put under a key. `kind` is a word of [a-z0-9_] that says what the text is.
std::optional<std::string> get(std::string_view kind, std::string_view key) noexcept;
// Kinds of modules begin so: what a module puts is nobody else's to believe.
inline constexpr std::string_view module_prefix = "module_";

// Replaces it; true when it is kept. Key and text together may have about 64 KiB, of a module's kind 64 MiB; more is
// not kept. The oldest entries give way when there are more than 512, and of modules' kinds more than 16.
bool put(std::string_view kind, std::string_view key, std::string_view text) noexcept;

}  // namespace ferrule::disk_cache
