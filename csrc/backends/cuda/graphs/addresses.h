// The addresses of a graph's values in one execution.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <vector>

namespace ferrule::cuda {

class Addresses {
 public:
  explicit Addresses(const fe_graph_view& view);

  bool is_scalar(uint32_t value) const { return values_[value].kind == FE_STORAGE_SCALAR; }
  // Index of a scalar value in fe_execution.scalars.
  uint32_t scalar(uint32_t value) const { return values_[value].binding; }
  // Address of the first element of a value. `scalars` is the address of the execution's scalars in device memory.
  uint64_t of(uint32_t value, const fe_execution& execution, uint64_t scalars) const;

 private:
  struct Value {
    fe_storage_kind kind;
    uint32_t binding;
    uint64_t offset;  // bytes from the start of the storage or, for temporaries, of the workspace
    int32_t offset_slot;
    const fe_dtype_info* dtype;
  };
  std::vector<Value> values_;
};

}  // namespace ferrule::cuda
