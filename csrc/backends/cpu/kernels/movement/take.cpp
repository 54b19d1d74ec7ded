// Elements at indices along an axis. Negative indices count from the end. An index out of bounds is an error, found
// before anything is written. The owner of borrowed memory may write to the indices meanwhile, so each index is read
// again once, checked and used.
#include "../strided_copy.h"
#include "../op_attributes.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Reads the index exactly once, so that the value that was checked is the one that is used.
template <class I>
int64_t read_once(const I& index) {
  return static_cast<const volatile I&>(index);
}

fe_error* out_of_bounds(const Call& call, const char* op, int64_t index, int64_t axis, int64_t size) {
  char message[160];
  snprintf(message, sizeof message, "%s: index %lld is out of bounds for axis %lld with size %lld", op,
           static_cast<long long>(index), static_cast<long long>(axis), static_cast<long long>(size));
  return call.host->error_create(FE_INVALID_ARGUMENT, message);
}

template <class I>
fe_error* take(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1];
  const int64_t axis = attributes_of<fe_take_attributes>(call).axis, size = x.shape[axis];
  const I* index = reinterpret_cast<const I*>(indices.data);
  const int64_t count = count_of(indices);
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t at = index[i]; at < -size || at >= size) return out_of_bounds(call, "take", at, axis, size);
  // x as [outer][axis][inner]; a row of inner elements is moved as one item.
  int64_t outer = 1, inner = 1;
  for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  const int64_t item = x.item_size, row = inner * item;
  if (outer == 0 || inner == 0) return nullptr;
  const int64_t grain = larger(1, 32768 / row);
  return parallel_with_local(call, outer * count, grain, [&](int64_t begin, int64_t end, char*) -> fe_error* {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t given = read_once(index[i % count]), at = given < 0 ? given + size : given;
      if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size))
        return out_of_bounds(call, "take", given, axis, size);
      const char* from = x.data + (i / count * size + at) * row;
      char* to = call.out[0].data + i * row;
      if (inner == 1)
        with_item(static_cast<size_t>(item), [&](auto zero) { __builtin_memcpy(to, from, sizeof zero); });
      else
        memcpy(to, from, static_cast<size_t>(row));
    }
    return nullptr;
  });
}

bool accepts(const Call& call) {
  return call.in[0].dtype == call.out[0].dtype && (call.in[1].dtype == DType::i32 || call.in[1].dtype == DType::i64);
}

// x as [outer][size][inner] and the indices as [outer][count][inner].
template <class I, class T>
fe_error* take_along_axis(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1];
  const int64_t axis = attributes_of<fe_take_along_axis_attributes>(call).axis;
  const int64_t size = x.shape[axis], count = indices.shape[axis];
  const I* const index = reinterpret_cast<const I*>(indices.data);
  const int64_t total = count_of(indices);
  int64_t inner = 1;
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  for (int64_t i = 0; i < total; ++i)
    if (const int64_t at = index[i]; at < -size || at >= size)
      return out_of_bounds(call, "take_along_axis", at, axis, size);
  const T* const from = reinterpret_cast<const T*>(x.data);
  T* const to = reinterpret_cast<T*>(call.out[0].data);
  return parallel_with_local(call, total, 8192, [&](int64_t begin, int64_t end, char*) -> fe_error* {
    // [outer * count] rows of `inner` elements; a range may begin and end inside a row.
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / inner, first = i % inner, stop = smaller(end, i + inner - first);
      const T* const plane = from + row / count * size * inner + first - i;
      for (; i < stop; ++i) {
        const int64_t given = read_once(index[i]), at = given < 0 ? given + size : given;
        if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size))
          return out_of_bounds(call, "take_along_axis", given, axis, size);
        to[i] = plane[at * inner + i];
      }
    }
    return nullptr;
  });
}

bool accepts_along_axis(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1], &out = call.out[0];
  const int64_t along = attributes_of<fe_take_along_axis_attributes>(call).axis;
  if (!accepts(call) || indices.rank != x.rank || out.rank != x.rank) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (out.shape[axis] != indices.shape[axis] || (axis != along && indices.shape[axis] != x.shape[axis])) return false;
  return true;
}

}  // namespace

KERNEL(take_along_axis, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_along_axis) {
  fe_error* error = nullptr;
  with_item(call.in[0].item_size, [&](auto zero) {
    using T = decltype(zero);
    error = call.in[1].dtype == DType::i32 ? take_along_axis<int32_t, T>(call) : take_along_axis<int64_t, T>(call);
  });
  return error;
}

KERNEL(take, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts) {
  return call.in[1].dtype == DType::i32 ? take<int32_t>(call) : take<int64_t>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
