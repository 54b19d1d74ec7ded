// The CPU features of 64-bit Arm: the one table of their names, which are those of GCC's and Clang's -march, and of how
// each system shows them. Used like x86_features.hpp, by the loader and for scores: plain code without the C++ library.
#ifndef FERRULE_CPP_ARM_FEATURES_HPP
#define FERRULE_CPP_ARM_FEATURES_HPP

#if defined(__aarch64__) || defined(_M_ARM64)
#define FERRULE_ARM 1

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(_WIN32)
extern "C" __declspec(dllimport) int __stdcall IsProcessorFeaturePresent(unsigned long feature);
#elif defined(__APPLE__)
#include <sys/sysctl.h>
#else
#include <sys/auxv.h>
#endif

namespace ferrule::sdk::arm {

inline constexpr int unknown = -1;  // a system that does not show the feature counts as a processor without it

struct Feature {
  std::string_view name;
  int word, bit;      // Linux: 0 for AT_HWCAP and 1 for AT_HWCAP2, and a bit of it
  const char* apple;  // the name for sysctlbyname
  int windows;        // the number for IsProcessorFeaturePresent
};

inline constexpr Feature features[] = {
    {"simd", 0, 1, "hw.optional.AdvSIMD", 19},
    {"aes", 0, 3, "hw.optional.arm.FEAT_AES", 30},
    {"sha2", 0, 6, "hw.optional.arm.FEAT_SHA256", 30},
    {"crc", 0, 7, "hw.optional.armv8_crc32", 31},
    {"lse", 0, 8, "hw.optional.arm.FEAT_LSE", 34},
    {"fp16", 0, 10, "hw.optional.arm.FEAT_FP16", 67},
    {"rdma", 0, 12, "hw.optional.arm.FEAT_RDM", unknown},
    {"dotprod", 0, 20, "hw.optional.arm.FEAT_DotProd", 43},
    {"sve", 0, 22, "hw.optional.arm.FEAT_SVE", 46},
    {"fp16fml", 0, 23, "hw.optional.arm.FEAT_FHM", unknown},
    {"sve2", 1, 1, "hw.optional.arm.FEAT_SVE2", 47},
    {"i8mm", 1, 13, "hw.optional.arm.FEAT_I8MM", 66},
    {"bf16", 1, 14, "hw.optional.arm.FEAT_BF16", 68},
};

struct FeatureSet {
  uint64_t rows = 0;  // a bit for each row of `features`

  constexpr void add(std::size_t row) { rows |= uint64_t{1} << row; }
  constexpr bool contains(const FeatureSet& other) const { return (rows & other.rows) == other.rows; }
};

// The features that the operating system reports for this processor.
inline FeatureSet read_processor() {
  FeatureSet found;
#if defined(__linux__)
  const unsigned long words[] = {getauxval(AT_HWCAP), getauxval(AT_HWCAP2)};
#endif
  for (std::size_t row = 0; row < sizeof features / sizeof features[0]; ++row) {
    const Feature& feature = features[row];
#if defined(_WIN32)
    const bool has =
        feature.windows != unknown && IsProcessorFeaturePresent(static_cast<unsigned long>(feature.windows)) != 0;
#elif defined(__APPLE__)
    int value = 0;
    std::size_t size = sizeof value;
    const bool has = sysctlbyname(feature.apple, &value, &size, nullptr, 0) == 0 && value != 0;
#elif defined(__linux__)
    const bool has = (words[feature.word] >> feature.bit & 1) != 0;
#else
    const bool has = false;
#endif
    if (has) found.add(row);
  }
  return found;
}

}  // namespace ferrule::sdk::arm

#endif
#endif
