// What the operating system says about this process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace ferrule::conformance {

uint64_t resident_bytes();  // 0 when unknown
size_t thread_count();      // 0 when unknown
// Bytes that malloc has handed out in the main arena; nothing where the C library does not say.
std::optional<uint64_t> allocated_bytes();
std::string real_path(const std::string& path);

}  // namespace ferrule::conformance
