// A backend with one kernel: sums along the last axis. Its arrays are in the host's memory, and each sum copies its
// operand to the GPU's.
#include <cuda_runtime_api.h>

#include <ferrule/backend.hpp>
#include <ferrule/ops.h>

#include <climits>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "emulation/code_image.h"
#include "row_sums.h"

namespace {

using namespace ferrule::sdk;

void check(cudaError_t error) {
  if (error == cudaSuccess) return;
  const std::string fault = emulation::fault_of_device();  // which thread of which kernel did what; not in CUDA
  throw Error(FE_DEVICE_LOST, cudaGetErrorName(error) + (fault.empty() ? "" : ": " + fault));
}

struct DeviceFloats {
  explicit DeviceFloats(std::size_t count) : bytes(count * sizeof(float)) { check(cudaMalloc(&memory, bytes)); }
  DeviceFloats(const DeviceFloats&) = delete;
  DeviceFloats& operator=(const DeviceFloats&) = delete;
  ~DeviceFloats() { cudaFree(memory); }
  std::size_t bytes;
  void* memory = nullptr;
};

// The loaded kernel, and the stream that it runs in.
struct Gpu {
  Gpu() {
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    // For a GPU: the bytes of the file that nvcc -fatbin writes.
    check(cudaLibraryLoadData(&library, &emulation::own_code_image, nullptr, nullptr, 0, nullptr, nullptr, 0));
    check(cudaLibraryGetKernel(&row_sums, library, "row_sums"));
  }
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu() {
    cudaStreamDestroy(stream);
    cudaLibraryUnload(library);
  }

  void add_up_rows(const float* x, float* sums, std::size_t rows, std::size_t length) const {
    const DeviceFloats from(rows * length), to(rows);
    RowSumsParameters p = {static_cast<const float*>(from.memory), static_cast<float*>(to.memory), length};
    void* arguments[] = {&p};
    check(cudaMemcpyAsync(from.memory, x, from.bytes, cudaMemcpyDefault, stream));
    check(cudaLaunchKernel(static_cast<const void*>(row_sums), dim3(static_cast<unsigned>(rows)),
                           dim3(row_sums_threads), arguments, 0, stream));
    check(cudaMemcpyAsync(sums, to.memory, to.bytes, cudaMemcpyDefault, stream));
    check(cudaStreamSynchronize(stream));
  }

  cudaStream_t stream = nullptr;
  cudaLibrary_t library = nullptr;
  cudaKernel_t row_sums = nullptr;
};

class RowSums final : public KernelDevice {
 public:
  Kernel kernel(const Node& node) override {
    if (node.op() != "sum") return refusal("only sum is here");
    const Operand x = node.input(0), sums = node.output(0);
    const fe_int64_list axes = node.attributes<fe_sum_attributes>().axis;
    if (!x.is("float32")) return refusal("only float32 is here");
    if (axes.count != 1 || axes.data[0] + 1 != x.rank()) return refusal("only the last axis is summed here");
    const auto rows = static_cast<std::size_t>(sums.count());
    if (rows > INT_MAX || x.count() == 0) return refusal("a grid has 1 to 2147483647 blocks, each with elements");
    return {.support = {.kernel = "row_sums", .contiguous_inputs = {0}}, .run = [=, this](const Launch& launch) {
              gpu_.add_up_rows(launch.pointer<const float>(x), launch.pointer<float>(sums), rows,
                               static_cast<std::size_t>(x.count()) / rows);
            }};
  }

 private:
  Gpu gpu_;
};

class RowSumsBackend final : public Backend {
 public:
  std::vector<DeviceDescription> devices() override {
    return {{.kind = FE_DEVICE_SOFTWARE,
             .flags = FE_DEVICE_FLAG_HOST_MEMORY,
             .name = "row_sums",
             .description = "adds up rows over the emulator",
             .borrow_alignment = 1}};
  }
  std::unique_ptr<Device> open(uint32_t, const Options&) override { return std::make_unique<RowSums>(); }
};

}  // namespace

FERRULE_BACKEND(RowSumsBackend)
