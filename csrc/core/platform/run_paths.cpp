#include "core/platform/run_paths.h"

#include "module_file/run_paths.h"

#include <fmt/format.h>

namespace ferrule {
namespace {

bool is_relative(std::string_view path) { return !path.starts_with('/') && !module_file::after_origin(path); }

}  // namespace

std::string complaint_about_relative_paths(const module_file::Image& image) {
  for (const std::string& library : image.libraries)
    if (library.find('/') != std::string::npos && is_relative(library))
      return fmt::format(
          "it needs '{}' by a relative path, which the current directory decides; link it by a plain name and "
          "a run path with $ORIGIN",
          library);
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : module_file::entries_of_run_path(list))
      if (is_relative(entry))
        return fmt::format(
            "its run path '{}' names '{}', so that libraries would be taken from the current directory; link "
            "it with $ORIGIN or an absolute path",
            list, entry);
  return "";
}

std::vector<std::filesystem::path> folders_of_run_paths(const module_file::Image& image,
                                                        const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> folders;
  for (const std::string& list : image.run_paths)
    for (const std::string_view entry : module_file::entries_of_run_path(list)) {
      if (const auto rest = module_file::after_origin(entry))
        folders.emplace_back(folder.string() + std::string(*rest));
      else if (!is_relative(entry))
        folders.emplace_back(entry);
    }
  return folders;
}

}  // namespace ferrule
