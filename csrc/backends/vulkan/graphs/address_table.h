// The addresses of a graph's values in one execution.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "buffers/allocation_set.h"

namespace ferrule::vulkan {

// The table that shaders find at `push.addresses`: the address of each value's first element, of the scratch memory and
// of the fault record, followed by the scalars.
class AddressTable {
 public:
  explicit AddressTable(const fe_graph_view& view);

  uint64_t size() const { return scalars_at() + sizeof(fe_scalar) * scalar_count_; }  // bytes
  uint32_t scratch_index() const { return static_cast<uint32_t>(values_.size()); }
  uint32_t fault_index() const { return scratch_index() + 1; }
  // The table of one execution, whose fault record is at `fault`, for a copy of the table at `address`.
  std::vector<std::byte> filled(const fe_execution& execution, uint64_t address, uint64_t fault) const;
  // The memory that an execution uses.
  AllocationSet touched_by(const fe_execution& execution) const;

 private:
  struct Value {
    fe_storage_kind kind;
    uint32_t binding;
    uint64_t offset;  // bytes from the start of the storage or, for temporaries, of the workspace
    int32_t offset_slot;
    const fe_dtype_info* dtype;
  };
  uint64_t scalars_at() const { return 8 * (values_.size() + 2); }

  std::vector<Value> values_;
  std::set<uint32_t> bindings_;
  uint32_t scalar_count_;
};

}  // namespace ferrule::vulkan
