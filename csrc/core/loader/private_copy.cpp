#include "core/loader/private_copy.h"

#include "core/environment.h"
#include "core/error.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <system_error>
#include <vector>

#if defined(_WIN32)
#include "windows/file.h"
#include "windows/text.h"

#include <random>
#else
#include <cerrno>
#include <cstdlib>
#include <unistd.h>
#endif

namespace ferrule {
namespace {

namespace fs = std::filesystem;

#if defined(_WIN32)
fs::path new_folder() {
  std::error_code problem;
  const fs::path base = fs::temp_directory_path(problem);
  const fs::path folder =
      base / fmt::format("ferrule-copy-{:08x}{:08x}", std::random_device()(), std::random_device()());
  if (const std::string why = problem ? problem.message() : windows::make_private_folder(folder.native()); !why.empty())
    fail(FE_IO, "no folder for a copy of it could be made in {}: {}", path_to_text(base), why);
  return fs::canonical(folder);
}
#else
fs::path new_folder() {
  fs::path base = environment_path("TMPDIR");
  if (!base.is_absolute()) base = "/tmp";
  std::string pattern = path_to_text(base / "ferrule-copy-XXXXXX");
  if (mkdtemp(pattern.data()) == nullptr)
    fail(FE_IO, "no folder for a copy of it could be made in {}: {}", path_to_text(base),
         std::generic_category().message(errno));
  return fs::canonical(pattern);
}
#endif

bool copy_bytes(module_file::FileBytes& from, const fs::path& to) {
  std::ofstream out(to, std::ios::binary);
  std::vector<char> part(std::size_t{1} << 20);
  for (uint64_t done = 0; done < from.size();) {
    const auto count = static_cast<std::size_t>(std::min<uint64_t>(part.size(), from.size() - done));
    if (!from.read_now(done, part.data(), count)) return false;
    out.write(part.data(), static_cast<std::streamsize>(count));
    done += count;
  }
  out.close();
  return out.good();
}

}  // namespace

PrivateCopy::PrivateCopy(module_file::FileBytes& file, const fs::path& name)
    : folder_(new_folder()), path_(folder_ / name) {
  const bool is_whole = copy_bytes(file, path_);
  file_.emplace(path_, module_file::Links::refuse);
  if (is_whole && file_->is_open()) return;
  file_.reset();
  const std::string place = path_to_text(path_);
  std::error_code problem;
  fs::remove_all(folder_, problem);
  fail(FE_IO, "no copy of it could be written to {}", place);
}

PrivateCopy::~PrivateCopy() {
  std::error_code problem;
  file_.reset();  // Windows removes no open file
  fs::remove_all(folder_, problem);
}

}  // namespace ferrule
