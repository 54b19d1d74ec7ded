#include "graphs/addresses.h"

#include "memory/buffer.h"

namespace ferrule::cuda {

Addresses::Addresses(const fe_graph_view& view) {
  values_.reserve(view.value_count);
  for (uint32_t i = 0; i < view.value_count; ++i) {
    const fe_value& value = *view.values[i];
    const fe_storage& storage = *view.storages[value.storage];
    const fe_dtype_info* const dtype = sdk::host->dtype_info(value.dtype);
    const uint64_t begin = storage.kind == FE_STORAGE_TEMPORARY ? storage.offset : 0;
    values_.push_back({static_cast<fe_storage_kind>(storage.kind), storage.binding,
                       begin + static_cast<uint64_t>(fe_bytes_of(dtype, value.offset)), value.offset_slot, dtype});
  }
}

uint64_t Addresses::of(uint32_t which, const fe_execution& execution, uint64_t scalars) const {
  const Value& value = values_[which];
  uint64_t address = value.offset;
  if (value.offset_slot >= 0)
    address += static_cast<uint64_t>(fe_bytes_of(value.dtype, execution.offsets[value.offset_slot]));
  if (value.kind == FE_STORAGE_SCALAR) return address + scalars + sizeof(fe_scalar) * value.binding;
  if (value.kind == FE_STORAGE_TEMPORARY) {
    // Temporaries without elements need no workspace.
    if (execution.workspace == nullptr) return 0;
    return address + buffer_of(execution.workspace).address() + execution.workspace_offset;
  }
  const fe_binding& binding = *fe_binding_at(&execution, value.binding);
  return address + buffer_of(binding.buffer).address() + binding.offset;
}

}  // namespace ferrule::cuda
