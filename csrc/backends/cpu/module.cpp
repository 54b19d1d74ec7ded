// The module's constant and its score: whether the processor and the operating system can run the variant. Compiled for
// the base architecture and without the C++ library, because it runs before that is known.
#include "module.h"

#include <cpuid.h>
#include <ferrule/module.h>

namespace {

// Feature bits of CPUID.
struct Features {
  uint32_t leaf1_c, leaf7_b, leaf7_c, leaf7_1_a;
};
constexpr uint32_t bit(int n) { return uint32_t{1} << n; }

constexpr uint32_t sse4 =
    bit(0) | bit(9) | bit(13) | bit(19) | bit(20) | bit(23);                  // sse3 ssse3 cx16 sse4.1 sse4.2 popcnt
constexpr uint32_t avx = bit(12) | bit(22) | bit(27) | bit(28) | bit(29);     // fma movbe osxsave avx f16c
constexpr uint32_t avx2 = bit(3) | bit(5) | bit(8);                           // bmi1 avx2 bmi2
constexpr uint32_t avx512 = bit(16) | bit(17) | bit(28) | bit(30) | bit(31);  // f dq cd bw vl
constexpr uint32_t icelake_b = bit(21);                                       // ifma
// vbmi vbmi2 gfni vaes vpclmulqdq vnni bitalg vpopcntdq
constexpr uint32_t icelake_c = bit(1) | bit(6) | bit(8) | bit(9) | bit(10) | bit(11) | bit(12) | bit(14);
constexpr uint32_t aes = bit(1) | bit(25);  // pclmul aes
constexpr uint32_t bf16 = bit(5);

constexpr uint64_t ymm_state = 0x6, zmm_state = 0xe6;

struct Requirement {
  const char* variant;
  int score;
  Features features;
  uint64_t state;  // bits of XCR0
  bool lzcnt;
};
constexpr Requirement requirements[] = {
    {"x64", 1, {sse4, 0, 0, 0}, 0, false},
    {"haswell", 3, {sse4 | avx, avx2, 0, 0}, ymm_state, true},
    {"skylakex", 4, {sse4 | avx, avx2 | avx512, 0, 0}, zmm_state, true},
    {"icelake", 5, {sse4 | avx | aes, avx2 | avx512 | icelake_b, icelake_c, 0}, zmm_state, true},
    {"zen4", 6, {sse4 | avx | aes, avx2 | avx512 | icelake_b, icelake_c, bf16}, zmm_state, true},
};

constexpr bool equal(const char* a, const char* b) {
  for (; *a == *b; ++a, ++b)
    if (*a == 0) return true;
  return false;
}
constexpr int row_of(const char* variant) {
  for (int i = 0; i < static_cast<int>(sizeof requirements / sizeof requirements[0]); ++i)
    if (equal(requirements[i].variant, variant)) return i;
  return -1;
}
// The variant of the kernels; that of the module may be empty.
#define FERRULE_TEXT_OF(name) #name
#define FERRULE_TEXT(name) FERRULE_TEXT_OF(name)
constexpr int row = row_of(FERRULE_TEXT(FERRULE_CPU_VARIANT));
static_assert(row >= 0, "no requirements are listed for this variant");
constexpr Requirement needs = requirements[row];

Features present() {
  Features found = {};
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) found.leaf1_c = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
    found.leaf7_b = b;
    found.leaf7_c = c;
    if (a >= 1 && __get_cpuid_count(7, 1, &a, &b, &c, &d)) found.leaf7_1_a = a;
  }
  return found;
}

// The register state that the operating system saves when it switches threads (XCR0).
uint64_t saved_state(const Features& features) {
  if ((features.leaf1_c & bit(27)) == 0) return 0;
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return static_cast<uint64_t>(high) << 32 | low;
}

bool has_lzcnt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit(5)) != 0;
}

int score() {
  const Features found = present();
  const Features& wanted = needs.features;
  const bool instructions =
      (found.leaf1_c & wanted.leaf1_c) == wanted.leaf1_c && (found.leaf7_b & wanted.leaf7_b) == wanted.leaf7_b &&
      (found.leaf7_c & wanted.leaf7_c) == wanted.leaf7_c && (found.leaf7_1_a & wanted.leaf7_1_a) == wanted.leaf7_1_a;
  const bool state = (saved_state(found) & needs.state) == needs.state;
  return instructions && state && (!needs.lzcnt || has_lzcnt()) ? needs.score : 0;
}

}  // namespace

extern "C" void ferrule_cpu_brand(char* out) {
  unsigned registers[12] = {};
  unsigned a = 0, b = 0, c = 0, d = 0;
  out[0] = 0;
  if (!__get_cpuid(0x80000000, &a, &b, &c, &d) || a < 0x80000004) return;
  for (unsigned i = 0; i < 3; ++i)
    __get_cpuid(0x80000002 + i, &registers[4 * i], &registers[4 * i + 1], &registers[4 * i + 2], &registers[4 * i + 3]);
  __builtin_memcpy(out, registers, 48);
  out[48] = 0;
}

FE_DEFINE_MODULE(score, ferrule_cpu_init)
