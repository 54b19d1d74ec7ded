#include "core/platform/cpu_features.h"

#include "core/environment.h"
#include "core/sync/once.h"

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

#if defined(__x86_64__) || defined(_M_X64)
#define FERRULE_X86 1
#if defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#endif

namespace ferrule {
namespace {

// Register state that the operating system must save before an instruction can be used (bits of XCR0).
constexpr uint64_t no_state = 0;
constexpr uint64_t avx_state = 0x6;
constexpr uint64_t avx512_state = 0xe6;
constexpr uint64_t amx_state = 0x60000;

enum Register : uint8_t { a, b, c, d };

struct Feature {
  const char* name;  // without dashes, dots and underscores, which differ between spellings
  uint32_t leaf, subleaf;
  Register register_;
  int bit;
  uint64_t state = no_state;
};

#if defined(FERRULE_X86)
constexpr Feature features[] = {
    {"sse3", 1, 0, c, 0},
    {"pclmulqdq", 1, 0, c, 1},
    {"ssse3", 1, 0, c, 9},
    {"fma", 1, 0, c, 12, avx_state},
    {"cx16", 1, 0, c, 13},
    {"sse41", 1, 0, c, 19},
    {"sse42", 1, 0, c, 20},
    {"movbe", 1, 0, c, 22},
    {"popcnt", 1, 0, c, 23},
    {"aes", 1, 0, c, 25},
    {"avx", 1, 0, c, 28, avx_state},
    {"f16c", 1, 0, c, 29, avx_state},
    {"bmi1", 7, 0, b, 3},
    {"avx2", 7, 0, b, 5, avx_state},
    {"bmi2", 7, 0, b, 8},
    {"avx512f", 7, 0, b, 16, avx512_state},
    {"avx512dq", 7, 0, b, 17, avx512_state},
    {"avx512ifma", 7, 0, b, 21, avx512_state},
    {"avx512cd", 7, 0, b, 28, avx512_state},
    {"sha", 7, 0, b, 29},
    {"avx512bw", 7, 0, b, 30, avx512_state},
    {"avx512vl", 7, 0, b, 31, avx512_state},
    {"avx512vbmi", 7, 0, c, 1, avx512_state},
    {"avx512vbmi2", 7, 0, c, 6, avx512_state},
    {"gfni", 7, 0, c, 8},
    {"vaes", 7, 0, c, 9, avx_state},
    {"vpclmulqdq", 7, 0, c, 10, avx_state},
    {"avx512vnni", 7, 0, c, 11, avx512_state},
    {"avx512bitalg", 7, 0, c, 12, avx512_state},
    {"avx512vpopcntdq", 7, 0, c, 14, avx512_state},
    {"amxbf16", 7, 0, d, 22, amx_state},
    {"avx512fp16", 7, 0, d, 23, avx512_state},
    {"amxtile", 7, 0, d, 24, amx_state},
    {"amxint8", 7, 0, d, 25, amx_state},
    {"avxvnni", 7, 1, a, 4, avx_state},
    {"avx512bf16", 7, 1, a, 5, avx512_state},
    {"amxfp16", 7, 1, a, 21, amx_state},
    {"avxifma", 7, 1, a, 23, avx_state},
    {"lzcnt", 0x80000001, 0, c, 5},
};

std::array<uint32_t, 4> cpuid(uint32_t leaf, uint32_t subleaf) {
  std::array<uint32_t, 4> out{};
#if defined(_MSC_VER)
  int registers[4];
  __cpuid(registers, static_cast<int>(leaf & 0x80000000u));
  if (static_cast<uint32_t>(registers[0]) < leaf) return out;
  __cpuidex(registers, static_cast<int>(leaf), static_cast<int>(subleaf));
  for (std::size_t i = 0; i < 4; ++i) out[i] = static_cast<uint32_t>(registers[i]);
#else
  // The result stays zero, which means "no", when the CPU does not have the leaf.
  __get_cpuid_count(leaf, subleaf, &out[0], &out[1], &out[2], &out[3]);
#endif
  return out;
}

// The state that the operating system saves (XCR0). 0, for nothing beyond SSE, when it does not use XSAVE.
uint64_t saved_state() {
  constexpr int osxsave = 27;
  if ((cpuid(1, 0)[c] >> osxsave & 1) == 0) return 0;
#if defined(_MSC_VER)
  return _xgetbv(0);
#else
  uint32_t low = 0, high = 0;
  asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
#endif
}

// Read once: in a virtual machine each CPUID exits the guest, which takes longer than reading a file.
struct Processor {
  uint64_t saved = saved_state();
  std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>> leaves;
};

Processor look_at_processor() {
  Processor found;
  for (const Feature& feature : features) {
    const auto [place, is_new] = found.leaves.try_emplace({feature.leaf, feature.subleaf});
    // Subleaf 0, which comes first in the table, has the number of the last subleaf.
    const bool exists = feature.subleaf == 0 || feature.subleaf <= found.leaves.at({feature.leaf, 0})[a];
    if (is_new && exists) place->second = cpuid(feature.leaf, feature.subleaf);
  }
  return found;
}

bool is_present(const Feature& feature) {
  static constinit Once<Processor> once;
  const Processor& processor = once.get(look_at_processor);
  if ((processor.saved & feature.state) != feature.state) return false;
  return (processor.leaves.at({feature.leaf, feature.subleaf})[feature.register_] >> feature.bit & 1) != 0;
}
#else
constexpr std::span<const Feature> features;
bool is_present(const Feature&) { return false; }
#endif

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

std::optional<bool> has_cpu_feature(std::string_view name) {
  const std::string wanted = plain(name);
  for (const Feature& feature : features)
    if (wanted == feature.name) return is_present(feature);
  return std::nullopt;
}

std::vector<std::string> known_cpu_features() {
  std::vector<std::string> names;
  for (const Feature& feature : features) names.emplace_back(feature.name);
  return names;
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
