// Types that the host and the kernel share.
#pragma once

constexpr unsigned row_sums_threads = 128;  // of a block, which adds up one row

struct RowSumsParameters {
  const float* x;  // rows of `length` elements, one after the other
  float* sums;
  unsigned long long length;
};
