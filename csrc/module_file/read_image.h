// Reads a module's file of any format.
#pragma once

#include "module_file/elf.h"
#include "module_file/file_bytes.h"
#include "module_file/image.h"
#include "module_file/mach_o.h"
#include "module_file/pe.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>

namespace ferrule::module_file {

#if defined(_WIN32)
constexpr const char* native_format = "PE";
#elif defined(__APPLE__)
constexpr const char* native_format = "Mach-O";
#else
constexpr const char* native_format = "ELF";
#endif

// Describes the first bytes for a message: "it is a text file that begins with 'hello'".
inline std::string describe_beginning(FileBytes& file) {
  if (file.size() == 0) return "the file is empty";
  std::string bytes(std::min<uint64_t>(file.size(), 12), '\0');
  file.read(0, bytes.data(), bytes.size());
  std::string shown;
  for (const char c : bytes) {
    if (c == '\n' || c == '\r') break;
    if (c < ' ' || c > '~') return "it is not a shared library";
    shown += c;
  }
  return fmt::format("it is a text file that begins with '{}'", shown);
}

inline Image read_image(FileBytes& file, Systems systems = Systems::ours) {
  Image image;
  if (!file.is_open()) {
    image.problem = file.problem();
    return image;
  }
  const auto is_read = [&] { return systems == Systems::all || image.format == native_format; };
  const uint32_t magic = file.read<uint32_t>(0).value_or(0);
  if (magic == 0x464c457f) {  // "\x7fELF"
    image.format = "ELF";
    if (is_read()) return ElfReader(file, systems).read();
  } else if (magic == mach_o_magic || magic == universal_magic) {
    image.format = "Mach-O";
    if (is_read())
      image.problem = magic == universal_magic ? check_universal(file, systems, image.is_foreign)
                                               : check_mach_o(file, 0, systems, image.is_foreign);
  } else if ((magic & 0xffff) == pe_magic) {
    image.format = "PE";
    if (is_read()) return PeReader(file, systems).read();
  } else {
    image.problem = "not a module: " + describe_beginning(file);
    return image;
  }
  if (!is_read()) {
    image.is_foreign = true;
    image.problem = fmt::format("it is a module for another system ({}, this one has {})", image.format, native_format);
  }
  return image;
}

// Reads a library that a module needs, of the module's format: the libraries that it needs itself and its run paths.
inline Image read_library(FileBytes& file, Systems systems = Systems::ours) {
  const bool is_pe = file.read<uint16_t>(0).value_or(0) == pe_magic;
  return is_pe ? PeReader(file, systems).read_library() : ElfReader(file, systems).read_library();
}

inline Image read_image(const std::filesystem::path& path) {
  FileBytes file(path);
  return read_image(file);
}

}  // namespace ferrule::module_file
