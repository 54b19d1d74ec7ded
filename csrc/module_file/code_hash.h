// The hash of what a module computes with: its code, constants and relocations. `strip`, and `patchelf` where it
// changes a run path, leave these as they are.
#pragma once

#include "module_file/file_bytes.h"
#include "module_file/sha256.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ferrule::module_file {

// The SHA-256 over the sections of an ELF file that are loaded, with their addresses, except the tables of symbols and
// libraries. nullopt for other formats, and where the file has no such sections or cannot be read.
inline std::optional<std::string> code_hash_of(FileBytes& file) {
  struct Section {
    uint32_t name, type;
    uint64_t flags, address, offset, size;
    uint32_t link, info;
    uint64_t alignment, entry_size;
  };
  static_assert(sizeof(Section) == 64);
  constexpr uint64_t is_loaded = 2;
  constexpr uint32_t contents = 1, relocations = 4, first_functions = 14, last_functions = 15, short_relocations = 19;
  constexpr uint32_t hashed[] = {contents, relocations, first_functions, last_functions, short_relocations};
  if (file.read<uint32_t>(0) != 0x464c457f || file.read<uint8_t>(4) != 2) return std::nullopt;  // 64 bit
  const auto table = file.read<uint64_t>(40);
  const auto size = file.read<uint16_t>(58), count = file.read<uint16_t>(60);
  if (!table || size != sizeof(Section) || !count) return std::nullopt;
  std::vector<Section> sections;
  for (uint64_t i = 0; i < *count; ++i) {
    const auto section = file.read<Section>(*table + i * sizeof(Section));
    if (!section) return std::nullopt;
    if ((section->flags & is_loaded) != 0 &&
        std::find(std::begin(hashed), std::end(hashed), section->type) != std::end(hashed))
      sections.push_back(*section);
  }
  if (sections.empty()) return std::nullopt;
  std::sort(sections.begin(), sections.end(), [](const Section& a, const Section& b) { return a.address < b.address; });
  Sha256 sha;
  std::vector<uint8_t> bytes;
  for (const Section& section : sections) {
    if (!file.contains(section.offset, section.size)) return std::nullopt;
    bytes.resize(sizeof section.address + section.size);
    std::memcpy(bytes.data(), &section.address, sizeof section.address);
    if (!file.read_now(section.offset, bytes.data() + sizeof section.address, section.size)) return std::nullopt;
    sha.update(bytes);
  }
  return sha.finish();
}

}  // namespace ferrule::module_file
