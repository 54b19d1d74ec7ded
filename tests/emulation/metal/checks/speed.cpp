// Prints times: of the processors, in ms, of this process and its compilers; the least of several runs.
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "metal/checks/kernels.h"

namespace {

using emulation::metal::Kernel;

double processor_time() {
  double sum = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    getrusage(who, &usage);
    for (const timeval& one : {usage.ru_utime, usage.ru_stime})
      sum += 1e3 * static_cast<double>(one.tv_sec) + 1e-3 * static_cast<double>(one.tv_usec);
  }
  return sum;
}

template <class Work>
void measure(const char* what, int runs, const Work& work) {
  double best = 1e30;
  for (int run = 0; run < runs; ++run) {
    const double begin = processor_time();
    work();
    best = std::min(best, processor_time() - begin);
  }
  std::printf("%-60s %8.2f\n", what, best);
}

const std::string kernels = R"(
kernel void nothing(device float* out [[buffer(0)]]) {}
kernel void barrier(device float* out [[buffer(0)]]) { threadgroup_barrier(mem_flags::mem_threadgroup); }
kernel void ten_barriers(device float* out [[buffer(0)]]) {
  for (int i = 0; i < 10; ++i) threadgroup_barrier(mem_flags::mem_threadgroup);
}
kernel void sum(device float* out [[buffer(0)]], uint i [[thread_position_in_grid]]) { out[i] = simd_sum(float(i)); }
kernel void product(device float* out [[buffer(0)]]) {
  simdgroup_float8x8 x(1.0f), sum(0.0f);
  for (int i = 0; i < 10; ++i) simdgroup_multiply_accumulate(sum, x, x, sum);
  simdgroup_store(sum, out);
}
)";

}  // namespace

int main() {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("emulation-metal-speed-" + std::to_string(::getpid()));
  ::setenv("FERRULE_EMULATION_METAL_CACHE", folder.c_str(), 1);
  int number = 0;
  measure("compiling five kernels", 5,
          [&] { Kernel(kernels + "constant int number = " + std::to_string(++number) + ";", "nothing"); });
  measure("loading them from the folder", 20, [&] { Kernel(kernels + "constant int number = 1;", "nothing"); });
  std::vector<float> out(256 * 1000);
  const auto run = [&](const char* what, const char* name) {
    Kernel kernel(kernels, name);
    kernel.buffer(0, out);
    measure(what, 10, [&] { kernel.run(1000, 256); });
  };
  run("1000 threadgroups of 256 threads that never wait", "nothing");
  run("the same with one barrier", "barrier");
  run("the same with ten barriers", "ten_barriers");
  run("the same with one simd_sum", "sum");
  run("the same with ten products of 8 x 8 matrices", "product");
  std::filesystem::remove_all(folder);
}
