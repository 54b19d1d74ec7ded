// The hash of the layout text of a minor: 64-bit FNV-1a over the text without blanks, which depend on formatting, and
// without what later minors appended.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ferrule {

// The number after the '@' at text[at].
constexpr uint32_t marked_minor(std::string_view text, std::size_t at) {
  uint32_t minor = 0;
  while (text[++at] != ';') minor = minor * 10 + static_cast<uint32_t>(text[at] - '0');
  return minor;
}

// The hash of what `minor` has. A slot belongs to the minor of the last mark before it in its list, else to minor 0.
constexpr uint64_t layout_hash(std::string_view text, uint32_t minor) {
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  bool is_there = true;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '@') {
      is_there = marked_minor(text, at) <= minor;
      while (text[at] != ';') ++at;
      continue;
    }
    if (text[at] == '}') is_there = true;
    if (is_there && text[at] != ' ') hash = (hash ^ static_cast<unsigned char>(text[at])) * UINT64_C(0x100000001b3);
  }
  return hash;
}

// The hashes of the last `count` minors, oldest first, ending with `minor`.
template <std::size_t count>
constexpr std::array<uint64_t, count> layout_hashes(std::string_view text, uint32_t minor) {
  std::array<uint64_t, count> hashes{};
  for (std::size_t i = 0; i < count; ++i) hashes[i] = layout_hash(text, minor - static_cast<uint32_t>(count - 1 - i));
  return hashes;
}

// Whether the marks of each list are in rising order, from 1 to the headers' own minor: slots are only appended.
constexpr bool are_marks_in_order(std::string_view text, uint32_t minor) {
  uint32_t last = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '}') last = 0;
    if (text[at] != '@') continue;
    const uint32_t mark = marked_minor(text, at);
    if (mark <= last || mark > minor) return false;
    last = mark;
  }
  return true;
}

}  // namespace ferrule
