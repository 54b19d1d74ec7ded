// Reads the version of the binary interface from the fe_abi of a module or core. It may have another minor or come from
// an untrusted file, so every field is checked.
#pragma once

#include <ferrule/abi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace ferrule::module_file {

struct AbiVersion {
  uint32_t major = 0, minor = 0;
  std::vector<uint64_t> layout_hashes;  // oldest first; the last is that of `minor`

  uint64_t layout_hash() const { return layout_hashes.empty() ? 0 : layout_hashes.back(); }
  // nullopt for a minor that is newer than this version, or so old that its hash is no longer listed.
  std::optional<uint64_t> layout_hash_of(uint32_t wanted) const {
    if (wanted > minor || minor - wanted >= layout_hashes.size()) return std::nullopt;
    return layout_hashes[layout_hashes.size() - 1 - (minor - wanted)];
  }
  friend bool operator==(const AbiVersion&, const AbiVersion&) = default;
};

// The part of fe_abi that every minor has.
inline constexpr std::size_t abi_prefix = offsetof(fe_abi, layout_hashes);
// The most bytes that are read of an fe_abi.
inline constexpr std::size_t largest_abi = abi_prefix + FE_ABI_MOST_HASHES * sizeof(uint64_t);

// Parses the first bytes of a ferrule_backend_abi of `size` bytes; bytes beyond `largest_abi` are not needed. Returns
// "" when it is valid, else the reason, which completes a sentence about the module.
inline std::string parse_abi(std::span<const std::byte> data, uint64_t size, AbiVersion& version) {
  constexpr const char* symbol = FE_ABI_SYMBOL;
  if (data.size() < abi_prefix)
    return fmt::format("its {} ends after {} bytes, and has at least {}", symbol, data.size(), abi_prefix);
  struct {
    uint64_t magic;
    uint32_t struct_size, major, minor, hash_count;
  } prefix{};
  static_assert(sizeof prefix == abi_prefix);
  std::memcpy(&prefix, data.data(), abi_prefix);
  if (prefix.magic != FE_ABI_MAGIC) return fmt::format("its {} does not begin with the magic number", symbol);
  if (prefix.hash_count == 0 || prefix.hash_count > FE_ABI_MOST_HASHES)
    return fmt::format("its {} lists {} layout hashes, and must list 1 to {}", symbol, prefix.hash_count,
                       FE_ABI_MOST_HASHES);
  if (prefix.hash_count - 1 > prefix.minor)
    return fmt::format("its {} lists {} layout hashes, and has only the minors 0 to {}", symbol, prefix.hash_count,
                       prefix.minor);
  const std::size_t needed = abi_prefix + prefix.hash_count * sizeof(uint64_t);
  if (prefix.struct_size < needed)
    return fmt::format("its {} has a struct_size of {}, and with {} layout hashes it takes {} bytes", symbol,
                       prefix.struct_size, prefix.hash_count, needed);
  if (prefix.struct_size > size || data.size() < needed)
    return fmt::format("its {} has a struct_size of {}, and the file holds {} bytes of it", symbol, prefix.struct_size,
                       size);
  version.major = prefix.major;
  version.minor = prefix.minor;
  version.layout_hashes.resize(prefix.hash_count);
  std::memcpy(version.layout_hashes.data(), data.data() + abi_prefix, prefix.hash_count * sizeof(uint64_t));
  return "";
}

// Parses one in this process, whose real size is unknown: reads as many bytes as its struct_size says, within bounds.
inline std::string parse_abi(const fe_abi* abi, AbiVersion& version) {
  if (reinterpret_cast<std::uintptr_t>(abi) % alignof(fe_abi) != 0)
    return fmt::format("its {} lies at an address that is not a multiple of {}", FE_ABI_SYMBOL, alignof(fe_abi));
  const auto* const bytes = reinterpret_cast<const std::byte*>(abi);
  uint32_t struct_size = 0;
  std::memcpy(&struct_size, bytes + offsetof(fe_abi, struct_size), sizeof struct_size);
  return parse_abi(std::span(bytes, std::clamp<std::size_t>(struct_size, abi_prefix, largest_abi)), struct_size,
                   version);
}

// The version of the headers that this code was compiled with.
inline AbiVersion own_abi() {
  constexpr fe_abi own = FE_ABI_INITIALIZER;
  return {own.major, own.minor, {std::begin(own.layout_hashes), std::end(own.layout_hashes)}};
}

}  // namespace ferrule::module_file
