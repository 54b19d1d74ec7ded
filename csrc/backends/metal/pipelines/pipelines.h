// The compiled kernels of a device.
#pragma once

#include <ferrule/cpp/idle_cache.hpp>

#include <memory>
#include <string>

#include "device/physical_device.h"
#include "pipelines/binary_archive.h"

namespace ferrule::metal {

// A compiled kernel: an MTLComputePipelineState. It lives as long as the graphs that run it.
using PipelinePointer = std::shared_ptr<const Owned>;

// The source of a pipeline: one function of a library.
struct KernelSource {
  std::string text;      // of the library, with includes of embedded files (embedded_texts.h)
  std::string function;  // its name
  uint32_t threads = 1;  // in a threadgroup, at most
};

// Makes each pipeline once, and keeps the most recently used of those that no graph uses. Thread-safe.
class Pipelines {
 public:
  // `max_archive` is the largest archive of compiled pipelines on disk, in bytes; with 0 there is none.
  explicit Pipelines(const PhysicalDevice& device, uint64_t max_archive, size_t max_idle = 256)
      : device_(device), archive_(device, max_archive), pipelines_(max_idle) {}
  Pipelines(const Pipelines&) = delete;
  Pipelines& operator=(const Pipelines&) = delete;

  // Throws FE_INTERNAL, with the log of Metal's compiler, if the text does not compile, and FE_UNSUPPORTED if the
  // device cannot run it with so many threads, or not in simdgroups of 32.
  PipelinePointer get(const KernelSource& source);
  // Keeps the compiled code for the next process.
  void save() noexcept { archive_.save(); }

 private:
  PipelinePointer make(const KernelSource& source);

  const PhysicalDevice& device_;
  BinaryArchive archive_;
  sdk::IdleCache<Owned> pipelines_;
};

}  // namespace ferrule::metal
