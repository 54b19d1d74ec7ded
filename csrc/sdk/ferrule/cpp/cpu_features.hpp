// The CPU features of the architecture that this is compiled for. ferrule::sdk::processor has the table `features`,
// `FeatureSet` and `read_processor`. Elsewhere than on x86-64 and 64-bit Arm the table is absent, and
// FERRULE_HAS_CPU_FEATURES is not defined. Like the tables, everything here is plain code without the C++ library.
#ifndef FERRULE_CPP_CPU_FEATURES_HPP
#define FERRULE_CPP_CPU_FEATURES_HPP

#include <ferrule/cpp/arm_features.hpp>
#include <ferrule/cpp/x86_features.hpp>

#if defined(FERRULE_X86) || defined(FERRULE_ARM)
#define FERRULE_HAS_CPU_FEATURES 1

namespace ferrule::sdk {

#if defined(FERRULE_X86)
namespace processor = x86;
#else
namespace processor = arm;
#endif

inline constexpr std::size_t feature_count = sizeof processor::features / sizeof processor::features[0];

// The row of the feature; feature_count if the table has none of this name. (A pointer would not do: with
// -fsanitize=undefined g++ 12 compares no address with null in a constant expression.)
constexpr std::size_t row_of_feature(std::string_view name) {
  std::size_t row = 0;
  while (row < feature_count && processor::features[row].name != name) ++row;
  return row;
}

template <std::size_t count>
constexpr bool are_features(const std::string_view (&names)[count]) {
  for (const std::string_view name : names)
    if (row_of_feature(name) == feature_count) return false;
  return true;
}

// The set of these features, which must be in the table.
template <std::size_t count>
constexpr processor::FeatureSet set_of_features(const std::string_view (&names)[count]) {
  processor::FeatureSet set;
  for (const std::string_view name : names) set.add(row_of_feature(name));
  return set;
}

}  // namespace ferrule::sdk

#endif
#endif
