#include "loader_fixture.h"

#include "core/loader/search/find_candidates.h"
#include "module_file/read_image.h"
#include "module_file/sha256.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace ferrule {
void PrintTo(LoadState state, std::ostream* out) { *out << name_of(state); }
}  // namespace ferrule

namespace ferrule::test {
namespace {
const char* const named_dirs = std::getenv("FERRULE_BACKEND_DIR");
}  // namespace

std::vector<fs::path> dirs_of_build() {
  return named_dirs != nullptr ? std::vector<fs::path>{named_dirs} : default_roots();
}

fs::path built(const std::string& stem) { return fs::path(FERRULE_TEST_MODULES) / ("libferrule-" + stem + ".so"); }

std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

Lines::Lines() {
  set_log_callback(
      [](void* self, fe_log_level, const char* line) { static_cast<Lines*>(self)->text += std::string(line) + "\n"; },
      this);
}
Lines::~Lines() { set_log_callback(nullptr, nullptr); }

LoaderTest::LoaderTest() {
  std::string pattern = (fs::temp_directory_path() / "ferrule-test-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  folder_ = fs::canonical(pattern);
  notes_.emplace("FERRULE_TEST_NOTES", (folder_ / "notes").string());
  cache_.emplace("FERRULE_CACHE_DIR", (folder_ / "cache").string());
}
LoaderTest::~LoaderTest() {
  for (const auto& backend : Registry::instance().backends())
    if (backend->name().starts_with("t_")) Registry::instance().unload(backend->name());
  std::error_code problem;
  fs::remove_all(folder_, problem);
}

fs::path LoaderTest::root(const std::string& name) {
  fs::create_directories(folder_ / name);
  return folder_ / name;
}

fs::path LoaderTest::put(const fs::path& root, const std::string& stem, const std::string& as) {
  const fs::path unfinished = root / "unfinished";
  fs::path to = root / ("libferrule-" + (as.empty() ? stem : as) + ".so");
  fs::copy_file(built(stem), unfinished, fs::copy_options::overwrite_existing);
  fs::rename(unfinished, to);
  return to;
}

fs::path LoaderTest::put_with_manifest(const fs::path& root, const std::string& stem, const nlohmann::json& changes) {
  fs::path module = put(root, stem);
  write_manifest(module, changes);
  return module;
}

void LoaderTest::write_manifest(const fs::path& module, const nlohmann::json& changes) {
  const std::string stem = module.stem().string().substr(std::string("libferrule-").size());
  const std::size_t dash = stem.find('-');
  nlohmann::json manifest = {{"name", stem.substr(0, dash)},
                             {"variant", dash == std::string::npos ? "" : stem.substr(dash + 1)},
                             {"sha256", *module_file::sha256_of_file(module)},
                             {"size", fs::file_size(module)}};
  if (const auto abi = module_file::read_image(module).abi)
    manifest["abi"] = {
        {"major", abi->major}, {"minor", abi->minor}, {"layout_hashes", {fmt::format("{:#018x}", abi->layout_hash())}}};
  if (!changes.is_null()) manifest.update(changes);
  write_file(fs::path(module).replace_extension(".json"), manifest.dump());
}

LoadReport LoaderTest::load_from(std::vector<fs::path> dirs) {
  LoadOptions options;
  options.dirs = std::move(dirs);
  return load_all(options);
}

LoadRow LoaderTest::row(const LoadReport& report, const std::string& stem) {
  for (const LoadRow& candidate : report.rows)
    if (fs::path(candidate.path).filename() == "libferrule-" + stem + ".so") return candidate;
  ADD_FAILURE() << "no row of " << stem << " in\n" << to_text(report);
  return {};
}

std::string LoaderTest::notes() const { return text_of_file(folder_ / "notes"); }
bool LoaderTest::noted(const std::string& line) const { return notes().find(line + "\n") != std::string::npos; }
void LoaderTest::forget_notes() const { write_file(folder_ / "notes", ""); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double seconds_computed() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace ferrule::test
