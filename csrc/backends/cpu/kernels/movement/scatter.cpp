// Writing elements at indices along an axis. Negative indices count from the end. An index out of bounds is an error,
// found before anything is written. The owner of borrowed memory may write to the indices meanwhile, so each index is
// read again once, checked and used.
#include "../strided_copy.h"
#include "../op_attributes.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Reads the index exactly once, so that the value that was checked is the one that is used.
template <class I>
int64_t read_once(const I& index) {
  return static_cast<const volatile I&>(index);
}

fe_error* out_of_bounds(const Call& call, int64_t index, int64_t axis, int64_t size) {
  char message[160];
  snprintf(message, sizeof message, "scatter: index %lld is out of bounds for axis %lld with size %lld",
           static_cast<long long>(index), static_cast<long long>(axis), static_cast<long long>(size));
  return call.host->error_create(FE_INVALID_ARGUMENT, message);
}

// Writes in order, so that of values at equal indices the last one stays. Threads share the other axes: each writes
// some of the outer slices, or some bytes of every inner row.
template <class I>
fe_error* scatter(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1], &values = call.in[2], &out = call.out[0];
  const int64_t axis = attributes_of<fe_scatter_attributes>(call).axis, size = x.shape[axis];
  const I* const index = reinterpret_cast<const I*>(indices.data);
  const int64_t count = indices.shape[0];
  for (int64_t i = 0; i < count; ++i)
    if (const int64_t at = index[i]; at < -size || at >= size) return out_of_bounds(call, at, axis, size);
  int64_t outer = 1, inner = 1;
  for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  const int64_t row = inner * x.item_size;
  if (outer == 0 || row == 0) return nullptr;
  if (out.data != x.data) {
    fe_error* error = parallel(call, outer * size * row, 65536, [&](int64_t begin, int64_t end) {
      memcpy(out.data + begin, x.data + begin, static_cast<size_t>(end - begin));
    });
    if (error != nullptr) return error;
  }
  // A strip is a part of the inner row, of whole items.
  const int64_t strips = outer == 1 && row >= 4096 ? ceil_div(row, 2048) : 1, strip = ceil_div(row, strips * 64) * 64;
  const int64_t grain = larger(1, 32768 / larger(1, count * smaller(row, strip)));
  return parallel_with_local(call, outer * strips, grain, [&](int64_t begin, int64_t end, char*) -> fe_error* {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t slice = task / strips, from = task % strips * strip;
      const int64_t bytes = smaller(row - from, strip);
      if (bytes <= 0) continue;
      char* const to = out.data + slice * size * row + from;
      const char* const source = values.data + slice * count * row + from;
      for (int64_t i = 0; i < count; ++i) {
        const int64_t given = read_once(index[i]), at = given < 0 ? given + size : given;
        if (static_cast<uint64_t>(at) >= static_cast<uint64_t>(size)) return out_of_bounds(call, given, axis, size);
        if (inner == 1)
          with_item(x.item_size, [&](auto zero) { __builtin_memcpy(to + at * row, source + i * row, sizeof zero); });
        else
          memcpy(to + at * row, source + i * row, static_cast<size_t>(bytes));
      }
    }
    return nullptr;
  });
}

bool accepts(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1], &values = call.in[2], &out = call.out[0];
  const int64_t axis = attributes_of<fe_scatter_attributes>(call).axis;
  if (indices.rank != 1 || (indices.dtype != DType::i32 && indices.dtype != DType::i64)) return false;
  if (values.dtype != x.dtype || out.dtype != x.dtype || values.rank != x.rank || out.rank != x.rank) return false;
  for (int32_t k = 0; k < x.rank; ++k)
    if (out.shape[k] != x.shape[k] || values.shape[k] != (k == axis ? indices.shape[0] : x.shape[k])) return false;
  return true;
}

}  // namespace

// Works in the memory of x if the core gave it to the output.
KERNEL(scatter, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts) {
  return call.in[1].dtype == DType::i32 ? scatter<int32_t>(call) : scatter<int64_t>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
