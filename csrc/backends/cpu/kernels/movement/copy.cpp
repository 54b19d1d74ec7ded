// Copies of strided arrays, joining and padding. Items are moved by their size; their dtype does not matter.
#include "../strided_copy.h"
#include "../op_attributes.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Copies `x` to the part of the output that begins at `first`, in elements.
fe_error* place(const Call& call, const Operand& x, int64_t first) {
  const Operand& out = call.out[0];
  return copy_strided(call, out.data + first * out.item_size, out.strides, x.data, x.strides, x.shape, x.rank,
                      out.item_size);
}
bool same_dtypes(const Call& call) {
  for (uint32_t i = 0; i < call.in_count; ++i)
    if (call.in[i].dtype != call.out[0].dtype) return false;
  return true;
}

}  // namespace

KERNEL(copy, .accepts = same_dtypes) { return place(call, call.in[0], 0); }

KERNEL(concat, .accepts = same_dtypes) {
  const int64_t axis = attributes_of<fe_concat_attributes>(call).axis;
  int64_t at = 0;
  for (uint32_t i = 0; i < call.in_count; ++i) {
    if (fe_error* error = place(call, call.in[i], at * call.out[0].strides[axis])) return error;
    at += call.in[i].shape[axis];
  }
  return nullptr;
}

KERNEL(pad, .accepts = same_dtypes,
       .list_attributes = {offsetof(fe_pad_attributes, before), offsetof(fe_pad_attributes, after)}) {
  const Operand& out = call.out[0];
  const auto& attributes = attributes_of<fe_pad_attributes>(call);
  // Fills the whole output, then places x: this is simple, and the border is usually thin.
  const int64_t zeros[FE_MAX_RANK] = {};
  const char zero[16] = {};
  const char* value = call.in_count > 1 ? call.in[1].data : zero;
  if (fe_error* error = copy_strided(call, out.data, out.strides, value, zeros, out.shape, out.rank, out.item_size))
    return error;
  int64_t first = 0;
  for (size_t i = 0; i < attributes.before.count; ++i) first += attributes.before.data[i] * out.strides[i];
  return place(call, call.in[0], first);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
