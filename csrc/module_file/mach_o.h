// Checks that Mach-O files are for this machine, and that all their segments lie inside the file. Symbols are not read.
#pragma once

#include "module_file/file_bytes.h"
#include "module_file/image.h"
#include "module_file/machine.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <utility>

namespace ferrule::module_file {

constexpr uint32_t mach_o_magic = 0xfeedfacf;     // 64 bit, little-endian
constexpr uint32_t universal_magic = 0xbebafeca;  // a file with several Mach-O files, as a little-endian number

inline std::string past_the_end(const FileBytes& file, uint64_t offset, uint64_t count) {
  if (file.contains(offset, count)) return "";
  return fmt::format("the file is truncated: a segment ends at byte {}, the file at byte {}", offset + count,
                     file.size());
}

// Both functions set is_foreign when the file is for another machine, which only Systems::ours minds.
inline std::string check_mach_o(FileBytes& file, uint64_t start, Systems systems, bool& is_foreign) {
  const auto machine = file.read<uint32_t>(start + 4);
  const auto type = file.read<uint32_t>(start + 12), count = file.read<uint32_t>(start + 16);
  if (!machine || !type || !count) return "the file is truncated: its header is not whole";
  if (systems == Systems::ours) {
    std::string complaint = complaint_about_machine(&Machine::mach_o, *machine);
    is_foreign = !complaint.empty();
    if (is_foreign) return complaint;
  }
  if (*type != 6 && *type != 8) return "it is a Mach-O file, but no dynamic library or bundle";
  uint64_t command = start + 32;
  for (uint32_t i = 0; i < *count; ++i) {
    const auto kind = file.read<uint32_t>(command), size = file.read<uint32_t>(command + 4);
    if (!kind || !size || *size < 8 || !file.contains(command, *size))
      return "the file is truncated, or its load commands are wrong";
    if (*kind == 0x19) {  // LC_SEGMENT_64
      const auto offset = file.read<uint64_t>(command + 40), bytes = file.read<uint64_t>(command + 48);
      if (!offset || !bytes) return "the file is truncated: a load command is not whole";
      if (std::string problem = past_the_end(file, start + *offset, *bytes); !problem.empty()) return problem;
    }
    command += *size;
  }
  return "";
}

// One part for this machine is enough.
inline std::string check_universal(FileBytes& file, Systems systems, bool& is_foreign) {
  const auto big = [&](uint64_t offset) {
    uint8_t b[4] = {};
    file.read(offset, b, sizeof b);
    return uint32_t{b[0]} << 24 | uint32_t{b[1]} << 16 | uint32_t{b[2]} << 8 | b[3];
  };
  const uint32_t count = big(4);
  if (count > 64) return fmt::format("it is a Mach-O file for {} architectures, which is too many", count);
  if (count == 0 || !file.contains(8, uint64_t{count} * 20))
    return "the file is truncated: its table of architectures is not whole";
  std::string other_machine;
  bool is_for_us = false;
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t row = 8 + uint64_t{i} * 20, start = big(row + 8);
    if (std::string problem = past_the_end(file, start, big(row + 12)); !problem.empty()) return problem;
    if (file.read<uint32_t>(start) != mach_o_magic) continue;  // a 32 bit part
    bool is_other = false;
    std::string problem = check_mach_o(file, start, systems, is_other);
    if (is_other)
      other_machine = std::move(problem);
    else if (!problem.empty())
      return problem;
    else
      is_for_us = true;
  }
  if (is_for_us) return "";
  is_foreign = true;
  return other_machine.empty() ? "it is a module for another machine: it has no 64 bit part" : other_machine;
}

}  // namespace ferrule::module_file
