// The CPU features of x86-64: the one table of their names and of the CPUID bits that show them. The loader uses it for
// the features that manifests require, and the CPU modules for their scores. A score runs before it is known which
// instructions the processor has, so everything that runs here is plain code without the C++ library.
//
// Debian's cpu_features (0.7) cannot replace the table: it has no gfni and no lzcnt, which variants require, and no
// avxvnni, avxifma, avx512fp16 and amxfp16, which manifests may require.
#ifndef FERRULE_CPP_X86_FEATURES_HPP
#define FERRULE_CPP_X86_FEATURES_HPP

#if defined(__x86_64__) || defined(_M_X64)
#define FERRULE_X86 1

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(_MSC_VER)
#include <immintrin.h>
#include <intrin.h>
#else
#include <cpuid.h>
#endif

namespace ferrule::sdk::x86 {

// The leaves of CPUID that show features.
enum Leaf : uint8_t { leaf_1, leaf_7, leaf_7_1, leaf_extended_1, leaf_count };
struct LeafNumber {
  uint32_t leaf, subleaf;
};
inline constexpr LeafNumber leaf_numbers[leaf_count] = {{1, 0}, {7, 0}, {7, 1}, {0x80000001, 0}};

enum Register : uint8_t { eax, ebx, ecx, edx, register_count };

// Register state that the operating system must save before an instruction can be used (bits of XCR0).
inline constexpr uint64_t no_state = 0;
inline constexpr uint64_t avx_state = 0x6;
inline constexpr uint64_t avx512_state = 0xe6;
inline constexpr uint64_t amx_state = 0x60000;

struct Feature {
  std::string_view name;  // without dashes, dots and underscores, which differ between spellings
  Leaf leaf;
  Register register_;
  int bit;
  uint64_t state = no_state;
};

inline constexpr Feature features[] = {
    {"sse3", leaf_1, ecx, 0},
    {"pclmulqdq", leaf_1, ecx, 1},
    {"ssse3", leaf_1, ecx, 9},
    {"fma", leaf_1, ecx, 12, avx_state},
    {"cx16", leaf_1, ecx, 13},
    {"sse41", leaf_1, ecx, 19},
    {"sse42", leaf_1, ecx, 20},
    {"movbe", leaf_1, ecx, 22},
    {"popcnt", leaf_1, ecx, 23},
    {"aes", leaf_1, ecx, 25},
    {"avx", leaf_1, ecx, 28, avx_state},
    {"f16c", leaf_1, ecx, 29, avx_state},
    {"bmi1", leaf_7, ebx, 3},
    {"avx2", leaf_7, ebx, 5, avx_state},
    {"bmi2", leaf_7, ebx, 8},
    {"avx512f", leaf_7, ebx, 16, avx512_state},
    {"avx512dq", leaf_7, ebx, 17, avx512_state},
    {"avx512ifma", leaf_7, ebx, 21, avx512_state},
    {"avx512cd", leaf_7, ebx, 28, avx512_state},
    {"sha", leaf_7, ebx, 29},
    {"avx512bw", leaf_7, ebx, 30, avx512_state},
    {"avx512vl", leaf_7, ebx, 31, avx512_state},
    {"avx512vbmi", leaf_7, ecx, 1, avx512_state},
    {"avx512vbmi2", leaf_7, ecx, 6, avx512_state},
    {"gfni", leaf_7, ecx, 8},
    {"vaes", leaf_7, ecx, 9, avx_state},
    {"vpclmulqdq", leaf_7, ecx, 10, avx_state},
    {"avx512vnni", leaf_7, ecx, 11, avx512_state},
    {"avx512bitalg", leaf_7, ecx, 12, avx512_state},
    {"avx512vpopcntdq", leaf_7, ecx, 14, avx512_state},
    {"amxbf16", leaf_7, edx, 22, amx_state},
    {"avx512fp16", leaf_7, edx, 23, avx512_state},
    {"amxtile", leaf_7, edx, 24, amx_state},
    {"amxint8", leaf_7, edx, 25, amx_state},
    {"avxvnni", leaf_7_1, eax, 4, avx_state},
    {"avx512bf16", leaf_7_1, eax, 5, avx512_state},
    {"amxfp16", leaf_7_1, eax, 21, amx_state},
    {"avxifma", leaf_7_1, eax, 23, avx_state},
    {"lzcnt", leaf_extended_1, ecx, 5},
};

// The bits that CPUID and XCR0 show, or must show: registers of leaves, and saved state.
struct FeatureSet {
  uint32_t bits[leaf_count][register_count] = {};
  uint64_t state = 0;

  constexpr void add(std::size_t row) {
    const Feature& feature = features[row];
    bits[feature.leaf][feature.register_] |= uint32_t{1} << feature.bit;
    state |= feature.state;
  }
  constexpr bool contains(const FeatureSet& other) const {
    for (int leaf = 0; leaf < leaf_count; ++leaf)
      for (int i = 0; i < register_count; ++i)
        if ((bits[leaf][i] & other.bits[leaf][i]) != other.bits[leaf][i]) return false;
    return (state & other.state) == other.state;
  }
};

// Writes eax, ebx, ecx and edx to `out`; zeros, which mean "no", if the processor does not have the leaf.
inline void read_cpuid(uint32_t leaf, uint32_t subleaf, uint32_t (&out)[register_count]) {
  for (uint32_t& value : out) value = 0;
#if defined(_MSC_VER)
  int registers[register_count];
  __cpuid(registers, static_cast<int>(leaf & 0x80000000u));
  if (static_cast<uint32_t>(registers[eax]) < leaf) return;
  __cpuidex(registers, static_cast<int>(leaf), static_cast<int>(subleaf));
  for (int i = 0; i < register_count; ++i) out[i] = static_cast<uint32_t>(registers[i]);
#else
  __get_cpuid_count(leaf, subleaf, &out[eax], &out[ebx], &out[ecx], &out[edx]);
#endif
}

inline uint64_t read_xcr0() {
#if defined(_MSC_VER)
  return _xgetbv(0);
#else
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
#endif
}

// The features of this processor and the state that the operating system saves: none beyond SSE's if it does not use
// XSAVE. Keep the result: in a virtual machine each CPUID exits the guest, which takes longer than reading a file.
inline FeatureSet read_processor() {
  FeatureSet found;
  for (int i = 0; i < leaf_count; ++i) {
    const LeafNumber number = leaf_numbers[i];
    // Subleaf 0, which precedes the others in leaf_numbers, has the number of the last subleaf.
    if (number.subleaf == 0 || number.subleaf <= found.bits[i - 1][eax])
      read_cpuid(number.leaf, number.subleaf, found.bits[i]);
  }
  constexpr int osxsave = 27;
  if ((found.bits[leaf_1][ecx] >> osxsave & 1) != 0) found.state = read_xcr0();
  return found;
}

}  // namespace ferrule::sdk::x86

#endif
#endif
