#include "graphs/address_table.h"

#include <cstring>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {

std::vector<std::byte> AddressTable::filled(const fe_execution& execution, uint64_t address, uint64_t fault) const {
  std::vector<std::byte> table(size());
  const auto put = [&](std::size_t index, uint64_t entry) { std::memcpy(table.data() + 8 * index, &entry, 8); };
  const auto address_in = [](fe_module_buffer* buffer, uint64_t offset) {
    return buffer != nullptr ? buffer_of(buffer).address() + offset : 0;
  };
  for (std::size_t i = 0; i < places_.count(); ++i) {
    const uint64_t offset = places_[i].offset(execution);
    put(i, places_[i].is_scalar() ? address + scalars_at() + offset : address_in(places_[i].buffer(execution), offset));
  }
  put(scratch_index(), address_in(execution.scratch, execution.scratch_offset));
  put(fault_index(), fault);
  if (scalar_count_ > 0) std::memcpy(table.data() + scalars_at(), execution.scalars, sizeof(fe_scalar) * scalar_count_);
  return table;
}

AllocationSet AddressTable::touched_by(const fe_execution& execution) const {
  AllocationSet touched;
  for (fe_module_buffer* const buffer : places_.buffers(execution)) touched.add(buffer_of(buffer).allocation());
  return touched;
}

}  // namespace ferrule::vulkan
