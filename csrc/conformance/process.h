// What the operating system says about this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ferrule::conformance {

// Bytes of memory in use that are not pages of files: a driver's libraries are no memory that a module takes. 0 when
// unknown.
uint64_t private_bytes();
size_t thread_count();  // 0 when unknown
// Bytes that malloc has handed out in the main arena; nothing where the C library does not say.
std::optional<uint64_t> allocated_bytes();
std::string real_path(const std::string& path);

}  // namespace ferrule::conformance
