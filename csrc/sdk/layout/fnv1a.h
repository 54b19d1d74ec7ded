// The hash of the layout text: FNV-1a, 64 bits, over everything but blanks, which are a matter of formatting.
#pragma once

#include <cstdint>
#include <string_view>

namespace ferrule {

constexpr uint64_t fnv1a(std::string_view text) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (char byte : text)
    if (byte != ' ') hash = (hash ^ static_cast<unsigned char>(byte)) * UINT64_C(0x100000001b3);
  return hash;
}

}  // namespace ferrule
