// Slices whose starts are operands: reading and writing them.
#include "slicing.h"

#include "../strided_copy.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

bool accepts_update(const Call& call) {
  return call.in_count >= 2 && are_starts(call, 2) && fits_into(call.in[1], call.in[0]) &&
         fits_into(call.in[0], call.out[0]) && fits_into(call.out[0], call.in[0]);
}

}  // namespace

KERNEL(dynamic_slice, .accepts = accepts_slice) {
  const Operand &x = call.in[0], &out = call.out[0];
  int64_t at;
  if (fe_error* error = find_slice(call, "dynamic_slice", x, out.shape, 1, at)) return error;
  return copy_strided(call, out.data, out.strides, x.data + at * x.item_size, x.strides, out.shape, out.rank,
                      x.item_size);
}

// Works in the memory of x if the core gave it to the output; otherwise x is copied to the output first.
KERNEL(update_slice, .accepts = accepts_update) {
  const Operand &x = call.in[0], &value = call.in[1], &out = call.out[0];
  int64_t at;
  if (fe_error* error = find_slice(call, "update_slice", out, value.shape, 2, at)) return error;
  if (out.data != x.data)
    if (fe_error* error =
            copy_strided(call, out.data, out.strides, x.data, x.strides, out.shape, out.rank, out.item_size))
      return error;
  return copy_strided(call, out.data + at * out.item_size, out.strides, value.data, value.strides, value.shape,
                      value.rank, out.item_size);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
