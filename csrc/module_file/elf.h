// Reads a module's fe_abi from an ELF file without running it; each offset is checked. Like the system's loader, uses
// the program headers and the dynamic segment; sections may be missing.
#pragma once

#include "module_file/file_bytes.h"
#include "module_file/image.h"
#include "module_file/machine.h"

#include <ferrule/abi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::module_file {

class ElfReader {
 public:
  explicit ElfReader(FileBytes& file, Systems systems = Systems::ours) : file_(file), systems_(systems) {}

  // Reads a module. If it is invalid, the image's problem says why.
  Image read() {
    Image image = read_library();
    if (!image.problem.empty()) return image;
    image.has_init = find(FE_INIT_SYMBOL).has_value();
    image.has_score = find(FE_SCORE_SYMBOL).has_value();
    const std::optional<Symbol> symbol = find(FE_ABI_SYMBOL);
    if (!symbol || !image.has_init) {
      image.problem =
          fmt::format("it is not a ferrule module: it does not export {}", symbol ? FE_INIT_SYMBOL : FE_ABI_SYMBOL);
      return image;
    }
    AbiVersion version;
    image.problem = read_abi(*symbol, version);
    if (image.problem.empty()) image.abi = std::move(version);
    return image;
  }

  // Reads any shared object: the libraries that it needs and its run paths.
  Image read_library() {
    Image image;
    image.format = "ELF";
    image.problem = read_header(image.is_foreign);
    if (image.problem.empty()) image.problem = read_segments();
    if (image.problem.empty()) image.problem = read_dynamic();
    if (image.problem.empty()) image.problem = read_names(image);
    return image;
  }

 private:
  static_assert(std::endian::native == std::endian::little, "the machines that ferrule knows are little-endian");

  struct Header {
    std::array<uint8_t, 16> identity;
    uint16_t type, machine;
    uint32_t version;
    uint64_t entry, program_headers, section_headers;
    uint32_t flags;
    uint16_t size, program_header_size, program_header_count, section_header_size, section_header_count, names;
  };
  struct Segment {
    uint32_t type, flags;
    uint64_t offset, address, physical, file_size, memory_size, alignment;
  };
  struct Dynamic {
    int64_t tag;
    uint64_t value;
  };
  struct Symbol {
    uint32_t name;
    uint8_t info, other;
    uint16_t section;
    uint64_t value, size;
  };
  static_assert(sizeof(Header) == 64 && sizeof(Segment) == 56 && sizeof(Dynamic) == 16 && sizeof(Symbol) == 24);

  // Limits the reading time: a sparse file can be huge, so even absurd counts may lie inside it.
  static constexpr uint32_t longest_chain = 4096;  // of symbols with one hash
  static constexpr uint64_t max_entries = 4096;    // of the dynamic segment
  static constexpr std::size_t max_names = 1000, longest_name = 16 * 1024;
  static constexpr uint32_t load = 1, dynamic = 2;              // segment types
  static constexpr int64_t hash = 4, strings = 5, symbols = 6;  // dynamic tags
  static constexpr int64_t strings_size = 10, gnu_hash = 0x6ffffef5;
  static constexpr int64_t needed = 1, old_run_path = 15, run_path = 29;
  static constexpr int64_t auxiliary = 0x7ffffffd, filter = 0x7fffffff;  // also opened by the system's loader

  std::string truncated(const char* what, uint64_t end) const {
    return fmt::format("the file is truncated: {} ends at byte {}, the file at byte {}", what, end, file_.size());
  }

  std::string read_abi(const Symbol& symbol, AbiVersion& version) {
    if (symbol.value % alignof(fe_abi) != 0)
      return fmt::format("its {} lies at address {:#x}, which is not a multiple of {}", FE_ABI_SYMBOL, symbol.value,
                         alignof(fe_abi));
    std::vector<std::byte> data(std::min<uint64_t>(symbol.size, largest_abi));
    const std::optional<uint64_t> offset = offset_of(symbol.value, data.size());
    if (!offset || !file_.read(*offset, data.data(), data.size()))
      return fmt::format("its {} is not constant data in the file", FE_ABI_SYMBOL);
    return parse_abi(data, symbol.size, version);
  }

  std::string read_header(bool& is_foreign) {
    const auto header = file_.read<Header>(0);
    if (!header) return truncated("its header", sizeof(Header));
    header_ = *header;
    const bool is_other_class = header_.identity[4] != 2 || header_.identity[5] != 1;
    if (is_other_class) {
      is_foreign = true;
      return "it is a module for another machine: not 64 bit, little-endian";
    }
    if (systems_ == Systems::ours) {
      std::string complaint = complaint_about_machine(&Machine::elf, header_.machine);
      is_foreign = !complaint.empty();
      if (is_foreign) return complaint;
    }
    if (header_.type != 3) return "it is an ELF file, but no shared object";
    if (header_.program_header_size != sizeof(Segment)) return "its program headers have an unknown size";
    const uint64_t sections = uint64_t{header_.section_header_size} * header_.section_header_count;
    if (header_.section_headers != 0 && !file_.contains(header_.section_headers, sections))
      return truncated("its table of sections", header_.section_headers + sections);
    return "";
  }

  std::string read_segments() {
    segments_.resize(header_.program_header_count);
    const uint64_t size = segments_.size() * sizeof(Segment);
    if (!file_.read(header_.program_headers, segments_.data(), size))
      return truncated("its table of segments", header_.program_headers + size);
    for (const Segment& segment : segments_)
      if (!file_.contains(segment.offset, segment.file_size))
        return truncated("a segment", segment.offset + segment.file_size);
    return "";
  }

  std::string read_dynamic() {
    for (const Segment& segment : segments_) {
      if (segment.type != dynamic) continue;
      std::vector<Dynamic> entries(std::min(segment.file_size / sizeof(Dynamic), max_entries));
      if (!file_.read(segment.offset, entries.data(), entries.size() * sizeof(Dynamic))) break;
      for (const Dynamic& entry : entries) {
        if (entry.tag == 0) break;
        if (entry.tag == hash) hash_ = entry.value;
        if (entry.tag == gnu_hash) gnu_hash_ = entry.value;
        if (entry.tag == strings) strings_ = entry.value;
        if (entry.tag == strings_size) strings_size_ = entry.value;
        if (entry.tag == symbols) symbols_ = entry.value;
        if (is_library(entry.tag) || entry.tag == old_run_path || entry.tag == run_path) names_.push_back(entry);
      }
      if (strings_ != 0 && symbols_ != 0 && (hash_ != 0 || gnu_hash_ != 0)) return "";
      return "its dynamic segment names no symbols";
    }
    return "it is an ELF file without a dynamic segment";
  }

  static bool is_library(int64_t tag) { return tag == needed || tag == auxiliary || tag == filter; }

  // Reads the names of libraries and the run paths. Runs after the whole dynamic segment was read, because the string
  // table may come last in it.
  std::string read_names(Image& image) {
    if (names_.size() > max_names) return fmt::format("it needs more than {} libraries", max_names);
    for (const Dynamic& entry : names_) {
      const auto name = string_at(entry.value);
      if (!name) return "the name of a needed library is outside its string table";
      (is_library(entry.tag) ? image.libraries : image.run_paths).push_back(*name);
    }
    return "";
  }

  std::optional<std::string> string_at(uint64_t place) {
    if (place >= strings_size_) return std::nullopt;
    std::string text(std::min<uint64_t>(strings_size_ - place, longest_name), '\0');
    const auto offset = offset_of(strings_ + place, text.size());
    if (!offset || !file_.read(*offset, text.data(), text.size())) return std::nullopt;
    const std::size_t end = text.find('\0');
    if (end == std::string::npos) return std::nullopt;
    text.resize(end);
    return text;
  }

  // The file offset of an address range.
  std::optional<uint64_t> offset_of(uint64_t address, uint64_t count) const {
    for (const Segment& segment : segments_) {
      if (segment.type != load || address < segment.address) continue;
      const uint64_t place = address - segment.address;
      if (place <= segment.file_size && count <= segment.file_size - place) return segment.offset + place;
    }
    return std::nullopt;
  }

  template <class T>
  std::optional<T> at(uint64_t address) {
    const std::optional<uint64_t> offset = offset_of(address, sizeof(T));
    return offset ? file_.read<T>(*offset) : std::nullopt;
  }

  // The defined symbol of index i, if it has this name.
  std::optional<Symbol> symbol_if(uint32_t index, const std::string& name) {
    const auto symbol = at<Symbol>(symbols_ + uint64_t{index} * sizeof(Symbol));
    if (!symbol || symbol->section == 0 || uint64_t{symbol->name} + name.size() + 1 > strings_size_)
      return std::nullopt;
    const std::optional<uint64_t> offset = offset_of(strings_ + symbol->name, name.size() + 1);
    return offset && file_.holds_string(*offset, name) ? symbol : std::nullopt;
  }

  std::optional<Symbol> find(const std::string& name) { return gnu_hash_ != 0 ? find_gnu(name) : find_sysv(name); }

  std::optional<Symbol> find_gnu(const std::string& name) {
    uint32_t wanted = 5381;
    for (const char c : name) wanted = wanted * 33 + static_cast<uint8_t>(c);
    const auto bucket_count = at<uint32_t>(gnu_hash_), first = at<uint32_t>(gnu_hash_ + 4);
    const auto filter_size = at<uint32_t>(gnu_hash_ + 8);
    if (!bucket_count || !first || !filter_size || *bucket_count == 0) return std::nullopt;
    const uint64_t buckets = gnu_hash_ + 16 + uint64_t{*filter_size} * 8;
    const uint64_t chain = buckets + uint64_t{*bucket_count} * 4;
    const auto start = at<uint32_t>(buckets + uint64_t{wanted % *bucket_count} * 4);
    if (!start || *start < *first) return std::nullopt;
    for (uint32_t index = *start; index - *start < longest_chain; ++index) {
      const auto value = at<uint32_t>(chain + uint64_t{index - *first} * 4);
      if (!value) return std::nullopt;
      if ((*value | 1) == (wanted | 1))
        if (const auto symbol = symbol_if(index, name)) return symbol;
      if ((*value & 1) != 0) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Symbol> find_sysv(const std::string& name) {
    uint32_t wanted = 0;
    for (const char c : name) {
      wanted = (wanted << 4) + static_cast<uint8_t>(c);
      wanted = (wanted ^ ((wanted & 0xf0000000u) >> 24)) & 0x0fffffffu;
    }
    const auto bucket_count = at<uint32_t>(hash_), chain_count = at<uint32_t>(hash_ + 4);
    if (!bucket_count || !chain_count || *bucket_count == 0) return std::nullopt;
    const uint64_t buckets = hash_ + 8, chain = buckets + uint64_t{*bucket_count} * 4;
    auto index = at<uint32_t>(buckets + uint64_t{wanted % *bucket_count} * 4);
    for (uint32_t steps = 0; index && *index != 0 && steps < std::min(*chain_count, longest_chain); ++steps) {
      if (const auto symbol = symbol_if(*index, name)) return symbol;
      index = at<uint32_t>(chain + uint64_t{*index} * 4);
    }
    return std::nullopt;
  }

  FileBytes& file_;
  const Systems systems_;
  Header header_{};
  std::vector<Segment> segments_;
  std::vector<Dynamic> names_;
  uint64_t hash_ = 0, gnu_hash_ = 0, strings_ = 0, strings_size_ = 0, symbols_ = 0;
};

}  // namespace ferrule::module_file
