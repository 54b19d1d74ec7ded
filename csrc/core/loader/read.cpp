#include "core/loader/read.h"

#include "core/error.h"
#include "core/loader/manifest.h"
#include "sdk/tools/read_image.h"

#include <fstream>
#include <system_error>

#if !defined(_WIN32)
#include <sys/stat.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t largest_manifest = 1 << 20;  // bytes

void read_manifest(Candidate& candidate) {
  const fs::path path = manifest_path(candidate.real);
  std::error_code problem;
  if (!fs::exists(path, problem)) return;
  const auto refuse = [&](const std::string& why) {
    candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, "its manifest " + path.filename().string() + ": " + why);
  };
  if (!fs::is_regular_file(path, problem)) return refuse("it is not a file");
  if (fs::file_size(path, problem) > largest_manifest || problem) return refuse("it is larger than a megabyte");
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  if (!file) return refuse("it cannot be read");
  try {
    candidate.manifest = parse_manifest(text);
  } catch (const Error& error) {
    return refuse(error.what());
  }
  const Manifest& manifest = *candidate.manifest;
  if (manifest.name != candidate.row.name || manifest.variant != candidate.row.variant)
    return refuse(fmt::format("it is about '{}' and variant '{}', and the file is named otherwise", manifest.name,
                              manifest.variant));
  // What has no variant is the last resort, whatever it says.
  candidate.row.rank = manifest.variant.empty() ? 0 : manifest.rank;
}

void read_module(Candidate& candidate) {
  candidate.image = tools::read_image(candidate.real);
  const tools::Image& image = candidate.image;
  if (image.is_foreign) return candidate.refuse(LoadState::incompatible, FE_UNSUPPORTED, image.problem);
  if (!image.problem.empty()) return candidate.refuse(LoadState::error, FE_IO, image.problem);
  if (!candidate.manifest) return;
  const Manifest& manifest = *candidate.manifest;
  if (manifest.size != candidate.identity.size)
    return candidate.refuse(
        LoadState::error, FE_IO,
        fmt::format("the file has {} bytes, its manifest says {}: it was changed after the manifest "
                    "was written",
                    candidate.identity.size, manifest.size));
  if (image.abi && *image.abi != manifest.abi)
    candidate.refuse(LoadState::error, FE_IO, "its manifest tells another interface than the file has");
}

}  // namespace

std::optional<FileIdentity> identify(const fs::path& path) {
#if defined(_WIN32)
  std::error_code problem;
  if (!fs::is_regular_file(path, problem)) return std::nullopt;
  FileIdentity identity;
  identity.size = fs::file_size(path, problem);
  identity.modified_ns = fs::last_write_time(path, problem).time_since_epoch().count();
  return identity;
#else
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
#if defined(__APPLE__)
  const timespec modified = status.st_mtimespec;
#else
  const timespec modified = status.st_mtim;
#endif
  return FileIdentity{static_cast<uint64_t>(status.st_dev), static_cast<uint64_t>(status.st_ino),
                      static_cast<uint64_t>(status.st_size),
                      static_cast<int64_t>(modified.tv_sec) * 1'000'000'000 + modified.tv_nsec};
#endif
}

void read_candidate(Candidate& candidate, TrustCheck& trust) {
  if (candidate.is_refused) return;
  std::error_code problem;
  candidate.real = fs::canonical(candidate.path, problem);
  if (problem) return candidate.refuse(LoadState::error, FE_NOT_FOUND, "there is no such file");
  const auto identity = identify(candidate.real);
  if (!identity) return candidate.refuse(LoadState::error, FE_INVALID_ARGUMENT, "it is not a regular file");
  candidate.identity = *identity;
  trust.check_writers(candidate);
  if (!candidate.is_refused) read_manifest(candidate);
  trust.check_manifest(candidate);
  if (!candidate.is_refused) read_module(candidate);
}

}  // namespace ferrule
