// Writing, reading and comparing the bytes of buffers.
#pragma once

#include "conformance/module.h"

#include <span>
#include <string>
#include <vector>

namespace ferrule::conformance {

using Bytes = std::vector<char>;

Bytes random_bytes(uint64_t size, uint64_t seed);

// Each copies and waits until the copy is done.
void write_bytes(const Device& device, fe_module_queue* queue, const Buffer& to, std::span<const char> bytes,
                 uint64_t offset = 0);
Bytes read_bytes(const Device& device, fe_module_queue* queue, const Buffer& from, uint64_t size, uint64_t offset = 0);

// Returns whether the bytes are equal; if not, reports a problem that names the first byte that differs.
bool expect_bytes(Report& report, std::span<const char> got, std::span<const char> wanted, const std::string& what);

}  // namespace ferrule::conformance
