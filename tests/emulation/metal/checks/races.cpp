// Kernels in MSL with and without races, for ThreadSanitizer. usage: emulation-metal-races <kernel>
#include <cstdio>
#include <cstring>

#include "metal/checks/kernels.h"

namespace {

constexpr const char* text = R"(
kernel void none(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                 uint t [[thread_index_in_threadgroup]], device atomic_uint* count [[buffer(1)]]) {
  threadgroup float x[64];
  x[t] = t;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  out[i] = x[63 - t] + simd_shuffle_xor(1.0f, 1);
  atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
}
kernel void race_in_threadgroup(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]],
                                uint t [[thread_index_in_threadgroup]]) {
  threadgroup float x[64];
  x[t] = t;
  out[i] = x[63 - t];
}
kernel void race_in_device(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  out[i % 8] = i;
}
)";

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  std::vector<float> out(256);
  std::vector<std::uint32_t> sum(1);
  emulation::metal::Kernel kernel(text, arguments[1]);
  kernel.buffer(0, out).buffer(1, sum).run(std::strcmp(arguments[1], "race_in_device") == 0 ? 1 : 4, 64);
  std::printf("%s has run\n", arguments[1]);
}
