// A compiled fused body: straight-line code over blocks of elements that stay in the first-level cache.
//
// The result of an elementwise kernel does not depend on where in an array its block begins, so neither block size nor
// threads nor fusing changes a bit of the results.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operands.h"

namespace ferrule::cpu {

// Largest scratch memory, in bytes, that an execution takes from the stack. Asking the core for it would take longer
// than such a small computation.
inline constexpr int64_t little_scratch = 12 << 10;

// The elementwise kernel for an output of an op; null if there is none.
const ElementwiseKernel* find_elementwise_kernel(std::string_view op, std::span<const DType> in, DType out,
                                                 uint32_t output = 0);

class Body {
 public:
  struct Step {
    ElementwiseFunction run;
    ElementwiseRefusal refusal;
    const void* attributes;
    uint32_t in[3];
    uint32_t in_count;
    uint32_t out;
  };

  // Builds the code value by value; `input` and `apply` return the number of the value. Add all inputs first.
  uint32_t input(DType dtype);
  // Throws FE_UNSUPPORTED if there is no elementwise kernel for these dtypes nor, for half dtypes, in float32.
  uint32_t apply(std::string_view op, std::span<const uint32_t> in, DType dtype, const void* attributes,
                 uint32_t output = 0);
  void output(uint32_t value) { outputs_.push_back(value); }

  // Sets the iteration shape and the inputs' strides over it, and assigns buffers. With `own`, input 0 is the result of
  // a kernel, which `run_range` receives. Nothing may be added afterwards.
  void finish(std::span<const int64_t> shape, std::span<const Operand> inputs, bool own);

  // Scratch memory of each thread.
  LocalScratch local_scratch() const;

  // Computes elements [first, first + count) of all outputs. `own`: if not null, input 0 from element `first` on, and
  // in[0] is ignored. `local`: the thread's part of the memory that `local_scratch` describes. `begin`: the element at
  // which the memory of the outputs begins. Returns errors instead of throwing, because kernels call it.
  fe_error* run_range(const char* const* in, char* const* out, int64_t first, int64_t count, const void* own,
                      char* local, int64_t begin = 0) const;
  // Computes all elements on the core's threads.
  void run(const char* const* in, char* const* out, uint32_t thread_limit, const LocalMemory& local) const;

  int64_t count() const { return count_; }
  DType output_dtype(size_t i) const { return dtypes_[outputs_[i]]; }
  DType dtype(uint32_t value) const { return dtypes_[value]; }

 private:
  enum class Access { flat, repeated, strided };
  struct Input {
    Access access = Access::flat;
    uint32_t rank = 0;
    int64_t shape[FE_MAX_RANK];  // the last axis first
    int64_t strides[FE_MAX_RANK];
    uint32_t slot = 0;  // buffer of a repeated or strided input
  };

  uint32_t cast(uint32_t value, DType dtype);
  // The parts of finish(), in their order.
  void choose_access(Input& input, std::span<const int64_t> shape, const Operand& operand) const;
  void choose_direct_output();
  void assign_slots();
  void choose_block_size();
  void load(const Input& input, size_t item_size, const char* from, int64_t first, int64_t count, char* buffer,
            const void** pointer) const;

  std::vector<DType> dtypes_;                             // per value
  std::map<std::pair<uint32_t, DType>, uint32_t> casts_;  // conversions of half values, by value and dtype
  std::vector<Step> steps_;
  std::vector<uint32_t> outputs_;
  std::vector<Input> inputs_;
  std::vector<uint32_t> slots_;  // per value: index of its buffer
  std::vector<int32_t> direct_;  // per value: the output that is written instead of a buffer, or -1
  uint32_t slot_count_ = 0;
  int64_t slot_bytes_ = 0;
  int64_t block_ = 0;
  int64_t count_ = 0;
};

}  // namespace ferrule::cpu
