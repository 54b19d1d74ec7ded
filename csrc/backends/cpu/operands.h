// Converts the values of a graph view to operands of kernels: dtypes as an enum, and addresses found at execution.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/dtypes.hpp>

#include <optional>
#include <span>

#include "kernel.h"

namespace ferrule::cpu {

// DType::count for an unknown dtype.
DType dtype_from(fe_dtype id);
fe_dtype id_of(DType dtype);
size_t size_of(DType dtype);
// Null for DType::count.
inline const sdk::DTypeInfo* row_of(DType dtype) {
  return dtype == DType::count ? nullptr : &sdk::dtype_table[static_cast<size_t>(dtype)];
}
inline bool is_half(DType dtype) { return dtype != DType::count && row_of(dtype)->is_half(); }
// Whether elementwise ops compute the dtype in float32.
inline bool is_narrow(DType dtype) { return dtype != DType::count && (is_half(dtype) || row_of(dtype)->is_float8()); }
inline bool is_block(DType dtype) { return dtype != DType::count && row_of(dtype)->is_block(); }

// The place of an operand's first element.
struct Address {
  std::optional<sdk::ValuePlace> value = {};  // none if it is in the step's scratch memory
  uint64_t scratch = 0;                       // bytes from the start of that
};

// The memory of one execution.
class Memory {
 public:
  explicit Memory(const fe_execution& execution);
  char* operator()(const sdk::ValuePlace& value) const { return launch_.pointer(value); }
  char* scratch() const;
  const fe_execution& execution() const { return launch_.execution(); }
  uint32_t thread_limit() const { return thread_limit_; }  // for parallel_for; 0 = all

 private:
  sdk::Launch launch_;
  uint32_t thread_limit_;
};

char* pointer_of(fe_module_buffer* buffer, uint64_t offset);

// The operand of a value, without its data pointer.
Operand operand_of(const fe_graph_view& view, uint32_t value);

inline std::span<const int64_t> shape_of(const Operand& operand) {
  return {operand.shape, static_cast<size_t>(operand.rank)};
}
inline int64_t element_count(const Operand& operand) {
  int64_t n = 1;
  for (int32_t i = 0; i < operand.rank; ++i) n *= operand.shape[i];
  return n;
}

}  // namespace ferrule::cpu
