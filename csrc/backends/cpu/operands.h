// Converts the values of a graph view to operands of kernels: dtypes as an enum, and addresses found at execution.
#pragma once

#include <ferrule/backend.hpp>
#include <ferrule/cpp/dtypes.hpp>

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

// The place of an operand's first element, relative to the memory that an execution binds.
struct Address {
  uint32_t kind = FE_STORAGE_TEMPORARY;  // fe_storage_kind, or in_scratch
  uint32_t binding = 0;
  int32_t offset_slot = -1;
  const fe_dtype_info* dtype = nullptr;
  int64_t bytes = 0;  // from the start of the storage

  static constexpr uint32_t in_scratch = 100;
};

// The memory of one execution.
class Memory {
 public:
  explicit Memory(const fe_execution& execution);
  char* operator()(const Address& address) const;  // the address must not be in scratch memory
  char* scratch() const { return scratch_; }
  const fe_execution& execution() const { return *execution_; }
  uint32_t thread_limit() const { return thread_limit_; }  // for parallel_for; 0 = all

 private:
  const fe_execution* execution_;
  uint32_t thread_limit_ = 0;
  char* workspace_ = nullptr;
  char* scratch_ = nullptr;
};

char* pointer_of(const fe_binding& binding);

// The operand of a value, without its data pointer; and its address.
Operand operand_of(const fe_graph_view& view, uint32_t value);
Address address_of(const fe_graph_view& view, uint32_t value);

inline std::span<const int64_t> shape_of(const Operand& operand) {
  return {operand.shape, static_cast<size_t>(operand.rank)};
}
inline int64_t element_count(const Operand& operand) {
  int64_t n = 1;
  for (int32_t i = 0; i < operand.rank; ++i) n *= operand.shape[i];
  return n;
}

}  // namespace ferrule::cpu
