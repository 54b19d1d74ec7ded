// Rows that are sorted in the node's scratch memory: entries, each of which is a key and the index of an element.
#pragma once

#include "graphs/layout.h"
#include "graphs/plan.h"

namespace ferrule::metal {

// The parameters of sort.metal.
struct SortParameters {
  Layout kept;
  uint64_t count, length;
  int64_t stride;
  uint64_t run, from, to, marks;
};

struct Sorted {
  std::string definitions;
  SortParameters parameters;
  uint64_t entries;
};

// Adds the dispatches that sort the rows of the first input along its last axis, and their scratch memory. There are
// elements, and the memory begins with that of the entries. Throws FE_UNSUPPORTED if a row is too long.
Sorted sort_rows(Plan& plan, const PlannedNode& node, bool is_descending);

// Adds a dispatch that marks, by a byte in scratch memory, each element of a single sorted row that differs from the
// one before it. Returns the place of the marks.
uint64_t mark_runs(Plan& plan, Sorted sorted);

}  // namespace ferrule::metal
