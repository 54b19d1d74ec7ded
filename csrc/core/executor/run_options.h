// The choices of a caller for one run of an executable.
#pragma once

#include "core/cancel.h"
#include "core/memory/storage.h"

#include <cstddef>
#include <cstdint>
#include <memory>

namespace ferrule {

// Memory of the caller for an output; null = a new storage.
struct OutputMemory {
  void* pointer = nullptr;
  uint64_t size = 0;
};

// Gives the memory of an input to an output that is that input with some bytes changed.
class Donor {
 public:
  virtual ~Donor() = default;
  // The bytes of an input in a storage that nothing else references; null if they are shared: the run then reads them
  // and writes elsewhere. `holders`: how many references to the input's storage the run and its inputs have.
  virtual std::shared_ptr<Storage> take(std::size_t input, long holders) = 0;
  // Called when the run fails; `has_written`: it may have written results.
  virtual void failed(bool has_written) noexcept = 0;
};

// Options of a run.
struct RunOptions {
  Cancel cancel = {};
  uint32_t thread_limit = 0;  // maximum number of threads; 0 = all
  Donor* donor = nullptr;
};

}  // namespace ferrule
