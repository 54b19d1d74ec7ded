// Elementwise ops as programs (parameters/elementwise.h), interpreted. A thread computes several elements, which share
// the cost of decoding an instruction. Slots are in local memory, which a program of one instruction does not use. An
// op on long arrays is bound by bytes; a fused one by decoding and slots.
#include "kernels/elementwise/run_program.h"

namespace ferrule::cuda::elementwise {

template <class Word, class Program, class Elements>
struct OperandsInMemory {
  using Values = Word[Elements::items];
  const Program& p;
  const Elements& elements;

  __device__ __forceinline__ void load(uint32_t operand, Values& values) const {
    load_operand(p, p.operand[operand], elements, values);
  }
  __device__ __forceinline__ void store(uint32_t operand, const Values& values) const {
    store_operand(p, p.operand[operand], elements, values);
  }
};

// One group of 4 for Words of 64 bits, 2 for Words of 32 bits.
template <class Word, int slots, class Program>
__device__ __forceinline__ void run_in_memory(const Program& p) {
  constexpr int groups = sizeof(Word) == 8 ? 1 : 2;
  using Own = TileElements<groups, groups == 1 ? Adjacency::always : Adjacency::of_program>;
  const Own elements = {p.count, p.is_narrow};
  if (elements.has(0)) run_program<Word, Own::items, slots>(p, OperandsInMemory<Word, Program, Own>{p, elements});
}

}  // namespace ferrule::cuda::elementwise

using namespace ferrule::cuda::elementwise;

FERRULE_KERNEL(elementwise_small32, SmallProgram, block_threads) { run_in_memory<uint32_t, small_slots>(p); }
FERRULE_KERNEL(elementwise_small64, SmallProgram, block_threads) { run_in_memory<uint64_t, small_slots>(p); }
FERRULE_KERNEL(elementwise_large32, LargeProgram, block_threads) { run_in_memory<uint32_t, large_slots>(p); }
FERRULE_KERNEL(elementwise_large64, LargeProgram, block_threads) { run_in_memory<uint64_t, large_slots>(p); }
