#include "core/loader/run_paths.h"

#include <fmt/format.h>

#include <optional>

namespace ferrule {
namespace {

// What follows "$ORIGIN" or "${ORIGIN}", the folder of the module; nothing when the text begins otherwise.
std::optional<std::string_view> after_origin(std::string_view text) {
  for (const std::string_view token : {std::string_view("$ORIGIN"), std::string_view("${ORIGIN}")}) {
    if (!text.starts_with(token)) continue;
    text.remove_prefix(token.size());
    if (text.empty() || text.front() == '/') return text;
  }
  return std::nullopt;
}

bool is_relative(std::string_view path) { return !path.starts_with('/') && !after_origin(path); }

// The entries of a list with colons. An empty entry is the current directory, an empty list is none.
std::vector<std::string_view> entries_of(std::string_view list) {
  std::vector<std::string_view> entries;
  while (!list.empty()) {
    const std::size_t end = list.find(':');
    entries.push_back(list.substr(0, end));
    if (end == std::string_view::npos) break;
    list.remove_prefix(end + 1);
    if (list.empty()) entries.push_back(list);
  }
  return entries;
}

}  // namespace

std::string complaint_about_relative_paths(const tools::Image& image) {
  for (const std::string& library : image.libraries)
    if (library.find('/') != std::string::npos && is_relative(library))
      return fmt::format(
          "it needs '{}' by a relative path, which the current directory decides; link it by a plain name and "
          "a run path with $ORIGIN",
          library);
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : entries_of(list))
      if (is_relative(entry))
        return fmt::format(
            "its run path '{}' names '{}', so that libraries would be taken from the current directory; link "
            "it with $ORIGIN or an absolute path",
            list, entry);
  return "";
}

std::vector<std::filesystem::path> folders_of_run_paths(const tools::Image& image,
                                                        const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : entries_of(list)) {
      if (const auto rest = after_origin(entry))
        folders.emplace_back(folder.string() + std::string(*rest));
      else if (!is_relative(entry))
        folders.emplace_back(entry);
    }
  return folders;
}

}  // namespace ferrule
