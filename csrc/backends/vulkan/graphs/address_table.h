// The addresses of a graph's values in one execution.
#pragma once

#include <ferrule/backend.hpp>

#include <cstdint>
#include <vector>

#include "buffers/allocation_set.h"

namespace ferrule::vulkan {

// The table that shaders find at `push.addresses`: the address of each value's first element, of the scratch memory and
// of the fault record, followed by the scalars.
class AddressTable {
 public:
  explicit AddressTable(const fe_graph_view& view) : places_(view), scalar_count_(view.scalar_count) {}

  uint64_t size() const { return scalars_at() + sizeof(fe_scalar) * scalar_count_; }  // bytes
  uint32_t scratch_index() const { return static_cast<uint32_t>(places_.count()); }
  uint32_t fault_index() const { return scratch_index() + 1; }
  // The table of one execution, whose fault record is at `fault`, for a copy of the table at `address`.
  std::vector<std::byte> filled(const fe_execution& execution, uint64_t address, uint64_t fault) const;
  // The memory that an execution uses.
  AllocationSet touched_by(const fe_execution& execution) const;

 private:
  uint64_t scalars_at() const { return 8 * (places_.count() + 2); }

  sdk::ValuePlaces places_;
  uint32_t scalar_count_;
};

}  // namespace ferrule::vulkan
