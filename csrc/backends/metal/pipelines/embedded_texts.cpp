#include "pipelines/embedded_texts.h"

#include <ferrule/backend.hpp>

#include <algorithm>
#include <vector>

namespace ferrule::metal {
namespace {

constexpr std::string_view include = "#include \"";

// Appends the text, whose included files are those of `seen` from then on.
void append(std::string& out, std::string_view text, std::vector<std::string_view>& seen) {
  while (!text.empty()) {
    const size_t length = std::min(text.find('\n'), text.size() - 1) + 1;
    const std::string_view line = text.substr(0, length);
    text.remove_prefix(length);
    if (line.starts_with("#pragma once")) continue;  // each file is taken once
    if (!line.starts_with(include)) {
      out += line;
      continue;
    }
    const std::string_view name = line.substr(include.size(), line.find('"', include.size()) - include.size());
    const auto texts = embedded_texts();
    const auto found = std::find_if(texts.begin(), texts.end(), [&](const auto& row) { return row.name == name; });
    if (found == texts.end()) throw sdk::Error(FE_INTERNAL, "metal: there is no kernel file " + std::string(name));
    if (std::find(seen.begin(), seen.end(), found->name) != seen.end()) continue;
    seen.push_back(found->name);
    append(out, found->text, seen);
  }
}

bool is_part_of_name(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; }

}  // namespace

std::string flattened(std::string_view text) {
  std::string out;
  std::vector<std::string_view> seen;
  append(out, text, seen);
  return out;
}

std::string_view file_of_function(std::string_view function) {
  for (const EmbeddedText& row : embedded_texts()) {
    if (!row.name.starts_with("elementwise/")) continue;
    for (size_t at = row.text.find(function); at != std::string_view::npos; at = row.text.find(function, at + 1)) {
      const size_t after = at + function.size();
      // A definition: the name in full, behind a type and before its parameters.
      if (at > 0 && row.text[at - 1] == ' ' && after < row.text.size() && row.text[after] == '(' &&
          !is_part_of_name(row.text[after]))
        return row.name;
    }
  }
  return {};
}

}  // namespace ferrule::metal
