// Edit distance of words, for messages that suggest a similar name.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule {

// The smallest number of insertions, deletions and replacements that turn one word into the other.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

// The most similar name if it is similar enough, else "".
inline std::string most_similar(std::string_view wanted, const std::vector<std::string>& names) {
  const auto distance = [&](const std::string& name) { return edit_distance(wanted, name); };
  const auto found = std::min_element(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return distance(a) < distance(b);
  });
  const std::size_t most = std::max<std::size_t>(1, wanted.size() / 2);
  return found != names.end() && distance(*found) <= most ? *found : "";
}

}  // namespace ferrule
