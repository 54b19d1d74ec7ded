// Folders of modules for one test, and the marks that those modules write.
#pragma once

#include "core/error.h"
#include "core/loader/load.h"
#include "core/log.h"
#include "core/registry/registry.h"
#include "error_of.h"
#include "variable.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace ferrule {
void PrintTo(LoadState state, std::ostream* out);
}  // namespace ferrule

namespace ferrule::test {

namespace fs = std::filesystem;

// Module paths from the build, read before a test changes the environment.
std::vector<fs::path> dirs_of_build();

// The module file as it was built.
fs::path built(const std::string& stem);

std::string text_of_file(const fs::path& path);
void write_file(const fs::path& path, const std::string& text);

// Captures log lines during its lifetime.
class Lines {
 public:
  Lines();
  ~Lines();
  std::string text;
};

class LoaderTest : public testing::Test {
 protected:
  LoaderTest();
  ~LoaderTest() override;

  fs::path root(const std::string& name = "root");

  // Copies a module, by default under its own name, into a new file that is moved into place.
  static fs::path put(const fs::path& root, const std::string& stem, const std::string& as = "");
  // Adds a manifest that is correct except for `changes`.
  static fs::path put_with_manifest(const fs::path& root, const std::string& stem, const nlohmann::json& changes);
  static void write_manifest(const fs::path& module, const nlohmann::json& changes);

  static LoadReport load_from(std::vector<fs::path> dirs);
  // The row of a file, found by its stem without "libferrule-".
  static LoadRow row(const LoadReport& report, const std::string& stem);

  // Lines that the modules wrote, such as "opened t_pair-low".
  std::string notes() const;
  bool noted(const std::string& line) const;
  void forget_notes() const;

  fs::path folder_;

 private:
  // Isolates tests from the caller's environment.
  Variable no_dirs_{"FERRULE_BACKEND_DIR", nullptr}, no_files_{"FERRULE_BACKEND_PATH", nullptr};
  Variable none_disabled_{"FERRULE_DISABLE", nullptr}, none_only_{"FERRULE_ONLY", nullptr};
  Variable no_trust_{"FERRULE_TRUST", nullptr}, none_preferred_{"FERRULE_PREFER", nullptr};
  std::optional<Variable> notes_, cache_;
};

bool contains(const std::string& text, const std::string& part);

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(::ferrule::test::contains(text, part)) << (text)

// CPU seconds used by this process: suitable for limits on a busy machine.
double seconds_computed();

}  // namespace ferrule::test
