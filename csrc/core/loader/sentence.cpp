#include "core/loader/sentence.h"

#include <algorithm>
#include <cstddef>

namespace ferrule {
namespace {

constexpr std::size_t longest = 500;  // bytes

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }
// Of a character that takes several bytes in UTF-8.
bool is_later_byte(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }

}  // namespace

std::string as_sentence(std::string text) {
  if (text.size() > longest) {
    std::size_t end = longest;
    while (end > 0 && is_later_byte(text[end])) --end;
    text.resize(end);
    text += "...";
  }
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text;
}

}  // namespace ferrule
