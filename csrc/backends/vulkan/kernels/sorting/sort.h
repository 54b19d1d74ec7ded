// Rows that are sorted in the node's scratch memory: entries, each of which is a key and the index of an element.
#pragma once

#include "graphs/layout.h"
#include "graphs/plan.h"

namespace ferrule::vulkan {

// The parameters of sort.comp.
struct SortParameters {
  Layout kept;
  int64_t count, length, stride, run, from, to_half, entries, marks;
  uint32_t to;
};

struct Sorted {
  std::string shader;
  SortParameters parameters;
  uint32_t descending;
  uint64_t key_bytes;  // an entry has twice as many; the index is behind the key
  uint64_t place() const { return static_cast<uint64_t>(parameters.from * parameters.entries) * 2 * key_bytes; }
};

// Adds the dispatches that sort the rows of the first input along its last axis, and their scratch memory. There are
// elements, and the memory begins with that of the entries. Throws FE_UNSUPPORTED if a row is too long.
Sorted sort_rows(Plan& plan, const PlannedNode& node, bool descending, const Capabilities& capabilities);

// Adds a dispatch that marks, by a byte in scratch memory, each element of a single sorted row that differs from the
// one before it. Returns the place of the marks.
uint64_t mark_runs(Plan& plan, Sorted sorted, const Capabilities& capabilities);

}  // namespace ferrule::vulkan
