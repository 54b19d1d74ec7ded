// Checks storages and values of a graph view against graph_view.h. See check.hpp.
#ifndef FERRULE_CPP_CHECK_VALUE_HPP
#define FERRULE_CPP_CHECK_VALUE_HPP

#include <ferrule/cpp/error.hpp>
#include <ferrule/op_table.hpp>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <string>

namespace ferrule::sdk::checks {

[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(FE_INVALID_ARGUMENT, sentence); }

inline std::string number(const char* what, uint64_t index) { return std::string(what) + " " + std::to_string(index); }

// Returns the pointer; throws if it is null.
template <class Pointer>
Pointer present(Pointer pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is null");
  return pointer;
}

// Returns the struct; throws if it is null or smaller than `size` bytes, which are its fields of the first minor.
template <class Struct>
const Struct& whole(const Struct* given, size_t size, const char* what) {
  if (present(given, what)->struct_size < size)
    refuse(std::string(what) + " has a struct_size of " + std::to_string(given->struct_size) + ", less than the " +
           std::to_string(size) + " bytes of its fields");
  return *given;
}

#define FE_SIZE_UNTIL(type, field) (offsetof(type, field) + sizeof(type::field))
inline const fe_graph_view& whole(const fe_graph_view* view) {
  const fe_graph_view& found = whole(view, FE_SIZE_UNTIL(fe_graph_view, workspace_alignment), "the view");
  if (found.storage_count > 0) present(found.storages, "the list of storages");
  if (found.value_count > 0) present(found.values, "the list of values");
  if (found.node_count > 0) present(found.nodes, "the list of nodes");
  return found;
}
inline const fe_storage& whole(const fe_storage* storage) {
  return whole(storage, FE_SIZE_UNTIL(fe_storage, prepared), "a storage");
}
inline const fe_value& whole(const fe_value* value) { return whole(value, FE_SIZE_UNTIL(fe_value, offset), "a value"); }
inline const fe_node& whole(const fe_node* node) {
  return whole(node, FE_SIZE_UNTIL(fe_node, body), "a node");  // NOLINT(bugprone-sizeof-expression): body is a pointer
}
inline const fe_body& whole(const fe_body* body) { return whole(body, FE_SIZE_UNTIL(fe_body, outputs), "the body"); }
inline const fe_instruction& whole(const fe_instruction* instruction) {
  return whole(instruction, FE_SIZE_UNTIL(fe_instruction, output), "an instruction");
}
inline const fe_binding& whole(const fe_binding* binding) {
  return whole(binding, FE_SIZE_UNTIL(fe_binding, generation), "a binding");
}
inline const fe_execution& whole(const fe_execution* execution) {
  return whole(execution, FE_SIZE_UNTIL(fe_execution, trace_argument), "the execution");
}
inline const fe_strided_copy& whole(const fe_strided_copy* copy) {
  return whole(copy, offsetof(fe_strided_copy, from_strides) + sizeof(copy->from_strides), "the strided copy");
}
inline const fe_native_memory& whole(const fe_native_memory* memory) {
  return whole(memory, FE_SIZE_UNTIL(fe_native_memory, offset), "the memory to import");
}
#undef FE_SIZE_UNTIL

inline const DTypeInfo* find_dtype(fe_dtype id) {
  const char* const name = host->dtype_name(id);
  if (name == nullptr) refuse(std::to_string(id) + " is the id of no dtype");
  return sdk::find_dtype(name);  // null if it is newer than these headers: no kernel of this module supports it
}

inline std::string dtype_word(fe_dtype id) {
  const char* const name = host->dtype_name(id);
  return name ? name : "no dtype";
}

// ---- storages and values

inline const fe_storage& check_storage(const fe_graph_view& view, uint32_t index) {
  if (index >= view.storage_count) refuse(number("there is no storage", index));
  const fe_storage& storage = whole(view.storages[index]);
  const bool is_scalar = storage.kind == FE_STORAGE_SCALAR;
  switch (storage.kind) {
    case FE_STORAGE_TEMPORARY:
      if (storage.offset > view.workspace_size || storage.size > view.workspace_size - storage.offset)
        refuse(number("storage", index) + " reaches past the workspace of " + std::to_string(view.workspace_size) +
               " bytes");
      return storage;
    case FE_STORAGE_INPUT:
    case FE_STORAGE_OUTPUT:
    case FE_STORAGE_CONSTANT:
    case FE_STORAGE_SCALAR:
      if (storage.binding >= (is_scalar ? view.scalar_count : view.binding_count))
        refuse(number("storage", index) + ": " +
               number(is_scalar ? "there is no scalar" : "there is no binding", storage.binding));
      if (is_scalar && storage.size > sizeof(fe_scalar)) refuse(number("storage", index) + " is larger than a scalar");
      return storage;
    default:
      refuse(number("storage", index) + ": " + number("there is no kind", storage.kind));
  }
}

inline std::span<const int64_t> shape_of(const fe_value& value) {
  return {value.shape, static_cast<size_t>(value.rank)};
}

// An integer whose sums and products record an overflow in `fits`.
struct Exact {
  int64_t value;
  bool fits = true;
  void add(int64_t other) {
    if (other > 0 ? value > std::numeric_limits<int64_t>::max() - other
                  : value < std::numeric_limits<int64_t>::min() - other)
      fits = false;
    else
      value += other;
  }
  void multiply(int64_t other) {  // `other` is not negative
    constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
    if (other != 0 && (value > most / other || value < least / other))
      fits = false;
    else
      value *= other;
  }
};

// Memory layout of a dtype; throws for an unknown id.
inline const fe_dtype_info& info_of(fe_dtype dtype) {
  const fe_dtype_info* const info = host->dtype_info(dtype);
  if (info == nullptr) refuse(std::to_string(dtype) + " is the id of no dtype");
  return *info;
}

// Number of elements of a shape. Throws if a size is negative or the number of bytes overflows.
inline int64_t count_of(std::span<const int64_t> shape, const fe_dtype_info& dtype) {
  for (const int64_t size : shape)
    if (size < 0) refuse("a size is negative: " + std::to_string(size));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  Exact bytes{dtype.block_bytes};
  for (const int64_t size : shape) bytes.multiply(size);
  if (!bytes.fits) refuse("a shape has more bytes than can be counted");
  return bytes.value / dtype.block_bytes;
}

// Throws unless a value of a block dtype has whole, contiguous blocks along its last axis.
inline void check_blocks(const fe_value& value, const fe_dtype_info& dtype, int64_t count) {
  const int64_t block = dtype.block_elements;
  if (block == 1) return;
  const std::string name = dtype.name;
  const int32_t last = value.rank - 1;
  if (last < 0 || value.shape[last] % block != 0) refuse("the last axis is not a whole number of blocks of " + name);
  if (count == 0) return;
  if (value.shape[last] > 1 && value.strides[last] != 1) refuse("the last axis of " + name + " is not contiguous");
  for (int32_t axis = 0; axis < last; ++axis)
    if (value.shape[axis] > 1 && value.strides[axis] % block != 0) refuse("a stride of " + name + " is not of blocks");
  if (value.offset % block != 0) refuse("the offset of " + name + " is not of blocks");
}

// Range of bytes of the storage that the elements of a value occupy, without its dynamic offset.
struct Reach {
  int64_t first = 0, end = 0;
};

inline Reach reach_of(const fe_value& value, const fe_dtype_info& dtype, int64_t count) {
  if (count == 0) return {};
  Exact first{value.offset}, last{value.offset};
  for (int32_t axis = 0; axis < value.rank; ++axis) {
    const int64_t stride = value.strides[axis];
    if (stride == std::numeric_limits<int64_t>::min()) refuse("a stride is too large");
    Exact span{stride};
    span.multiply(value.shape[axis] - 1);
    if (!span.fits) refuse("the strides reach further than can be counted");
    (stride < 0 ? first : last).add(span.value);
  }
  last.add(1);
  Exact first_bytes = first, last_bytes = last;
  first_bytes.multiply(dtype.block_bytes);
  last_bytes.multiply(dtype.block_bytes);
  if (!first_bytes.fits || !last_bytes.fits) refuse("the strides reach further than can be counted");
  return {fe_bytes_of(&dtype, first.value), fe_bytes_of(&dtype, last.value)};
}

inline void check_contiguous(const fe_value& value, int64_t count) {
  if (count == 0) return;
  int64_t expected = 1;
  for (int32_t axis = value.rank; axis-- > 0; expected *= value.shape[axis])
    if (value.shape[axis] != 1 && value.strides[axis] != expected) refuse("an output is not C-contiguous");
}

inline const fe_value& check_value(const fe_graph_view& view, uint32_t index, bool is_output) {
  if (index >= view.value_count) refuse(number("there is no value", index));
  const fe_value& value = whole(view.values[index]);
  if (value.rank < 0 || value.rank > FE_MAX_RANK) refuse("a rank of " + std::to_string(value.rank));
  if (value.rank > 0) {
    present(value.shape, "a shape");
    present(value.strides, "the list of strides");
  }
  const fe_dtype_info& dtype = info_of(value.dtype);
  const int64_t count = count_of(shape_of(value), dtype);
  check_blocks(value, dtype, count);
  if (value.offset_slot < -1 ||
      (value.offset_slot >= 0 && static_cast<uint32_t>(value.offset_slot) >= view.offset_count))
    refuse("there is no offset " + std::to_string(value.offset_slot));
  const fe_storage& storage = check_storage(view, value.storage);
  if (is_output) {
    if (storage.kind != FE_STORAGE_OUTPUT && storage.kind != FE_STORAGE_TEMPORARY)
      refuse("an output is in read-only storage");
    check_contiguous(value, count);
  }
  if (storage.kind == FE_STORAGE_CONSTANT && storage.prepared != 0) return value;
  const Reach reach = reach_of(value, dtype, count);
  const auto size = static_cast<uint64_t>(reach.end - reach.first);
  const bool moves = value.offset_slot >= 0;
  if (moves ? size > storage.size : reach.first < 0 || static_cast<uint64_t>(reach.end) > storage.size)
    refuse("the elements of " + number("value", index) + " lie outside its storage of " + std::to_string(storage.size) +
           " bytes");
  return value;
}

}  // namespace ferrule::sdk::checks

#endif
