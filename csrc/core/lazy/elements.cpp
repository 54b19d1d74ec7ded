#include "core/lazy/elements.h"

#include "core/copy/strided_array.h"
#include "core/registry/device.h"

#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace ferrule {
namespace {

// Whether the host can read the memory at once. What a file lacks since it was cut ends the process, so that files are
// left to code that looks.
bool is_readable(const StridedArray& of) {
  const Storage* const storage = of.data.storage.get();
  return storage && storage->host_pointer() && !storage->has_uses() && !storage->is_mapped_file() &&
         !is_block(of.type.dtype);
}

std::byte* address_of(const StridedArray& of, std::span<const int64_t> indices) {
  int64_t offset = of.data.offset;
  for (std::size_t axis = 0; axis < indices.size(); ++axis)
    offset += indices[axis] * of.data.strides[static_cast<int>(axis)];
  return static_cast<std::byte*>(of.data.storage->host_pointer()) + bytes_of(of.type.dtype, offset);
}

// Empty if it is not computed, or not readable. Throws if the device is lost or the parent process's.
std::optional<StridedArray> readable(const Array& array) {
  if (array.state() != Array::State::computed) return std::nullopt;
  std::optional<StridedArray> view = array.strided_array_unless_donated();
  if (!view || !is_readable(*view)) return std::nullopt;
  array.device()->open();
  return view;
}

fe_scalar read(const StridedArray& from, std::span<const int64_t> indices) {
  fe_scalar value{};
  std::memcpy(value.bytes, address_of(from, indices), static_cast<std::size_t>(bytes_of(from.type.dtype, 1)));
  return value;
}

}  // namespace

ArrayPointer element_of(const Array& array, std::span<const int64_t> indices) {
  const std::optional<StridedArray> view = readable(array);
  return view ? Array::scalar(array.type().dtype, array.device(), read(*view, indices)) : nullptr;
}

std::optional<fe_scalar> number_of(const Array& array) {
  if (array.state() == Array::State::scalar) return array.scalar_value();
  const std::optional<StridedArray> view = readable(array);
  if (!view) return std::nullopt;
  return read(*view, {});  // the offset is that of the first element
}

ArrayPointer with_element(const ArrayPointer& array, std::span<const int64_t> indices, fe_scalar value) {
  const fe_scalar checked = checked_scalar(array->type().dtype, value);
  {
    const std::optional<StridedArray> view = readable(*array);
    if (!view || !is_contiguous(view->type.shape, view->data.strides)) return nullptr;
    const Storage& storage = *view->data.storage;
    if (storage.origin() != Storage::Origin::allocated || storage.is_part() || !storage.writable()) return nullptr;
  }
  const int64_t offset = array->strided_array().data.offset;
  const std::shared_ptr<Storage> memory = array->donate_storage(1, 0);
  if (!memory) return nullptr;
  try {
    ArrayPointer made = Array::computed(array->type(), array->device(), {memory, offset, array->strides()}, {});
    const StridedArray to = made->strided_array();
    std::memcpy(address_of(to, indices), checked.bytes, static_cast<std::size_t>(bytes_of(to.type.dtype, 1)));
    return made;
  } catch (...) {
    array->return_storage(memory);
    throw;
  }
}

}  // namespace ferrule
