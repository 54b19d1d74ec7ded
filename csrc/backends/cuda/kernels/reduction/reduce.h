// Parameters of the kernels that reduce axes, and the order in which they combine elements.
//
// The order depends on the number of elements and the dtype alone, so that a result has the same bits in any batch,
// layout and kernel, on any device:
// - Each 16 bytes of elements are a vector; 256 vectors are a leaf.
// - The elements of a vector are combined pairwise: neighbours first, then pairs of them.
// - Vector v of a leaf goes to lane v % 32. Each lane combines its vectors in order. Lanes are folded by halves.
// - Leaves are joined pairwise: neighbours first, then pairs of them.
// A missing element, lane or leaf holds the identity, which changes nothing: no sum is ever -0. A kernel may thus use
// fewer lanes where there are fewer vectors, and join any aligned group of 2^n leaves.
#pragma once

#include "parameters/common.h"

namespace ferrule::cuda {

inline constexpr uint32_t reduce_lanes = 32, reduce_steps = 8;  // of a leaf
inline constexpr uint32_t reduce_vector_bytes = 16;
inline constexpr uint32_t reduce_leaf_bytes = reduce_vector_bytes * reduce_lanes * reduce_steps;

// Parameters of the rows and the columns kernels. If a result has several parts, each is a value in scratch, at
// part * results + result.
struct ReduceParameters {
  Address x, to, partials;
  Layout kept, reduced;  // of the results, and of the elements of one
  uint64_t results, length, parts;
  uint32_t is_reversed;  // 1 for min, all and argmin
  // Rows: whether the elements of a vector are adjacent. Columns: whether those of `span` results are.
  uint32_t has_vectors;
  uint32_t lanes;   // that have vectors, rounded up to a power of two
  uint32_t leaves;  // rows: of a part, a power of two
  uint32_t slots;   // rows: leaves that a block reduces; a multiple of `leaves`
  uint32_t spans;   // columns: groups of adjacent results that a block has
  uint32_t span;    // columns: results of a thread
};

// Parameters of the join kernel, which reduces the parts of each result to a quotient of up to 4 * team.
struct JoinParameters {
  Address from, to, partials;  // `partials` is written unless one part is left
  uint64_t results, parts;
  uint32_t is_reversed, team;
};

}  // namespace ferrule::cuda
