// A fused body, compiled: straight-line code over blocks of elements that stay in the first-level cache.
//
// Block functions do not care where in an array their block begins, so neither the size of blocks nor the threads nor
// fusing itself changes a bit.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "operands.h"

namespace ferrule::cpu {

// Bytes of scratch memory for which an execution does not ask the core: that would take longer than what is computed in
// so little.
inline constexpr int64_t little_scratch = 12 << 10;

// The block function for an output of an op, or null.
const Block* find_block(std::string_view op, std::span<const DType> in, DType out, uint32_t output = 0);

class Body {
 public:
  struct Step {
    BlockFunction run;
    BlockRefusal refusal;
    const void* attributes;
    uint32_t in[3];
    uint32_t in_count;
    uint32_t out;
  };

  // Builds code value by value; `input` and `apply` return the number of the value. Inputs come first.
  uint32_t input(DType dtype);
  // Throws FE_UNSUPPORTED when there is no such block function, neither for these dtypes nor, for halves, in float32.
  uint32_t apply(std::string_view op, std::span<const uint32_t> in, DType dtype, const void* attributes,
                 uint32_t output = 0);
  void output(uint32_t value) { outputs_.push_back(value); }

  // Fixes the iteration shape and the inputs' strides over it, and assigns buffers. With `own`, input 0 is the result
  // of a kernel, given to `run_range`. Nothing may be added afterwards.
  void finish(std::span<const int64_t> shape, std::span<const Operand> inputs, bool own);

  // What each thread computes in.
  LocalScratch local_scratch() const;

  // Elements [first, first + count) of all outputs. in[0] is ignored when `own` is not null: that is the memory of
  // input 0 from element `first` on. `local` is the thread's part of what `local_scratch` asks for. Kernels call this,
  // through which nothing may be thrown: returns the error.
  fe_error* run_range(const char* const* in, char* const* out, int64_t first, int64_t count, const void* own,
                      char* local) const;
  // All elements, on the core's threads.
  void run(const char* const* in, char* const* out, uint32_t thread_limit, const LocalMemory& local) const;

  int64_t count() const { return count_; }
  DType output_dtype(size_t i) const { return dtypes_[outputs_[i]]; }
  DType dtype(uint32_t value) const { return dtypes_[value]; }

 private:
  enum class Access { flat, repeated, strided };
  struct Input {
    Access access = Access::flat;
    int32_t rank = 0;
    int64_t shape[FE_MAX_RANK];
    int64_t strides[FE_MAX_RANK];
    uint32_t slot = 0;  // of a repeated or strided one
  };

  uint32_t cast(uint32_t value, DType dtype);
  void load(const Input& input, size_t item_size, const char* from, int64_t first, int64_t count, char* buffer,
            const void** pointer) const;

  std::vector<DType> dtypes_;                             // of values
  std::map<std::pair<uint32_t, DType>, uint32_t> casts_;  // that halves need, by value and dtype
  std::vector<Step> steps_;
  std::vector<uint32_t> outputs_;
  std::vector<Input> inputs_;
  std::vector<uint32_t> slots_;  // of values: index of a buffer
  std::vector<int32_t> direct_;  // of values: the output that is written in place of a buffer, or -1
  uint32_t slot_count_ = 0;
  int64_t slot_bytes_ = 0;
  int64_t block_ = 0;
  int64_t count_ = 0;
};

}  // namespace ferrule::cpu
