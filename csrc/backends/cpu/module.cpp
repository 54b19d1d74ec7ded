// The module's constant and its score: whether the processor and the operating system can run the variant. Compiled for
// the base architecture and without the C++ library, because it runs before that is known.
#include "module.h"

#include <ferrule/module.h>

#include "variant.h"

namespace {

int score() {
  return ferrule::sdk::processor::read_processor().contains(ferrule::cpu::variant.features) ? ferrule::cpu::variant.rank
                                                                                            : 0;
}

}  // namespace

extern "C" void ferrule_cpu_brand(char* out) {
  out[0] = 0;
#if defined(FERRULE_X86)
  constexpr uint32_t first = 0x80000002, last = 0x80000004;  // the leaves that hold the name
  using ferrule::sdk::x86::read_cpuid;
  uint32_t registers[4] = {};
  read_cpuid(0x80000000, 0, registers);
  if (registers[0] < last) return;
  for (uint32_t leaf = first; leaf <= last; ++leaf, out += sizeof registers) {
    read_cpuid(leaf, 0, registers);
    __builtin_memcpy(out, registers, sizeof registers);
  }
  *out = 0;
#endif
}

FE_DEFINE_MODULE(score, ferrule_cpu_init)
