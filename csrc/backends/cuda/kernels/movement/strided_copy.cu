// Copies of bytes between two layouts.
#include "kernels/movement/copy_runs.h"

using namespace ferrule::cuda;

FERRULE_KERNEL(strided_copy_bytes, StridedCopyParameters, 256) {
  if (p.may_be_in_place != 0 && p.from == p.to) return;
  copy_runs(p, p.from, p.to + p.to_offset);
}
