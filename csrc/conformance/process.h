// Measurements of this process by the operating system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ferrule::conformance {

// Bytes of memory in use, without pages of mapped files, such as a driver's libraries. 0 if unknown.
uint64_t private_bytes();
size_t thread_count();  // 0 if unknown
// Bytes that malloc has allocated in the main arena; empty if the C library does not report them.
std::optional<uint64_t> allocated_bytes();
std::string real_path(const std::string& path);

}  // namespace ferrule::conformance
