#include "core/loader/search/read_candidate.h"

#include "core/error.h"
#include "core/loader/candidate/manifest_file.h"
#include "core/loader/trust/file_hash.h"
#include "module_file/module_name.h"
#include "module_file/read_image.h"
#include "module_file/path_text.h"

#include <system_error>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t largest_manifest = 1 << 20;        // bytes
constexpr uint64_t largest_hashed_early = 64 * 1024;  // bytes; larger files are hashed only when they are to be opened

// A module may be a link into a store that names files by their contents; its manifest is then beside the link.
fs::path manifest_of(const Candidate& candidate) {
  fs::path beside = manifest_path(candidate.path);
  std::error_code problem;
  return fs::exists(fs::symlink_status(beside, problem)) ? beside : manifest_path(candidate.real);
}

void read_manifest(Candidate& candidate) {
  const fs::path& path = candidate.manifest_file;
  std::error_code problem;
  if (!fs::exists(fs::symlink_status(path, problem))) return;
  const auto refuse = [&](const std::string& why) {
    candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT,
                     "its manifest " + path_to_text(path.filename()) + ": " + why);
  };
  module_file::FileBytes file(path);
  if (!file.is_open()) return refuse(file.problem());
  if (file.size() > largest_manifest) return refuse("it is larger than a megabyte");
  const auto text = file.text();
  if (!text) return refuse("it cannot be read");
  try {
    candidate.manifest = parse_manifest(*text);
  } catch (const Error& error) {
    return refuse(error.what());
  }
  const Manifest& manifest = *candidate.manifest;
  if (candidate.row.name.empty()) {
    if (!module_file::is_backend_name(manifest.name))
      return refuse(fmt::format("'name' is '{}', and a backend's name consists of a-z, 0-9 and _", manifest.name));
    candidate.row.name = manifest.name;
    candidate.row.variant = manifest.variant;
  }
  if (manifest.name != candidate.row.name || manifest.variant != candidate.row.variant)
    return refuse(fmt::format("it is about '{}' and variant '{}', and the file is named otherwise", manifest.name,
                              manifest.variant));
  // A module without a variant has rank 0, whatever its manifest says, so that variants are preferred.
  candidate.row.version = manifest.version;
  candidate.row.device_kinds = manifest.device_kinds;
  candidate.row.rank = manifest.variant.empty() ? 0 : manifest.rank;
}

void read_module(Candidate& candidate, module_file::FileBytes& file) {
  candidate.image = module_file::read_image(file);
  const module_file::Image& image = candidate.image;
  if (image.is_foreign) return candidate.refuse(LoadState::incompatible, FE_UNSUPPORTED, image.problem);
  if (!image.problem.empty()) return candidate.refuse(LoadState::error, FE_IO, image.problem);
  candidate.neighbours = image.libraries_in(candidate.real.parent_path());
  candidate.libraries = module_file::OwnLibraries::of(image, candidate.real.parent_path());
  if (!candidate.manifest) return;
  const Manifest& manifest = *candidate.manifest;
  if (manifest.size != candidate.identity.size && manifest.code_sha256.empty())
    return candidate.refuse(
        LoadState::error, FE_IO,
        fmt::format("the file has {} bytes, its manifest says {}: it was changed after the manifest "
                    "was written",
                    candidate.identity.size, manifest.size));
  if (image.abi && *image.abi != manifest.abi)
    candidate.refuse(LoadState::error, FE_IO, "its manifest names another interface than the file");
}

}  // namespace

std::string complaint_about_path(const fs::path& path, const std::error_code& problem) {
  std::error_code none;
  if (problem == std::errc::too_many_symbolic_link_levels) return "it is a link that leads back to itself";
  if (fs::is_symlink(fs::symlink_status(path, none)))
    return "it is a link to '" + path_to_text(fs::read_symlink(path, none)) + "', which does not exist";
  if (problem == std::errc::no_such_file_or_directory) return "there is no such file";
  return "it cannot be read: " + problem.message();
}

void read_candidate(Candidate& candidate, TrustCheck& trust) {
  if (candidate.is_refused) return;
  std::error_code problem;
  candidate.real = trust.real_paths().of(candidate.path, problem);
  if (problem) return candidate.refuse(LoadState::error, FE_NOT_FOUND, complaint_about_path(candidate.path, problem));
  module_file::FileBytes file(candidate.real, module_file::Links::refuse);
  const auto identity = file.identity();
  if (!identity) return candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, file.problem());
  candidate.identity = *identity;
  candidate.manifest_file = manifest_of(candidate);
  trust.check_writers(candidate);
  if (candidate.is_refused) return;
  read_manifest(candidate);
  trust.check_manifest(candidate);
  if (!candidate.is_refused) read_module(candidate, file);
  trust.check_libraries(candidate);
  if (candidate.is_refused || file.size() > largest_hashed_early) return;
  candidate.hash = hash_of(file, candidate.real).value_or("");
}

}  // namespace ferrule
