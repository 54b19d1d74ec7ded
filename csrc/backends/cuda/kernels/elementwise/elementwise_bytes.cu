// Programs whose values are all of 8 bits (bool, int8, uint8), on operands whose items are adjacent. A thread computes
// 16 elements, and keeps the values of each operand and slot as the 16 bytes that memory has: bound by bytes.
#include "kernels/elementwise/run_program.h"

namespace ferrule::cuda::elementwise {

using ByteElements = TileElements<4, Adjacency::always>;
inline constexpr int words_of_bytes = ByteElements::items / 4;
using Bytes = Pack<uint8_t, ByteElements::items>;

struct ByteArguments {
  Bytes a, b, c;
};

// The byte of a word, as a value of T.
template <class T>
__device__ __forceinline__ uint32_t value_of_byte(uint32_t word, int i) {
  const uint32_t byte = word >> 8 * i & 0xffu;
  return is_signed_integer<T> ? static_cast<uint32_t>(static_cast<int8_t>(byte)) : byte;
}

template <class T, class Call>
__device__ __forceinline__ void call_each(const ByteArguments& arguments, Bytes& results, const FaultContext& context,
                                          Call call) {
  FERRULE_UNROLL
  for (int k = 0; k < words_of_bytes; ++k) {
    uint32_t word = 0;
    FERRULE_UNROLL
    for (int i = 0; i < 4; ++i) {
      const auto argument = [&](const Bytes& bytes) {
        return Argument<uint32_t>{value_of_byte<T>(bytes.parts[0].word[k], i)};
      };
      const auto result =
          call(Computed<T>{}, argument(arguments.a), argument(arguments.b), argument(arguments.c), context);
      // Results of other types belong to programs that have more than bytes.
      if constexpr (sizeof(result) <= 4 && !is_floating<decltype(+result)>)
        word |= (static_cast<uint32_t>(result) & 0xffu) << 8 * i;
    }
    results.parts[0].word[k] = word;
  }
}
template <uint32_t types, class Call>
__device__ __forceinline__ void call_in_type(Type type, const ByteArguments& arguments, Bytes& results,
                                             const FaultContext& context, Call call) {
  if constexpr ((types & set_of<Type::i32>) != 0)
    if (type == Type::i32) return call_each<int32_t>(arguments, results, context, call);
  if constexpr ((types & set_of<Type::u32>) != 0)
    if (type == Type::u32) return call_each<uint32_t>(arguments, results, context, call);
}

// 1 for each byte that is not 0.
__device__ __forceinline__ uint32_t ones_of(uint32_t word) {
  return (((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) >> 7 & 0x01010101u;
}

__device__ __forceinline__ Bytes load_bytes(const Operand& operand, const ByteElements& elements) {
  Bytes bytes = {};
  const uint8_t* const start = pointer<const uint8_t>(operand.address) + elements.begin();
  if (operand.access == Access::constant || operand.access == Access::single) {
    const auto byte = static_cast<uint8_t>(operand.access == Access::single ? *pointer<const uint8_t>(operand.address)
                                                                            : operand.address);
    FERRULE_UNROLL
    for (int k = 0; k < words_of_bytes; ++k) bytes.parts[0].word[k] = byte * 0x01010101u;
  } else if (reinterpret_cast<Address>(start) % Bytes::alignment == 0 && elements.are_whole()) {
    bytes = *reinterpret_cast<const Bytes*>(start);
  } else {
    FERRULE_UNROLL
    for (int i = 0; i < ByteElements::items; ++i) bytes.set(i, start[elements.has(i) ? i : 0]);
  }
  if (operand.format == Format::boolean) {
    FERRULE_UNROLL
    for (int k = 0; k < words_of_bytes; ++k) bytes.parts[0].word[k] = ones_of(bytes.parts[0].word[k]);
  }
  return bytes;
}
__device__ __forceinline__ void store_bytes(const Operand& operand, const ByteElements& elements, Bytes bytes) {
  uint8_t* const start = pointer<uint8_t>(operand.address) + elements.begin();
  if (reinterpret_cast<Address>(start) % Bytes::alignment == 0 && elements.are_whole()) {
    *reinterpret_cast<Bytes*>(start) = bytes;
    return;
  }
  FERRULE_UNROLL
  for (int i = 0; i < ByteElements::items; ++i)
    if (elements.has(i)) start[i] = bytes.item<uint8_t>(i);
}

__device__ __forceinline__ void run_on_bytes(const SmallProgram& p) {
  const ByteElements elements = {p.count, p.is_narrow};
  if (!elements.has(0)) return;
  Bytes slots[small_slots];
  const auto fetch = [&](uint8_t source) {
    Bytes bytes = {};
    if (source == no_slot) return bytes;
    if ((source & is_operand) != 0) return load_bytes(p.operand[source & ~is_operand], elements);
    FERRULE_UNROLL
    for (int k = 0; k < words_of_bytes; ++k) bytes.parts[0].word[k] = slots[source].parts[0].word[k];
    return bytes;
  };
  for (uint32_t number = 0; number < p.instructions; ++number) {
    const Instruction& instruction = p.instruction[number];
    const ByteArguments arguments = {fetch(instruction.sources[0]), fetch(instruction.sources[1]),
                                     fetch(instruction.sources[2])};
    Bytes results = {};
    call_function(instruction, arguments, results, p.fault);
    if (instruction.result != no_slot) slots[instruction.result] = results;
    if (instruction.output != no_slot) store_bytes(p.operand[instruction.output], elements, results);
  }
}

}  // namespace ferrule::cuda::elementwise

using namespace ferrule::cuda::elementwise;

FERRULE_KERNEL(elementwise_bytes_small, SmallProgram, block_threads) { run_on_bytes(p); }
