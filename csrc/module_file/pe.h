// Reads a module's fe_abi from a PE file, as Windows has, without running it; each offset is checked. Like the system's
// loader, uses the tables of sections, exports and imports.
#pragma once

#include "module_file/file_bytes.h"
#include "module_file/image.h"
#include "module_file/machine.h"

#include <ferrule/abi.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::module_file {

constexpr uint16_t pe_magic = 0x5a4d;  // "MZ"

class PeReader {
 public:
  explicit PeReader(FileBytes& file, Systems systems = Systems::ours) : file_(file), systems_(systems) {}

  // Reads a module. If it is invalid, the image's problem says why.
  Image read() {
    Image image = read_library();
    if (!image.problem.empty()) return image;
    image.has_init = find(FE_INIT_SYMBOL).has_value();
    image.has_score = find(FE_SCORE_SYMBOL).has_value();
    const std::optional<uint32_t> address = find(FE_ABI_SYMBOL);
    if (!address || !image.has_init) {
      image.problem =
          fmt::format("it is not a ferrule module: it does not export {}", address ? FE_INIT_SYMBOL : FE_ABI_SYMBOL);
      return image;
    }
    AbiVersion version;
    image.problem = read_abi(*address, version);
    if (image.problem.empty()) image.abi = std::move(version);
    return image;
  }

  // Reads any library: the libraries that it needs.
  Image read_library() {
    Image image;
    image.format = "PE";
    image.problem = read_header(image.is_foreign);
    if (image.problem.empty()) image.problem = read_sections();
    if (image.problem.empty()) image.problem = read_imports(image, imports, 20, 12);
    if (image.problem.empty()) image.problem = read_imports(image, late_imports, 32, 4);
    return image;
  }

 private:
  struct Section {
    uint64_t address, offset, size;  // in memory, in the file, in the file
  };
  struct Table {
    uint32_t address = 0, size = 0;
  };

  // Limits the reading time: a sparse file can be huge, so even absurd counts may lie inside it.
  static constexpr std::size_t max_names = 1000, longest_name = 512;
  static constexpr uint16_t is_library = 0x2000, with_64_bits = 0x20b;
  static constexpr uint32_t exports = 0, imports = 1, late_imports = 13;  // numbers of tables

  std::string read_header(bool& is_foreign) {
    const auto start = file_.read<uint32_t>(0x3c);
    const auto magic = start ? file_.read<uint32_t>(*start) : std::nullopt;
    if (!magic) return "the file is truncated: its header is not whole";
    if (*magic != 0x00004550u) return "it begins like a Windows program, but has no PE header";
    const uint64_t header = uint64_t{*start} + 4;
    const auto machine = file_.read<uint16_t>(header), count = file_.read<uint16_t>(header + 2),
               optional_size = file_.read<uint16_t>(header + 16), flags = file_.read<uint16_t>(header + 18);
    if (!machine || !count || !optional_size || !flags) return "the file is truncated: its header is not whole";
    if (systems_ == Systems::ours) {
      std::string complaint = complaint_about_machine(&Machine::pe, *machine);
      is_foreign = !complaint.empty();
      if (is_foreign) return complaint;
    }
    if ((*flags & is_library) == 0) return "it is a Windows program, but no DLL";
    optional_header_ = header + 20;
    section_headers_ = optional_header_ + *optional_size;
    section_count_ = *count;
    if (file_.read<uint16_t>(optional_header_) != with_64_bits) return "it is a DLL, but not of 64 bit";
    return "";
  }

  std::string read_sections() {
    for (uint32_t i = 0; i < section_count_; ++i) {
      const uint64_t at = section_headers_ + uint64_t{i} * 40;
      const auto address = file_.read<uint32_t>(at + 12), size = file_.read<uint32_t>(at + 16),
                 offset = file_.read<uint32_t>(at + 20);
      if (!address || !size || !offset) return "the file is truncated: its table of sections is not whole";
      if (!file_.contains(*offset, *size))
        return fmt::format("the file is truncated: a section ends at byte {}, the file at byte {}",
                           uint64_t{*offset} + *size, file_.size());
      sections_.push_back({*address, *offset, *size});
    }
    return "";
  }

  // An empty one when the file has no such table.
  Table table(uint32_t number) {
    const uint32_t count = file_.read<uint32_t>(optional_header_ + 108).value_or(0);
    const uint64_t at = optional_header_ + 112 + uint64_t{number} * 8;
    if (number >= count || at + 8 > section_headers_) return {};
    return {file_.read<uint32_t>(at).value_or(0), file_.read<uint32_t>(at + 4).value_or(0)};
  }

  // Both tables of imports end with a row of zeros.
  std::string read_imports(Image& image, uint32_t number, uint32_t row_size, uint32_t place_of_name) {
    const Table imported = table(number);
    if (imported.address == 0) return "";
    for (uint64_t row = imported.address;; row += row_size) {
      const auto name = at<uint32_t>(row + place_of_name);
      if (!name) return "the file is truncated: its table of imports is not whole";
      if (*name == 0) return "";
      std::optional<std::string> library = string_at(*name);
      if (!library) return "the name of a needed library is not in the file";
      if (library->find_first_of("/\\:") != std::string::npos)
        return fmt::format("it needs '{}' by a path; link it by a plain name", *library);
      if (image.libraries.size() >= max_names) return fmt::format("it needs more than {} libraries", max_names);
      image.libraries.push_back(std::move(*library));
    }
  }

  std::string read_abi(uint32_t address, AbiVersion& version) {
    if (address % alignof(fe_abi) != 0)
      return fmt::format("its {} lies at address {:#x}, which is not a multiple of {}", FE_ABI_SYMBOL, address,
                         alignof(fe_abi));
    // Exports have no size; the data ends with its section at the latest.
    std::vector<std::byte> data(std::min<uint64_t>(bytes_from(address), largest_abi));
    const std::optional<uint64_t> offset = offset_of(address, data.size());
    if (!offset || data.empty() || !file_.read(*offset, data.data(), data.size()))
      return fmt::format("its {} is not constant data in the file", FE_ABI_SYMBOL);
    return parse_abi(data, data.size(), version);
  }

  uint64_t bytes_from(uint64_t address) const {
    for (const Section& section : sections_)
      if (address >= section.address && address - section.address < section.size)
        return section.size - (address - section.address);
    return 0;
  }

  // The file offset of an address range.
  std::optional<uint64_t> offset_of(uint64_t address, uint64_t count) const {
    for (const Section& section : sections_) {
      if (address < section.address) continue;
      const uint64_t place = address - section.address;
      if (place <= section.size && count <= section.size - place) return section.offset + place;
    }
    return std::nullopt;
  }

  template <class T>
  std::optional<T> at(uint64_t address) {
    const std::optional<uint64_t> offset = offset_of(address, sizeof(T));
    return offset ? file_.read<T>(*offset) : std::nullopt;
  }

  std::optional<std::string> string_at(uint64_t address) {
    std::string text(std::min<uint64_t>(bytes_from(address), longest_name), '\0');
    const auto offset = offset_of(address, text.size());
    if (!offset || !file_.read(*offset, text.data(), text.size())) return std::nullopt;
    const std::size_t end = text.find('\0');
    if (end == std::string::npos) return std::nullopt;
    text.resize(end);
    return text;
  }

  // The address of an exported function or variable; nullopt for one that another library has, too. The names are
  // sorted.
  std::optional<uint32_t> find(const std::string& name) {
    const Table exported = table(exports);
    if (exported.address == 0) return std::nullopt;
    const uint64_t header = exported.address;
    const auto function_count = at<uint32_t>(header + 20), name_count = at<uint32_t>(header + 24),
               functions = at<uint32_t>(header + 28), names = at<uint32_t>(header + 32),
               ordinals = at<uint32_t>(header + 36);
    if (!function_count || !name_count || !functions || !names || !ordinals) return std::nullopt;
    for (uint32_t begin = 0, end = *name_count; begin < end;) {
      const uint32_t middle = begin + (end - begin) / 2;
      const auto place = at<uint32_t>(uint64_t{*names} + uint64_t{middle} * 4);
      const auto found = place ? string_at(*place) : std::nullopt;
      if (!found) return std::nullopt;
      if (*found == name) {
        const auto ordinal = at<uint16_t>(uint64_t{*ordinals} + uint64_t{middle} * 2);
        if (!ordinal || *ordinal >= *function_count) return std::nullopt;
        const auto address = at<uint32_t>(uint64_t{*functions} + uint64_t{*ordinal} * 4);
        if (!address || (*address >= exported.address && *address - exported.address < exported.size))
          return std::nullopt;
        return address;
      }
      (*found < name ? begin : end) = *found < name ? middle + 1 : middle;
    }
    return std::nullopt;
  }

  FileBytes& file_;
  const Systems systems_;
  uint64_t optional_header_ = 0, section_headers_ = 0;
  uint32_t section_count_ = 0;
  std::vector<Section> sections_;
};

}  // namespace ferrule::module_file
