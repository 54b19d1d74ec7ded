// Runs the ops that are fused to a product (matmul_epilogue.h) on sums. A sum is rounded to the dtype of the product
// first, so that fused ops give the bits of separate ones.
//
// A kernel has the interpreter once, after its sums are complete. Interpreting is bound by instructions: the more
// elements a thread finishes together, the fewer it spends on decoding.
#pragma once

#include "kernels/elementwise/run_program.h"
#include "kernels/linear_algebra/matmul_epilogue.h"
#include "kernels/linear_algebra/matmul_tiles.h"

namespace ferrule::cuda {

// The elements of the result that are computed together: COUNT of them, `step` apart, of which `count` exist. They
// have the functions of elementwise::Elements.
template <int COUNT>
struct EpilogueElements {
  static constexpr int items = COUNT;
  uint64_t first, step;
  uint32_t count;

  __device__ __forceinline__ uint64_t begin() const { return first; }
  __device__ __forceinline__ uint64_t distance(int item) const { return static_cast<uint64_t>(item) * step; }
  __device__ __forceinline__ bool has(int item) const { return static_cast<uint32_t>(item) < count; }
  __device__ __forceinline__ uint64_t number(int item) const { return has(item) ? first + distance(item) : first; }
  __device__ __forceinline__ bool is_whole(int group) const {
    return step == 1 && has(group * elementwise::group_size + elementwise::group_size - 1);
  }
  __device__ __forceinline__ bool are_whole() const { return step == 1 && has(items - 1); }
  __device__ __forceinline__ bool are_adjacent() const { return step == 1; }
};

// An operand as load_operand() reads it: one in a row of which it has strides is flat, or one item.
struct EpilogueOperand {
  elementwise::Access access;
  elementwise::Format format;
  Address address;
  const int64_t* strides;
};

// Locates an operand for a row of elements, by one division for each axis of the shape in place of one for each axis
// and group of four elements.
template <int COUNT>
__device__ __forceinline__ EpilogueOperand operand_of_row(const elementwise::SmallProgram& p,
                                                          const elementwise::Operand& operand,
                                                          const EpilogueElements<COUNT>& elements) {
  EpilogueOperand row = {operand.access, operand.format, operand.address, operand.strides};
  const int64_t stride = operand.strides[0];
  if (operand.access != elementwise::Access::strided || (stride != 0 && stride != 1) || !elements.are_whole())
    return row;
  const elementwise::Place place = elementwise::place_of_element(p, operand, elements.begin());
  if (place.last_coordinate + COUNT > p.shape[0]) return row;
  const int64_t first = place.offset - (stride == 1 ? static_cast<int64_t>(elements.begin()) : 0);
  row.access = stride == 1 ? elementwise::Access::flat : elementwise::Access::single;
  row.address += static_cast<Address>(first * static_cast<int64_t>(elementwise::size_of(operand.format)));
  return row;
}

template <int COUNT>
struct EpilogueOperands {
  const elementwise::SmallProgram& p;
  const EpilogueElements<COUNT>& elements;
  const uint32_t (&computed)[COUNT];  // operand 0

  __device__ __forceinline__ void load(uint32_t operand, uint32_t (&values)[COUNT]) const {
    if (operand != 0)
      return elementwise::load_operand(p, operand_of_row(p, p.operand[operand], elements), elements, values);
    FERRULE_UNROLL
    for (int i = 0; i < COUNT; ++i) values[i] = computed[i];
  }
  __device__ __forceinline__ void store(uint32_t operand, const uint32_t (&values)[COUNT]) const {
    elementwise::store_operand(p, p.operand[operand], elements, values);
  }
};

// Finishes the sums of `elements`. Sums of elements that do not exist may have any value.
template <class Value, int COUNT>
__device__ __forceinline__ void run_epilogue(const elementwise::SmallProgram& epilogue,
                                             const EpilogueElements<COUNT>& elements, const Pack<Value, COUNT>& sums) {
  static_assert(sizeof(Value) == sizeof(uint32_t) && COUNT % elementwise::group_size == 0);
  uint32_t words[COUNT];
  FERRULE_UNROLL
  for (int i = 0; i < COUNT; ++i) words[i] = bits_as<uint32_t>(elements.has(i) ? sums.of[i] : sums.of[0]);
  elementwise::round_to(epilogue.operand[0].format, words);
  elementwise::run_program<uint32_t, COUNT, elementwise::small_slots>(
      epilogue, EpilogueOperands<COUNT>{epilogue, elements, words});
}

// Finishes the sums of COUNT columns of a row of the matrix, those that exist.
template <class Value, int COUNT>
__device__ __forceinline__ void finish_sums(const MatmulParameters& p, const elementwise::SmallProgram& epilogue,
                                            const TilePlace& place, uint32_t row, uint32_t column,
                                            const Pack<Value, COUNT>& sums) {
  if (row >= p.m || column >= p.n) return;
  const uint32_t left = p.n - column, count = left < COUNT ? left : COUNT;
  const EpilogueElements<COUNT> elements = {element_at(p, place, row, column), static_cast<uint64_t>(p.to_column),
                                            count};
  run_epilogue(epilogue, elements, sums);
}

}  // namespace ferrule::cuda
