// Finds the libraries that come with a module: those that opening it also opens, and that are in its folder or in a
// folder that a run path gives relative to $ORIGIN. Libraries in absolute run paths or found by the system's loader
// itself are not included.
#pragma once

#include "module_file/file_bytes.h"
#include "module_file/image.h"
#include "module_file/path_text.h"
#include "module_file/read_image.h"
#include "module_file/run_paths.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ferrule::module_file {

struct OwnLibrary {
  std::string name;            // its path relative to the module's folder: "libfoo.so.1", "../lib/libfoo.so.1"
  std::filesystem::path path;  // may be a link
  std::string problem;         // why its needed libraries could not be read, or ""
};

class OwnLibraries {
 public:
  // The libraries of a module whose real path is in `folder`. Empty for formats that are not read.
  static std::vector<OwnLibrary> of(const Image& module, const std::filesystem::path& folder,
                                    Systems systems = Systems::ours) {
    OwnLibraries all(module, folder);
    for (std::size_t i = 0; i < all.found_.size() && i < most; ++i) {
      const std::filesystem::path path = all.found_[i].path;
      FileBytes file(path);
      all.found_[i].problem = file.problem();
      if (!file.is_open()) continue;
      const Image image = read_library(file, systems);
      all.found_[i].problem = image.problem;
      all.add_needs_of(image, path.parent_path());
    }
    return std::move(all.found_);
  }

 private:
  static constexpr std::size_t most = 1000;

  OwnLibraries(const Image& module, const std::filesystem::path& folder)
      : folder_(folder), folders_(origin_folders(module.run_paths, folder)) {
    folders_.insert(folders_.begin(), folder);
    add_needs_of(module, folder);
  }

  void add_needs_of(const Image& image, const std::filesystem::path& folder) {
    for (const std::string& needed : image.libraries)
      if (const auto path = find(needed, image, folder)) add(path->lexically_normal());
  }

  // The module's own folders come first: the system's loader uses a library that is open already for later requests of
  // the same name.
  std::optional<std::filesystem::path> find(const std::string& needed, const Image& image,
                                            const std::filesystem::path& folder) const {
    std::error_code problem;
    const auto if_there = [&](std::filesystem::path path) {
      return std::filesystem::is_regular_file(path, problem) ? std::optional(std::move(path)) : std::nullopt;
    };
    if (const auto rest = after_origin(needed))
      return if_there(path_from_text(path_to_text(folder) + std::string(*rest)));
    if (needed.find('/') != std::string::npos) return std::nullopt;
    std::vector<std::filesystem::path> folders = folders_;
    for (std::filesystem::path& own : origin_folders(image.run_paths, folder)) folders.push_back(std::move(own));
    for (const std::filesystem::path& place : folders)
      if (auto path = if_there(place / path_from_text(needed))) return path;
    return std::nullopt;
  }

  void add(std::filesystem::path path) {
    const auto is_it = [&](const OwnLibrary& library) { return library.path == path; };
    if (std::any_of(found_.begin(), found_.end(), is_it)) return;
    const std::u8string name = path.lexically_relative(folder_.lexically_normal()).generic_u8string();
    found_.push_back({std::string(name.begin(), name.end()), std::move(path), ""});
  }

  const std::filesystem::path folder_;
  std::vector<std::filesystem::path> folders_;  // searched for the libraries that the module needs
  std::vector<OwnLibrary> found_;
};

}  // namespace ferrule::module_file
