// The variants' requirements: what the manifests say to the loader, and what the modules' scores say.
#include "core/loader/candidate/manifest_file.h"
#include "core/platform/machine/cpu_features.h"

#include <fstream>
#include <iterator>

#include "backend_host.h"

namespace cpu_backend {
namespace {

ferrule::Manifest manifest_of(const std::string& module) {
  std::ifstream file(ferrule::manifest_path(module));
  return ferrule::parse_manifest({std::istreambuf_iterator<char>(file), {}});
}

TEST(CpuVariants, ManifestsRequireOnlyFeaturesThatTheLoaderKnows) {
  ASSERT_FALSE(module_paths().empty());
  for (const std::string& path : module_paths()) {
    SCOPED_TRACE(path);
    const ferrule::Manifest manifest = manifest_of(path);
    EXPECT_FALSE(manifest.cpu_features.empty());
    for (const std::string& feature : manifest.cpu_features)
      EXPECT_TRUE(ferrule::has_cpu_feature(feature).has_value()) << feature;
  }
}

TEST(CpuVariants, TheScoreIsTheRankWhereTheLoaderFindsAllFeatures) {
  ASSERT_FALSE(module_paths().empty());
  for (const std::string& path : module_paths()) {
    SCOPED_TRACE(path);
    const auto code = ferrule::DynamicLibrary::open(path);
    const auto score = code->function<fe_score_function>(FE_SCORE_SYMBOL);
    ASSERT_NE(score, nullptr);
    const ferrule::Manifest manifest = manifest_of(path);
    EXPECT_EQ(score(), ferrule::missing_cpu_features(manifest.cpu_features).empty() ? manifest.rank : 0);
  }
}

}  // namespace
}  // namespace cpu_backend
