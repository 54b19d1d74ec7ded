// Operands of a program in memory. A value is a Word, whose low bits are those of the type that it is computed in; the
// other bits are zero. A thread has several items, in groups of four that are read and written together where they are
// adjacent in memory. Eight that are adjacent and of 16 bits, and all of a thread's bytes, are one access. AnyOperand
// is Operand, or KnownOperand of generated_program.h.
#pragma once

#include "kernels/elementwise/elements.h"

// A type that is read from memory that was written as another type. NVRTC does not know the attribute.
#ifdef __CUDACC_RTC__
#define FERRULE_MAY_ALIAS
#else
#define FERRULE_MAY_ALIAS [[gnu::may_alias]]
#endif

namespace ferrule::cuda::elementwise {

// The size of an item in bytes.
__device__ __forceinline__ uint32_t size_of(Format format) {
  constexpr auto logarithm = [](Format of, uint32_t value) { return value << 2 * static_cast<uint32_t>(of); };
  constexpr uint32_t logarithms = logarithm(Format::i16, 1) | logarithm(Format::u16, 1) | logarithm(Format::f16, 1) |
                                  logarithm(Format::bf16, 1) | logarithm(Format::i32, 2) | logarithm(Format::u32, 2) |
                                  logarithm(Format::f32, 2) | logarithm(Format::i64, 3) | logarithm(Format::u64, 3) |
                                  logarithm(Format::f64, 3);
  return 1u << (logarithms >> 2 * static_cast<uint32_t>(format) & 3u);
}

template <class Word, int items, class Convert>
__device__ __forceinline__ void convert_each(Word (&values)[items], Convert convert) {
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) values[i] = convert(static_cast<uint32_t>(values[i]));
}
// Turns the bits of items into those of their computed types. Only items of less than 32 bits differ.
template <class Word, int items>
__device__ __forceinline__ void words_of_items(Format format, Word (&values)[items]) {
  switch (format) {
    case Format::boolean:
      return convert_each(values, [](uint32_t x) { return (x & 0xffu) != 0 ? 1u : 0u; });
    case Format::i8:
      return convert_each(values, [](uint32_t x) { return static_cast<uint32_t>(static_cast<int8_t>(x)); });
    case Format::i16:
      return convert_each(values, [](uint32_t x) { return static_cast<uint32_t>(static_cast<int16_t>(x)); });
    case Format::u8:
      return convert_each(values, [](uint32_t x) { return x & 0xffu; });
    case Format::u16:
      return convert_each(values, [](uint32_t x) { return x & 0xffffu; });
    case Format::f16:
      return convert_each(values,
                          [](uint32_t x) { return bits_as<uint32_t>(to_float(Half{static_cast<uint16_t>(x)})); });
    case Format::bf16:
      return convert_each(values, [](uint32_t x) { return x << 16; });
    default:
      return;
  }
}
// Turns the bits of computed types into those of items.
template <class Word, int items>
__device__ __forceinline__ void items_of_words(Format format, Word (&values)[items]) {
  if (format == Format::f16)
    convert_each(values, [](uint32_t x) { return uint32_t{from_float<Half>(bits_as<float>(x)).bits}; });
  if (format == Format::bf16)
    convert_each(values, [](uint32_t x) { return uint32_t{from_float<BFloat16>(bits_as<float>(x)).bits}; });
}
// Rounds or wraps values to a format.
template <class Word, int items>
__device__ __forceinline__ void round_to(Format format, Word (&values)[items]) {
  if (format == Format::boolean || size_of(format) >= 4) return;
  items_of_words(format, values);
  words_of_items(format, values);
}

// ---- offsets of the items of a group, in elements
struct Offsets {
  int64_t at[group_size];
  bool are_adjacent;
};

struct Place {
  int64_t offset, last_coordinate;
};
template <class Unsigned, class Program, class AnyOperand>
__device__ __forceinline__ Place place_of(const Program& p, const AnyOperand& operand, Unsigned number) {
  Place place = {0, 0};
  FERRULE_ROLLED
  for (uint32_t axis = 0; axis < p.rank; ++axis) {
    const bool is_outermost = axis + 1 == p.rank;
    const auto size = static_cast<Unsigned>(p.shape[axis]);
    const Unsigned quotient = is_outermost ? 0 : number / size;
    const auto coordinate = static_cast<int64_t>(number - quotient * size);
    place.offset += coordinate * operand.strides[axis];
    if (axis == 0) place.last_coordinate = coordinate;
    number = quotient;
  }
  return place;
}
template <class Program, class AnyOperand>
__device__ __forceinline__ Place place_of_element(const Program& p, const AnyOperand& operand, uint64_t number) {
  return p.is_near != 0 ? place_of(p, operand, static_cast<uint32_t>(number)) : place_of(p, operand, number);
}

// A whole group within one row needs one division for each axis.
template <class Program, class AnyOperand, class Elements>
__device__ __forceinline__ Offsets offsets_of_group(const Program& p, const AnyOperand& operand,
                                                    const Elements& elements, int group) {
  const int first = group * group_size;
  const bool is_flat = operand.access == Access::flat;
  Offsets offsets = {};
  if (!is_flat && elements.is_whole(group)) {
    const Place place = place_of_element(p, operand, elements.number(first));
    const int64_t stride = operand.strides[0];
    FERRULE_UNROLL
    for (int i = 0; i < group_size; ++i) offsets.at[i] = place.offset + i * stride;
    offsets.are_adjacent = stride == 1;
    if (place.last_coordinate + group_size <= p.shape[0]) return offsets;
  }
  offsets.are_adjacent = false;
  FERRULE_ROLLED
  for (int i = 0; i < group_size; ++i) {
    const uint64_t number = elements.number(first + i);
    const int64_t offset = is_flat ? static_cast<int64_t>(number) : place_of_element(p, operand, number).offset;
    FERRULE_UNROLL
    for (int k = 0; k < group_size; ++k) offsets.at[k] = k == i ? offset : offsets.at[k];
  }
  return offsets;
}

// ---- access to memory
// Items of 64 bits are words of 64 bits: compilers join the halves of a number, and see no 16 bytes any more.
template <int bytes, class Word>
struct alignas(bytes) Vector {
  static constexpr int words = bytes / static_cast<int>(sizeof(Word));
  Word word[words];
};

// Adjacent items, which are read and written together, by accesses of up to 16 bytes.
template <class Item, int count>
struct FERRULE_MAY_ALIAS Pack {
  static constexpr int bytes = count * sizeof(Item), vectors = bytes > 16 ? bytes / 16 : 1;
  using PartWord = Bits<Item>;
  using Part = Vector<bytes / vectors, PartWord>;
  static constexpr uint64_t alignment = sizeof(Part);
  Part parts[vectors];

  __device__ __forceinline__ PartWord& word(int i) { return parts[i / Part::words].word[i % Part::words]; }
  template <class Word>
  __device__ __forceinline__ Word item(int i) {
    if constexpr (sizeof(Item) == 8)
      return static_cast<Word>(word(i));
    else
      return static_cast<Item>(word(i * static_cast<int>(sizeof(Item)) / 4) >> (8 * (i * sizeof(Item) % 4)));
  }
  // Sets an item that is zero.
  template <class Word>
  __device__ __forceinline__ void set(int i, Word item) {
    if constexpr (sizeof(Item) == 8) {
      word(i) = item;
    } else {
      const uint32_t before = 8 * (i * sizeof(Item) % 4);
      word(i * static_cast<int>(sizeof(Item)) / 4) |= static_cast<uint32_t>(static_cast<Item>(item)) << before;
    }
  }
};

template <int count, class Item, class Word, int items>
__device__ __forceinline__ void read_pack(const Item* from, Word (&values)[items], int first) {
  Pack<Item, count> pack = *reinterpret_cast<const Pack<Item, count>*>(from);
  FERRULE_UNROLL
  for (int i = 0; i < count; ++i) values[first + i] = pack.template item<Word>(i);
}
template <int count, class Item, class Word, int items>
__device__ __forceinline__ void write_pack(Item* to, const Word (&values)[items], int first) {
  Pack<Item, count> pack = {};
  FERRULE_UNROLL
  for (int i = 0; i < count; ++i) pack.set(i, values[first + i]);
  *reinterpret_cast<Pack<Item, count>*>(to) = pack;
}
template <class Item>
__device__ __forceinline__ bool is_pack_of_group(const Item* at) {
  return reinterpret_cast<Address>(at) % Pack<Item, group_size>::alignment == 0;
}

// All items of a thread, whose groups are whole.
template <class Item, class Word, class Elements>
__device__ __forceinline__ void read_packs(Address address, const Elements& elements, Word (&values)[Elements::items]) {
  const Item* const start = pointer<const Item>(address) + elements.begin();
  if constexpr (sizeof(Item) <= 2)
    if (elements.are_adjacent()) return read_pack<Elements::items>(start, values, 0);
  FERRULE_UNROLL
  for (int first = 0; first < Elements::items; first += group_size)
    read_pack<group_size>(start + elements.distance(first), values, first);
}
template <class Item, class Word, class Elements>
__device__ __forceinline__ void write_packs(Address address, const Elements& elements,
                                            const Word (&values)[Elements::items]) {
  Item* const start = pointer<Item>(address) + elements.begin();
  if constexpr (sizeof(Item) <= 2)
    if (elements.are_adjacent()) return write_pack<Elements::items>(start, values, 0);
  FERRULE_UNROLL
  for (int first = 0; first < Elements::items; first += group_size)
    write_pack<group_size>(start + elements.distance(first), values, first);
}

template <class Item, class Word, int items>
__device__ __forceinline__ void read_group(Address address, const Offsets& offsets, Word (&values)[items], int first) {
  const Item* const base = pointer<const Item>(address);
  if (offsets.are_adjacent && is_pack_of_group(base + offsets.at[0]))
    return read_pack<group_size>(base + offsets.at[0], values, first);
  FERRULE_UNROLL
  for (int i = 0; i < group_size; ++i) values[first + i] = static_cast<Word>(base[offsets.at[i]]);
}
template <class Item, class Word, class Elements>
__device__ __forceinline__ void write_group(Address address, const Offsets& offsets, const Elements& elements,
                                            const Word (&values)[Elements::items], int first) {
  Item* const base = pointer<Item>(address);
  if (offsets.are_adjacent && is_pack_of_group(base + offsets.at[0]))
    return write_pack<group_size>(base + offsets.at[0], values, first);
  FERRULE_UNROLL
  for (int i = 0; i < group_size; ++i)
    if (elements.has(first + i)) base[offsets.at[i]] = static_cast<Item>(values[first + i]);
}

// Whether all items of a thread are packs in memory, which is the usual case.
template <class AnyOperand, class Elements>
__device__ __forceinline__ bool are_packs(const AnyOperand& operand, uint32_t size, const Elements& elements) {
  const uint32_t items = elements.are_adjacent() ? uint32_t{Elements::items} : uint32_t{group_size};
  const Address begin = operand.address + elements.begin() * size;
  return operand.access == Access::flat && begin % (size >= 4 ? 16 : items * size) == 0 && elements.are_whole();
}

template <class Word, class Program, class AnyOperand, class Elements>
__device__ __forceinline__ void load_operand(const Program& p, const AnyOperand& operand, const Elements& elements,
                                             Word (&values)[Elements::items]) {
  constexpr int items = Elements::items;
  const uint32_t size = size_of(operand.format);
  if (operand.access == Access::constant || operand.access == Access::single) {
    Word item = size == 4 ? static_cast<uint32_t>(operand.address) : static_cast<Word>(operand.address);
    if (operand.access == Access::single) {
      if (size == 1) item = *pointer<const uint8_t>(operand.address);
      if (size == 2) item = *pointer<const uint16_t>(operand.address);
      if (size == 4) item = *pointer<const uint32_t>(operand.address);
      if constexpr (sizeof(Word) == 8)
        if (size == 8) item = *pointer<const uint64_t>(operand.address);
    }
    FERRULE_UNROLL
    for (int i = 0; i < items; ++i) values[i] = item;
    return words_of_items(operand.format, values);
  }
  if (are_packs(operand, size, elements)) {
    if (size == 4) read_packs<uint32_t>(operand.address, elements, values);
    if (size == 2) read_packs<uint16_t>(operand.address, elements, values);
    if (size == 1) read_packs<uint8_t>(operand.address, elements, values);
    if constexpr (sizeof(Word) == 8)
      if (size == 8) read_packs<uint64_t>(operand.address, elements, values);
  } else {
    FERRULE_UNROLL
    for (int first = 0; first < items; first += group_size) {
      const Offsets offsets = offsets_of_group(p, operand, elements, first / group_size);
      if (size == 4) read_group<uint32_t>(operand.address, offsets, values, first);
      if (size == 2) read_group<uint16_t>(operand.address, offsets, values, first);
      if (size == 1) read_group<uint8_t>(operand.address, offsets, values, first);
      if constexpr (sizeof(Word) == 8)
        if (size == 8) read_group<uint64_t>(operand.address, offsets, values, first);
    }
  }
  if (size < 4) words_of_items(operand.format, values);
}

template <class Word, class Program, class AnyOperand, class Elements>
__device__ __forceinline__ void store_operand(const Program& p, const AnyOperand& operand, const Elements& elements,
                                              const Word (&values)[Elements::items]) {
  constexpr int items = Elements::items;
  const uint32_t size = size_of(operand.format);
  Word stored[items];
  FERRULE_UNROLL
  for (int i = 0; i < items; ++i) stored[i] = values[i];
  items_of_words(operand.format, stored);
  if (are_packs(operand, size, elements)) {
    if (size == 4) write_packs<uint32_t>(operand.address, elements, stored);
    if (size == 2) write_packs<uint16_t>(operand.address, elements, stored);
    if (size == 1) write_packs<uint8_t>(operand.address, elements, stored);
    if constexpr (sizeof(Word) == 8)
      if (size == 8) write_packs<uint64_t>(operand.address, elements, stored);
    return;
  }
  FERRULE_UNROLL
  for (int first = 0; first < items; first += group_size) {
    const Offsets offsets = offsets_of_group(p, operand, elements, first / group_size);
    if (size == 4) write_group<uint32_t>(operand.address, offsets, elements, stored, first);
    if (size == 2) write_group<uint16_t>(operand.address, offsets, elements, stored, first);
    if (size == 1) write_group<uint8_t>(operand.address, offsets, elements, stored, first);
    if constexpr (sizeof(Word) == 8)
      if (size == 8) write_group<uint64_t>(operand.address, offsets, elements, stored, first);
  }
}

}  // namespace ferrule::cuda::elementwise
