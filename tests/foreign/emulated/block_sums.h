#pragma once

// `out` gets the sum of each 64 elements of `x`. If `forgets`, one thread does not reach the barrier.
struct BlockSumsParameters {
  const int* x;
  int* out;
  bool forgets;
};
