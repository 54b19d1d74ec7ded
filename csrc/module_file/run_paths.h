// The run paths of module files: the folders in which a module's libraries are searched.
#pragma once

#include "module_file/image.h"
#include "module_file/path_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule::module_file {

// The text after "$ORIGIN" or "${ORIGIN}", which stand for the file's folder; nullopt when the text begins otherwise.
inline std::optional<std::string_view> after_origin(std::string_view text) {
  for (const std::string_view token : {std::string_view("$ORIGIN"), std::string_view("${ORIGIN}")}) {
    if (!text.starts_with(token)) continue;
    text.remove_prefix(token.size());
    if (text.empty() || text.front() == '/') return text;
  }
  return std::nullopt;
}

// The entries of a list separated by colons. An empty entry means the current directory; an empty list has no entries.
inline std::vector<std::string_view> entries_of_run_path(std::string_view list) {
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

// The folders that run paths give relative to $ORIGIN, for a file in `folder`.
inline std::vector<std::filesystem::path> origin_folders(const std::vector<std::string>& run_paths,
                                                         const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& list : run_paths)
    for (const std::string_view entry : entries_of_run_path(list))
      if (const auto rest = after_origin(entry))
        folders.push_back(path_from_text(path_to_text(folder) + std::string(*rest)));
  return folders;
}

// Whether a path is relative to the current directory.
inline bool is_relative_path(std::string_view path) { return !path.starts_with('/') && !after_origin(path); }

// The folders of a module's run paths; the module itself lies in `folder`.
inline std::vector<std::filesystem::path> folders_of_run_paths(const Image& image,
                                                               const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : entries_of_run_path(list)) {
      if (const auto rest = after_origin(entry))
        folders.push_back(path_from_text(path_to_text(folder) + std::string(*rest)));
      else if (!is_relative_path(entry))
        folders.push_back(path_from_text(entry));
    }
  return folders;
}

// A sentence when the module would load libraries relative to the current directory; "" otherwise.
inline std::string complaint_about_relative_paths(const Image& image) {
  for (const std::string& library : image.libraries)
    if (library.find('/') != std::string::npos && is_relative_path(library))
      return fmt::format(
          "it needs '{}' by a relative path, which the current directory decides; link it by a plain name and "
          "a run path with $ORIGIN",
          library);
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : entries_of_run_path(list))
      if (is_relative_path(entry))
        return fmt::format(
            "its run path '{}' names '{}', so that libraries would be taken from the current directory; link "
            "it with $ORIGIN or an absolute path",
            list, entry);
  return "";
}

}  // namespace ferrule::module_file
