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

char* pointer_of(fe_module_buffer* buffer, uint64_t offset) {
  return static_cast<char*>(reinterpret_cast<sdk::Buffer*>(buffer)->host_pointer()) + offset;
}

Memory::Memory(const fe_execution& execution) : launch_(execution), thread_limit_(limited(execution.thread_limit)) {}

char* Memory::scratch() const { return pointer_of(execution().scratch, execution().scratch_offset); }

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

}  // namespace ferrule::cpu
