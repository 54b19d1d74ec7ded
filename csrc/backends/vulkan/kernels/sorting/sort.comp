// Stable sorts of rows by merging: runs of elements are sorted, and each dispatch merges pairs of them into runs of twice
// the length, between two halves of the node's scratch memory. An element's place in the merged run is its own plus the
// number of elements of the other run that come before it, which a binary search finds. Elements are compared by keys.
// variants: bool i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../sort_keys.glsl"

// 0: reads runs, and sorts each of them. 1: merges pairs of runs. 2: writes the sorted elements. 3: writes their indices.
// 4: marks the elements of a single row that differ from the one before them, in scratch memory. NaN equals nothing.
layout(constant_id = 3) const uint TASK = 0;
layout(constant_id = 4) const bool DESCENDING = false;

#define RUN 8  // elements of the runs of task 0; also in sort.cpp

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout kept;             // the rows of x
  int64_t count;           // invocations
  int64_t row_length, stride;
  int64_t run;             // the length of the runs to be merged
  int64_t from, to_half;   // the halves of the scratch memory, 0 or 1
  int64_t entries;         // elements of a half
  int64_t marks;           // the place of the marks in scratch memory
  uint to;
};

layout(buffer_reference, scalar, buffer_reference_align = 8) buffer Entry {
  Key key;
  uint index;
};
#define ENTRY_BYTES (2 * KEY_BYTES)
#define entry_at(half_, place) Entry(scratch_address() + ((half_) + uint64_t(place)) * ENTRY_BYTES)

uint64_t row_address(Parameters p, uint64_t row) {
  return push.addresses.at[p.kept.value] + uint64_t(offset_in(p.kept, row) * ITEM_BYTES);
}

// Insertion: an element moves before those with greater keys.
void sort_run(Parameters p, uint64_t row, uint64_t first, uint64_t half_) {
  uint64_t from = row_address(p, row), begin = row * uint64_t(p.row_length) + first;
  uint size = uint(min(uint64_t(p.row_length) - first, uint64_t(RUN)));
  Key keys[RUN];
  uint indices[RUN];
  for (uint i = 0u; i < size; ++i) {
    uint index = uint(first) + i, place = i;
    Key key = key_at(from + uint64_t(int64_t(uint64_t(index)) * p.stride * ITEM_BYTES));
    if (DESCENDING) key = ~key;
    for (; place > 0u && keys[place - 1u] > key; --place) {
      keys[place] = keys[place - 1u];
      indices[place] = indices[place - 1u];
    }
    keys[place] = key;
    indices[place] = index;
  }
  for (uint i = 0u; i < size; ++i) {
    entry_at(half_, begin + i).key = keys[i];
    entry_at(half_, begin + i).index = indices[i];
  }
}

void merge(Parameters p, uint64_t number, uint64_t from, uint64_t to) {
  uint64_t length = uint64_t(p.row_length), run = uint64_t(p.run);
  uint64_t row = number / length, place = number - row * length, begin = number - place;
  uint64_t pair = place / (2ul * run) * 2ul * run, middle = min(pair + run, length);
  bool is_first = place < middle;
  Key key = entry_at(from, number).key;
  // Equal elements of the first run come before those of the second one: the sort is stable.
  uint64_t low = is_first ? middle : pair, high = is_first ? min(pair + 2ul * run, length) : middle, other = low;
  while (low < high) {
    uint64_t between = low + (high - low) / 2ul;
    Key found = entry_at(from, begin + between).key;
    if (is_first ? found < key : found <= key)
      low = between + 1ul;
    else
      high = between;
  }
  uint64_t own = place - (is_first ? pair : middle), target = begin + pair + own + (low - other);
  entry_at(to, target).key = key;
  entry_at(to, target).index = entry_at(from, number).index;
}

void main() {
  Parameters p = Parameters(push.parameters);
  uint64_t number = invocation();
  if (number >= uint64_t(p.count)) return;
  uint64_t from = uint64_t(p.from * p.entries), to = uint64_t(p.to_half * p.entries);
  if (TASK == 0u) {
    uint64_t runs = (uint64_t(p.row_length) + RUN - 1ul) / RUN, row = number / runs;
    sort_run(p, row, (number - row * runs) * RUN, to);
  } else if (TASK == 1u) {
    merge(p, number, from, to);
  } else if (TASK == 4u) {
    Key key = entry_at(from, number).key;
    bool differs = number == 0ul || key != entry_at(from, number - 1ul).key;
#if defined INFINITE
    differs = differs || key == KEY_OF_NAN;
#endif
    RefU8(scratch_address() + uint64_t(p.marks) + number).at = uint8_t(differs ? 1u : 0u);
  } else {
    uint64_t row = number / uint64_t(p.row_length), target = push.addresses.at[p.to];
    uint64_t index = min(uint64_t(entry_at(from, number).index), uint64_t(p.row_length) - 1ul);
    if (TASK == 2u)
      Item(target + number * ITEM_BYTES).at = Item(row_address(p, row) + index * uint64_t(p.stride * ITEM_BYTES)).at;
    else
      RefU64(target + number * 8ul).at = index;
  }
}
