#include "core/platform/machine/cpu_features.h"

#include "core/environment.h"
#include "core/sync/once.h"

#include <ferrule/cpp/cpu_features.hpp>

namespace ferrule {
#if defined(FERRULE_HAS_CPU_FEATURES)
namespace {

// The table's spelling of a name.
std::string plain(std::string_view name) {
  std::string out;
  for (const char letter : lower_case(name))
    if (letter != '_' && letter != '.' && letter != '-') out += letter;
  if (out == "bmi") out = "bmi1";
  if (out == "pclmul") out = "pclmulqdq";
  if (out == "shani") out = "sha";
  return out;
}

}  // namespace
#endif

std::optional<bool> has_cpu_feature([[maybe_unused]] std::string_view name) {
#if defined(FERRULE_HAS_CPU_FEATURES)
  if (const std::size_t row = sdk::row_of_feature(plain(name)); row < sdk::feature_count) {
    static constinit Once<sdk::processor::FeatureSet> processor;
    sdk::processor::FeatureSet wanted;
    wanted.add(row);
    return processor.get(sdk::processor::read_processor).contains(wanted);
  }
#endif
  return std::nullopt;
}

std::vector<std::string> missing_cpu_features(const std::vector<std::string>& wanted) {
  std::vector<std::string> missing;
  for (const std::string& name : wanted) {
    const std::optional<bool> present = has_cpu_feature(name);
    if (!present) missing.push_back(name + " (a name that this ferrule does not know)");
    if (present && !*present) missing.push_back(name);
  }
  return missing;
}

}  // namespace ferrule
