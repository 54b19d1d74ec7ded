// Folders of modules for one test, and what those modules told of themselves.
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

// What the build says of where its modules are, read before a test hides it.
std::vector<fs::path> dirs_of_build();

// The module as the build made it.
fs::path built(const std::string& stem);

std::string text_of_file(const fs::path& path);
void write_file(const fs::path& path, const std::string& text);

// Catches log lines for as long as it lives.
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

  // Copies a module, under its own name unless told, by a new file that is moved into place.
  static fs::path put(const fs::path& root, const std::string& stem, const std::string& as = "");
  // With a manifest that is right but for `changes`.
  static fs::path put_with_manifest(const fs::path& root, const std::string& stem, const nlohmann::json& changes);
  static void write_manifest(const fs::path& module, const nlohmann::json& changes);

  static LoadReport load_from(std::vector<fs::path> dirs);
  // The row of a file, by its stem without "libferrule-".
  static LoadRow row(const LoadReport& report, const std::string& stem);

  // What the modules wrote: "opened t_pair-low" and so on, each line.
  std::string notes() const;
  bool noted(const std::string& line) const;
  void forget_notes() const;

  fs::path folder_;

 private:
  // What the caller of the tests has set must not decide them.
  Variable no_dirs_{"FERRULE_BACKEND_DIR", nullptr}, no_files_{"FERRULE_BACKEND_PATH", nullptr};
  Variable none_disabled_{"FERRULE_DISABLE", nullptr}, none_only_{"FERRULE_ONLY", nullptr};
  Variable no_trust_{"FERRULE_TRUST", nullptr}, none_preferred_{"FERRULE_PREFER", nullptr};
  std::optional<Variable> notes_, cache_;
};

bool contains(const std::string& text, const std::string& part);

#define EXPECT_CONTAINS(text, part) EXPECT_TRUE(::ferrule::test::contains(text, part)) << (text)

// Seconds that this process has computed: what a limit on work is about, on a machine that others use, too.
double seconds_computed();

}  // namespace ferrule::test
