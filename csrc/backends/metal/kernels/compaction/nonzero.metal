// The indices of the chosen elements, and how many there are.
#pragma once
#include "compaction/chosen.metal"

struct Parameters {
  Chosen chosen;
  ulong count;           // rows of the result
  ulong shape[MAX_RANK];  // of x, the last axis first
  uint rank, unused;
};

kernel void nonzero(device const long* scratch [[buffer(0)]], device long* indices [[buffer(1)]],
                    device long* count [[buffer(2)]], constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong row = THREAD_NUMBER;
  const long total = total_of(p.chosen, scratch);
  if (row == 0) count[0] = total;
  if (row >= p.count) return;
  ulong rest = long(row) < total ? number_at(p.chosen, scratch, row) : 0;
  for (uint axis = 0; axis < p.rank; ++axis) {
    const ulong size = p.shape[axis], next = size == 0 ? 0 : rest / size;
    indices[row * p.rank + (p.rank - 1 - axis)] = long(rest - next * size);
    rest = next;
  }
}
