// Folders of modules for one test, and what those modules told of themselves.
#pragma once

#include "core/error.h"
#include "core/loader/load.h"
#include "core/log.h"
#include "core/registry/registry.h"
#include "error_of.h"
#include "sdk/tools/read_image.h"
#include "sdk/tools/sha256.h"
#include "variable.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

namespace ferrule {
inline void PrintTo(LoadState state, std::ostream* out) { *out << name_of(state); }
}  // namespace ferrule

namespace ferrule::test {

namespace fs = std::filesystem;

// What the build says of where its modules are, read before a test hides it.
inline const char* const named_dirs = std::getenv("FERRULE_BACKEND_DIR");
inline std::vector<fs::path> dirs_of_build() {
  return named_dirs != nullptr ? std::vector<fs::path>{named_dirs} : default_roots();
}

// The module as the build made it.
inline fs::path built(const std::string& stem) {
  return fs::path(FERRULE_TEST_MODULES) / ("libferrule-" + stem + ".so");
}

inline std::string text_of_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_file(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
}

// Catches log lines for as long as it lives.
class Lines {
 public:
  Lines() {
    set_log_callback(
        [](void* self, fe_log_level, const char* line) { static_cast<Lines*>(self)->text += std::string(line) + "\n"; },
        this);
  }
  ~Lines() { set_log_callback(nullptr, nullptr); }
  std::string text;
};

class LoaderTest : public testing::Test {
 protected:
  LoaderTest() {
    std::string pattern = (fs::temp_directory_path() / "ferrule-test-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    folder_ = fs::canonical(pattern);
    notes_.emplace("FERRULE_TEST_NOTES", (folder_ / "notes").string());
    cache_.emplace("FERRULE_CACHE_DIR", (folder_ / "cache").string());
  }
  ~LoaderTest() override {
    for (const auto& backend : Registry::instance().backends())
      if (backend->name().starts_with("t_")) Registry::instance().unload(backend->name());
    std::error_code problem;
    fs::remove_all(folder_, problem);
  }

  fs::path root(const std::string& name = "root") {
    fs::create_directories(folder_ / name);
    return folder_ / name;
  }

  // Copies a module, under its own name unless told, by a new file that is moved into place.
  fs::path put(const fs::path& root, const std::string& stem, const std::string& as = "") {
    const fs::path unfinished = root / "unfinished";
    fs::path to = root / ("libferrule-" + (as.empty() ? stem : as) + ".so");
    fs::copy_file(built(stem), unfinished, fs::copy_options::overwrite_existing);
    fs::rename(unfinished, to);
    return to;
  }
  // With a manifest that is right but for `changes`.
  fs::path put_with_manifest(const fs::path& root, const std::string& stem, const nlohmann::json& changes) {
    fs::path module = put(root, stem);
    write_manifest(module, changes);
    return module;
  }
  static void write_manifest(const fs::path& module, const nlohmann::json& changes) {
    const std::string stem = module.stem().string().substr(std::string("libferrule-").size());
    const std::size_t dash = stem.find('-');
    nlohmann::json manifest = {{"name", stem.substr(0, dash)},
                               {"variant", dash == std::string::npos ? "" : stem.substr(dash + 1)},
                               {"sha256", *tools::sha256_of_file(module)},
                               {"size", fs::file_size(module)}};
    if (const auto abi = tools::read_image(module).abi)
      manifest["abi"] = {{"major", abi->major},
                         {"minor", abi->minor},
                         {"layout_hashes", {fmt::format("{:#018x}", abi->layout_hash())}}};
    if (!changes.is_null()) manifest.update(changes);
    write_file(fs::path(module).replace_extension(".json"), manifest.dump());
  }

  static LoadReport load_from(std::vector<fs::path> dirs) {
    LoadOptions options;
    options.dirs = std::move(dirs);
    return load_all(options);
  }
  // The row of a file, by its stem without "libferrule-".
  static LoadRow row(const LoadReport& report, const std::string& stem) {
    for (const LoadRow& candidate : report.rows)
      if (fs::path(candidate.path).filename() == "libferrule-" + stem + ".so") return candidate;
    ADD_FAILURE() << "no row of " << stem << " in\n" << to_text(report);
    return {};
  }

  // What the modules wrote: "opened t_pair-low" and so on, each line.
  std::string notes() const { return text_of_file(folder_ / "notes"); }
  bool noted(const std::string& line) const { return notes().find(line + "\n") != std::string::npos; }
  void forget_notes() const { write_file(folder_ / "notes", ""); }

  fs::path folder_;

 private:
  // What the caller of the tests has set must not decide them.
  Variable no_dirs_{"FERRULE_BACKEND_DIR", nullptr}, no_files_{"FERRULE_BACKEND_PATH", nullptr};
  Variable none_disabled_{"FERRULE_DISABLE", nullptr}, none_only_{"FERRULE_ONLY", nullptr};
  Variable no_trust_{"FERRULE_TRUST", nullptr}, none_preferred_{"FERRULE_PREFER", nullptr};
  std::optional<Variable> notes_, cache_;
};

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(::ferrule::test::contains(text, part)) << (text)

// Seconds that this process has computed: what a limit on work is about, on a machine that others use, too.
inline double seconds_computed() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

}  // namespace ferrule::test
