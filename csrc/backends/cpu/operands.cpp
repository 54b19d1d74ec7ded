#include "operands.h"

#include <array>

#include "procs.h"

namespace ferrule::cpu {
namespace {

constexpr size_t dtype_count = static_cast<size_t>(DType::count);

// Ids are constant during the process, so they are looked up once.
const std::array<fe_dtype, dtype_count>& ids() {
  static const auto table = [] {
    std::array<fe_dtype, dtype_count> t{};
    for (size_t i = 0; i < dtype_count; ++i) t[i] = sdk::host->dtype_id(sdk::dtype_table[i].name);
    return t;
  }();
  return table;
}

}  // namespace

DType dtype_from(fe_dtype id) {
  for (size_t i = 0; i < dtype_count; ++i)
    if (ids()[i] == id && id != 0) return static_cast<DType>(i);
  return DType::count;
}

fe_dtype id_of(DType dtype) { return ids()[static_cast<size_t>(dtype)]; }

size_t size_of(DType dtype) { return dtype == DType::count ? 0 : row_of(dtype)->block_bytes; }

char* pointer_of(const fe_binding& binding) {
  return static_cast<char*>(reinterpret_cast<sdk::Buffer*>(binding.buffer)->host_pointer()) + binding.offset;
}

Memory::Memory(const fe_execution& execution) : execution_(&execution), thread_limit_(limited(execution.thread_limit)) {
  const auto bytes = [](fe_module_buffer* buffer, uint64_t offset) {
    return buffer ? static_cast<char*>(reinterpret_cast<sdk::Buffer*>(buffer)->host_pointer()) + offset : nullptr;
  };
  workspace_ = bytes(execution.workspace, execution.workspace_offset);
  scratch_ = bytes(execution.scratch, execution.scratch_offset);
}

char* Memory::operator()(const Address& address) const {
  int64_t at = address.bytes;
  if (address.offset_slot >= 0) at += fe_bytes_of(address.dtype, execution_->offsets[address.offset_slot]);
  switch (address.kind) {
    case FE_STORAGE_TEMPORARY:
      return workspace_ + at;
    case FE_STORAGE_SCALAR:
      return const_cast<char*>(reinterpret_cast<const char*>(execution_->scalars + address.binding)) + at;
    default:
      return pointer_of(*fe_binding_at(execution_, address.binding)) + at;
  }
}

Operand operand_of(const fe_graph_view& view, uint32_t index) {
  const fe_value& value = *view.values[index];
  Operand operand{};
  operand.dtype = dtype_from(value.dtype);
  operand.item_size = static_cast<uint16_t>(sdk::host->dtype_info(value.dtype)->block_bytes);
  operand.rank = value.rank;
  std::copy_n(value.shape, value.rank, operand.shape);
  std::copy_n(value.strides, value.rank, operand.strides);
  operand.prepared = view.storages[value.storage]->prepared != 0;
  return operand;
}

Address address_of(const fe_graph_view& view, uint32_t index) {
  const fe_value& value = *view.values[index];
  const fe_storage& storage = *view.storages[value.storage];
  Address address;
  address.kind = storage.kind;
  address.binding = storage.binding;
  address.offset_slot = value.offset_slot;
  address.dtype = sdk::host->dtype_info(value.dtype);
  address.bytes = fe_bytes_of(address.dtype, value.offset);
  if (storage.kind == FE_STORAGE_TEMPORARY) address.bytes += static_cast<int64_t>(storage.offset);
  // A prepared form has no offset: it begins at its binding.
  if (storage.prepared != 0) {
    address.bytes = 0;
    address.offset_slot = -1;
  }
  return address;
}

}  // namespace ferrule::cpu
