// Merges the states of chunks of keys that attention.metal left in scratch memory, in order. A thread has an element of
// the result. LENGTH_PLACE is 1.
#pragma once
#include "attention/attention_state.metal"

#define THREADS 256

kernel void attention_chunks(device const float* parts [[buffer(0)]],
                             LENGTH_PARAMETER device Stored* to [[buffer(RESULT_PLACE)]],
                             constant Parameters& p [[buffer(30)]], GRID_PARAMETERS) {
  const ulong element = group_number(group, groups) * THREADS + own, rows = p.batches * p.queries;
  const ulong row = element / p.value_head, column = element - row * p.value_head;
  uint keys;
  if (row >= rows || !FIND_KEYS(keys)) return;
  float greatest = lowest(), total = 0.0f, sum = 0.0f;
  for (uint chunk = 0; chunk * CHUNK < keys; ++chunk) {
    const ulong place = (chunk * rows + row) * (p.value_head + 2);
    const float found = parts[place + p.value_head], now = found > greatest ? found : greatest;
    const float of_before = factor_of(greatest, now), of_chunk = factor_of(found, now);
    greatest = now;
    total = total * of_before + parts[place + p.value_head + 1] * of_chunk;
    sum = sum * of_before + parts[place + column] * of_chunk;
  }
  store_element(to, long(element), result_of(sum, total, greatest));
}
