// Copies of slices whose starts are in memory.
#include "kernels/movement/slicing.h"

#include "kernels/movement/copy_runs.h"

using namespace ferrule::cuda;

FERRULE_KERNEL(slicing_bytes, SlicingParameters, 256) {
  Address from = p.copy.from, to = p.copy.to;
  for (uint32_t axis = 0; axis < p.start_count; ++axis) {
    const SliceStart& start = p.starts[axis];
    const int64_t at = p.start_bytes == 8 ? *pointer<const int64_t>(start.at) : *pointer<const int32_t>(start.at);
    if (at < 0 || at > start.most) {
      if (thread_number() == 0) report(p.fault, Fault::start, p.op, at, start.most, axis);
      return;
    }
    from += static_cast<uint64_t>(at * start.from);
    to += static_cast<uint64_t>(at * start.to);
  }
  copy_runs(p.copy, from, to);
}
