#include "graphs/address_table.h"

#include <cstring>

#include "buffers/device_memory.h"

namespace ferrule::vulkan {
namespace {

uint64_t address_of(fe_module_buffer* buffer, uint64_t offset) { return buffer_of(buffer).address() + offset; }

}  // namespace

AddressTable::AddressTable(const fe_graph_view& view) : scalar_count_(view.scalar_count) {
  for (uint32_t i = 0; i < view.value_count; ++i) {
    const fe_value& value = *view.values[i];
    const fe_storage& storage = *view.storages[value.storage];
    const fe_dtype_info* const dtype = sdk::host->dtype_info(value.dtype);
    const uint64_t begin = storage.kind == FE_STORAGE_TEMPORARY ? storage.offset : 0;
    values_.push_back({static_cast<fe_storage_kind>(storage.kind), storage.binding,
                       begin + static_cast<uint64_t>(fe_bytes_of(dtype, value.offset)), value.offset_slot, dtype});
    if (storage.kind != FE_STORAGE_TEMPORARY && storage.kind != FE_STORAGE_SCALAR) bindings_.insert(storage.binding);
  }
}

std::vector<std::byte> AddressTable::filled(const fe_execution& execution, uint64_t address, uint64_t fault) const {
  std::vector<std::byte> table(size());
  const auto put = [&](std::size_t index, uint64_t entry) { std::memcpy(table.data() + 8 * index, &entry, 8); };
  const auto storage_of = [&](const Value& value) {
    // Temporaries without elements need no workspace.
    if (value.kind == FE_STORAGE_TEMPORARY)
      return execution.workspace ? address_of(execution.workspace, execution.workspace_offset) : 0;
    if (value.kind == FE_STORAGE_SCALAR) return address + scalars_at() + sizeof(fe_scalar) * value.binding;
    const fe_binding& binding = *fe_binding_at(&execution, value.binding);
    return address_of(binding.buffer, binding.offset);
  };
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Value& value = values_[i];
    const int64_t moved = value.offset_slot >= 0 ? execution.offsets[value.offset_slot] : 0;
    put(i, storage_of(value) + value.offset + static_cast<uint64_t>(fe_bytes_of(value.dtype, moved)));
  }
  put(scratch_index(), execution.scratch ? address_of(execution.scratch, execution.scratch_offset) : 0);
  put(fault_index(), fault);
  if (scalar_count_ > 0) std::memcpy(table.data() + scalars_at(), execution.scalars, sizeof(fe_scalar) * scalar_count_);
  return table;
}

AllocationSet AddressTable::touched_by(const fe_execution& execution) const {
  AllocationSet touched;
  for (const uint32_t binding : bindings_)
    touched.add(buffer_of(fe_binding_at(&execution, binding)->buffer).allocation());
  for (fe_module_buffer* const buffer : {execution.workspace, execution.scratch})
    if (buffer != nullptr) touched.add(buffer_of(buffer).allocation());
  return touched;
}

}  // namespace ferrule::vulkan
