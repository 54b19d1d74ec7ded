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

}  // namespace

std::string flattened(std::string_view text) {
  std::string out;
  std::vector<std::string_view> seen;
  append(out, text, seen);
  return out;
}

std::string_view file_of_function(std::string_view function) {
  const std::string wanted = " " + std::string(function) + "(";
  for (const EmbeddedText& row : embedded_texts()) {
    if (!row.name.starts_with("elementwise/")) continue;
    for (size_t at = row.text.find(wanted); at != std::string_view::npos; at = row.text.find(wanted, at + 1)) {
      // A definition begins its line; calls are within functions.
      const size_t line = row.text.rfind('\n', at) + 1;
      if (row.text[line] != ' ') return row.name;
    }
  }
  return {};
}

}  // namespace ferrule::metal
