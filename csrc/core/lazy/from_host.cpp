#include "core/lazy/from_host.h"

#include "core/copy/transfer.h"
#include "core/error.h"
#include "core/lazy/queued_releases.h"
#include "core/registry/device.h"

#include <algorithm>
#include <cstring>

namespace ferrule {
namespace {

// No library has larger memory, or memory at lower addresses: a description of such memory is false. Reading it would
// end the process.
constexpr int64_t largest_memory = int64_t{1} << 48;
constexpr uintptr_t lowest_address = 4096;

// Bytes that a strided array spans before its first element, and from there on.
Reach bytes_touched(const void* first, const TensorType& type, const Strides& byte_strides) {
  Shape blocks = type.shape;
  if (block_elements(type.dtype) != 1) blocks[blocks.rank() - 1] /= block_elements(type.dtype);
  const Reach reach = reach_of(blocks, byte_strides);
  const int64_t block = block_bytes(type.dtype);
  const auto address = reinterpret_cast<uintptr_t>(first);
  if (address < lowest_address) fail_argument("there is no memory of {} at address {:#x}", to_string(type), address);
  if (reach.before > largest_memory || reach.after > largest_memory - reach.before - block ||
      static_cast<uintptr_t>(reach.before) > address - lowest_address ||
      static_cast<uintptr_t>(reach.after + block) > UINTPTR_MAX - address)
    fail_argument("shape {} with strides {} (bytes) reaches further than memory", to_string(type.shape),
                  to_string(byte_strides));
  return {reach.before, reach.after + block};
}

// Byte strides of memory from outside. The strides of axes with one element, which may be arbitrary, become 0.
Strides byte_strides_of(const TensorType& type, const int64_t* given) {
  const int rank = type.shape.rank(), last = block_elements(type.dtype) == 1 ? -1 : rank - 1;
  Strides strides = byte_strides_of(type.dtype, contiguous_strides(type.shape));
  for (int axis = 0; given && axis < rank; ++axis) {
    if (axis == last && given[axis] != strides[axis])
      fail_argument("the last axis of {} is contiguous: its stride is the {} bytes of a block, not {}", to_string(type),
                    strides[axis], given[axis]);
    strides[axis] = type.shape[axis] == 1 ? 0 : given[axis];
  }
  return strides;
}

// Strides in elements. If a byte stride is not a multiple of the block, `why` says so.
Strides element_strides(const TensorType& type, const Strides& byte_strides, std::string& why) {
  const int64_t block = block_bytes(type.dtype), elements = block_elements(type.dtype);
  Strides strides;
  for (int axis = 0; axis < byte_strides.rank(); ++axis) {
    const bool is_row_of_blocks = elements != 1 && axis + 1 == byte_strides.rank();
    strides.push_back(is_row_of_blocks ? 1 : byte_strides[axis] / block * elements);
    if (byte_strides[axis] % block != 0)
      why = fmt::format("a stride of {} bytes is not a multiple of the item's {}", byte_strides[axis], block);
  }
  return strides;
}

// Null, with the reason in `why`, if the device refuses, for example because it cannot map the memory.
std::shared_ptr<Storage> try_borrow(const std::shared_ptr<Device>& device, void* low, uint64_t size,
                                    const TensorType& type, fe_access access, const std::shared_ptr<void>& owner,
                                    std::string& why) {
  try {
    return Storage::borrow(device, low, size, access, owner, type);
  } catch (const Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
    why = error.what();
    return nullptr;
  }
}

// A range of memory that a device borrows.
struct BorrowedRange {
  std::byte* low;
  uint64_t size;
};

// The range that the device borrows for those bytes: extended to its alignment, if the mapping contains that much and
// the range then starts at a whole block.
BorrowedRange align_range(const Device& device, const fe_host_memory& memory, BorrowedRange bytes, DType dtype) {
  const uint64_t alignment = device.properties().borrow_alignment;
  if (!memory.mapped || alignment == 0) return bytes;
  const auto low = reinterpret_cast<uintptr_t>(bytes.low), mapped = reinterpret_cast<uintptr_t>(memory.mapped);
  const uint64_t before = low % alignment, behind = (alignment - (before + bytes.size) % alignment) % alignment;
  if (low < mapped || before > low - mapped || before % static_cast<uint64_t>(block_bytes(dtype)) != 0) return bytes;
  const uint64_t first = low - mapped;
  if (first > memory.mapped_size || bytes.size > memory.mapped_size - first ||
      behind > memory.mapped_size - first - bytes.size)
    return bytes;
  return {bytes.low - before, before + bytes.size + behind};
}

// Why the device does not borrow the bytes; empty if it does. A device with memory of its own reads the host's over a
// bus at each use, so it borrows only if the caller insists.
std::string refusal(const Device& device, const std::byte* low, uint64_t size, bool insists) {
  if (!insists && !device.has_unified_memory()) return device.name() + " has memory of its own, which it reads faster";
  const uint64_t alignment = device.properties().borrow_alignment;
  if (!device.table().buffer_borrow || alignment == 0) return device.name() + " does not borrow host memory";
  if (reinterpret_cast<uintptr_t>(low) % alignment != 0)
    return fmt::format("pointer is not a multiple of {}", alignment);
  if (size % alignment != 0) return fmt::format("size is not a multiple of {}", alignment);
  return {};
}

// Kernels require bools to be 0 or 1; memory from outside may hold any bytes.
bool are_bools(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte byte) { return byte <= std::byte{1}; });
}

// Converts nonzero bytes to 1.
void make_bools(std::span<std::byte> bytes) {
  for (std::byte& byte : bytes) byte = byte == std::byte{0} ? std::byte{0} : std::byte{1};
}

// Why bools cannot be borrowed; empty if they can.
std::string refusal_of_bools(const std::byte* low, uint64_t size, fe_access access) {
  if (access == FE_ACCESS_READ_WRITE) return "bools that their owner may write might become other than 0 and 1";
  if (!are_bools({low, size})) return "its bools are not all 0 or 1";
  return {};
}

ArrayPointer copy_from_host(const std::shared_ptr<Device>& device, const TensorType& type, const std::byte* first,
                            const Dims& byte_strides, std::string placement) {
  const auto bytes = static_cast<uint64_t>(byte_count(type));
  StridedStorage view{Storage::allocate(device, type), 0, contiguous_strides(type.shape)};
  const bool is_bool = type.dtype == DType::boolean;
  if (auto* const to = static_cast<std::byte*>(view.storage->host_pointer())) {
    gather(first, type, byte_strides, to);
    if (is_bool) make_bools({to, bytes});
  } else if (const Dims dense = byte_strides_of(type.dtype, contiguous_strides(type.shape));
             !is_bool && is_same_layout(type.shape, byte_strides, dense)) {
    write_from_host({type, view}, first, bytes);
  } else {
    write_gathered({type, view}, first, byte_strides, is_bool ? make_bools : nullptr);
  }
  return Array::computed(type, device, std::move(view), std::move(placement));
}

}  // namespace

OutsideMemory describe(const fe_host_memory& memory) {
  const DTypeRow* const dtype = find_dtype(memory.dtype);
  if (!dtype) fail_argument("a host array has no known dtype (id {})", memory.dtype);
  if (memory.rank < 0 || memory.rank > FE_MAX_RANK)
    fail_argument("a host array has {} dimensions; an array has at most {}", memory.rank, FE_MAX_RANK);
  if (memory.rank > 0 && !memory.shape) fail_argument("a host array of {} dimensions has no shape", memory.rank);
  if (memory.copy < never || memory.copy > transferred) fail_argument("copy is 0, 1, 2 or 3, not {}", memory.copy);
  if (memory.access != FE_ACCESS_READ && memory.access != FE_ACCESS_READ_WRITE)
    fail_argument("access is {} (read) or {} (read and write)", static_cast<int>(FE_ACCESS_READ),
                  static_cast<int>(FE_ACCESS_READ_WRITE));
  const auto rank = static_cast<std::size_t>(memory.rank);
  OutsideMemory outside;
  outside.type = {dtype->dtype, Shape(std::span(memory.shape, rank))};
  const TensorType& type = outside.type;
  byte_count(type);
  if (element_count(type.shape) == 0) return outside;
  if (!memory.pointer) fail_argument("the address of {} is null", to_string(type));
  outside.byte_strides = byte_strides_of(type, memory.strides);
  const Reach reach = bytes_touched(memory.pointer, type, outside.byte_strides);
  outside.first = static_cast<std::byte*>(memory.pointer);
  outside.low = outside.first - reach.before;
  outside.size = static_cast<uint64_t>(reach.before + reach.after);
  outside.strides = element_strides(type, outside.byte_strides, outside.why_not);
  const uint64_t alignment = alignment_of(type.dtype);
  if (reinterpret_cast<uintptr_t>(memory.pointer) % alignment != 0)
    outside.why_not = fmt::format("pointer is not a multiple of the item's {} bytes", alignment);
  return outside;
}

ArrayPointer array_from_host(const std::shared_ptr<Device>& device, const fe_host_memory& memory) {
  const std::shared_ptr<void> owner = owner_of_borrowed_memory(memory.release, memory.release_argument);
  const OutsideMemory outside = describe(memory);
  const TensorType& type = outside.type;
  if (element_count(type.shape) == 0)
    return Array::computed(type, device, {nullptr, 0, contiguous_strides(type.shape)}, "empty");
  std::string why = outside.why_not;
  const BorrowedRange range = align_range(*device, memory, {outside.low, outside.size}, type.dtype);
  if (why.empty()) why = refusal(*device, range.low, range.size, memory.copy == never);
  if (why.empty() && type.dtype == DType::boolean) why = refusal_of_bools(outside.low, outside.size, memory.access);
  std::shared_ptr<Storage> storage;
  if (memory.copy == always)
    why = "asked for";
  else if (why.empty())
    storage = try_borrow(device, range.low, range.size, type, memory.access, owner, why);
  if (storage) {
    const int64_t first = elements_in(type.dtype, static_cast<uint64_t>(outside.first - range.low));
    return Array::computed(type, device, {std::move(storage), first, outside.strides},
                           memory.copy != transferred ? "borrowed"
                           : memory.copied_because    ? std::string("copied: ") + memory.copied_because
                                                      : "owned");
  }
  if (memory.copy == never) fail_argument("{} on {} cannot be borrowed: {}", to_string(type), device->name(), why);
  return copy_from_host(device, type, outside.first, outside.byte_strides, "copied: " + why);
}

ArrayPointer array_from_region(const std::shared_ptr<Device>& device, void* pointer, uint64_t size, fe_access access,
                               const std::shared_ptr<void>& owner) {
  if (!pointer && size > 0) fail_argument("the address of {} bytes is null", size);
  if (size > static_cast<uint64_t>(largest_memory)) fail_argument("{} bytes exceed the address space", size);
  const TensorType type{DType::uint8, Shape{static_cast<int64_t>(size)}};
  if (size == 0) return Array::computed(type, device, {nullptr, 0, Strides{1}}, "empty");
  std::string why = refusal(*device, static_cast<const std::byte*>(pointer), size, false);
  std::shared_ptr<Storage> storage;
  if (why.empty()) storage = try_borrow(device, pointer, size, type, access, owner, why);
  if (storage) return Array::computed(type, device, {std::move(storage), 0, Strides{1}}, "borrowed");
  return copy_from_host(device, type, static_cast<const std::byte*>(pointer), Dims{1}, "copied: " + why);
}

ArrayPointer cut_from(const ArrayPointer& array, uint64_t byte_offset, const TensorType& type) {
  evaluate({&array, 1});
  const StridedArray all = array->strided_array();
  const uint64_t alignment = alignment_of(type.dtype), needed = static_cast<uint64_t>(byte_count(type));
  const auto have = static_cast<uint64_t>(byte_count(all.type));
  if (!is_contiguous(all.type.shape, all.data.strides))
    fail_argument("array_cut: {} is not contiguous", to_string(all.type));
  if (byte_offset > have || needed > have - byte_offset)
    fail_argument("array_cut: {} at byte {} needs {} bytes, but there are {}", to_string(type), byte_offset, needed,
                  have);
  StridedStorage view{nullptr, 0, contiguous_strides(type.shape)};
  if (needed == 0) return Array::computed(type, array->device(), std::move(view), array->placement());
  const Storage& storage = *all.data.storage;
  const uint64_t first = static_cast<uint64_t>(bytes_of(all.type.dtype, all.data.offset)) + byte_offset;
  storage.finish_write();
  const auto* const base = static_cast<const std::byte*>(storage.host_pointer());
  std::vector<std::byte> bytes;
  const auto read = [&] {
    bytes.resize(needed);
    const StridedArray part{{DType::uint8, Shape{static_cast<int64_t>(needed)}},
                            {all.data.storage, static_cast<int64_t>(first), Strides{1}}};
    read_to_host(part, bytes.data(), needed);
  };
  std::string why;
  if (first % alignment != 0 || reinterpret_cast<uintptr_t>(base) % alignment != 0) {
    // Kernels do not read unaligned items.
    why = fmt::format("byte {} is not a multiple of the item's {}", byte_offset, alignment);
  } else if (type.dtype == DType::boolean) {
    if (!base) read();
    const fe_access access = storage.is_borrowed_writable() ? FE_ACCESS_READ_WRITE : FE_ACCESS_READ;
    why = refusal_of_bools(base ? base + first : bytes.data(), needed, access);
  }
  if (why.empty()) {
    const bool is_at_block = first % static_cast<uint64_t>(block_bytes(type.dtype)) == 0;
    view.storage = is_at_block ? all.data.storage : Storage::part(all.data.storage, first, needed);
    view.offset = is_at_block ? elements_in(type.dtype, first) : 0;
    return Array::computed(type, array->device(), std::move(view), array->placement());
  }
  if (bytes.empty()) read();
  if (type.dtype == DType::boolean) make_bools(bytes);
  view.storage = Storage::allocate(array->device(), type);
  write_from_host({type, view}, bytes.data(), needed);
  return Array::computed(type, array->device(), std::move(view), "copied: " + why);
}

}  // namespace ferrule
