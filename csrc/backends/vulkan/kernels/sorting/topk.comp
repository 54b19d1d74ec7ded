// The k greatest or least elements of each row, sorted, with one workgroup per row. The k-th key is found digit by
// digit, from the counts of each digit. The first of equal elements are taken; the last one taken is found in the same
// way. The taken elements are then sorted by a bitonic network in the node's scratch memory.
// variants: i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64
#version 460
#extension GL_GOOGLE_include_directive : require
#include "../shader_interface.glsl"
#include "../sort_keys.glsl"

layout(constant_id = 3) const bool LEAST = false;

layout(buffer_reference, scalar, buffer_reference_align = 8) readonly buffer Parameters {
  Layout kept;
  int64_t rows, count, stride;  // of x: along the axis
  int64_t k, inner;              // of the outputs: length of a row, and elements between its elements
  int64_t padded;                // k, rounded up to a power of two
  uint values, indices;
};

// An element to be sorted. It is coherent because other invocations read it.
layout(buffer_reference, scalar, buffer_reference_align = 8) coherent buffer Entry {
  Key key;
  uint index;
};
#define ENTRY_BYTES (2 * KEY_BYTES)

shared uint histogram[256];
shared uint missing;     // elements still to be taken, of those that match the digits found so far
shared Key found_key;    // the key of the k-th element
shared uint found_turn;  // the least turn taken, of the elements with that key
shared bool has_ties;    // elements with that key that are not taken
shared uint taken;

// Earlier elements have greater turns.
uint turn_of(uint index) { return ~index; }

Key ordered_key(uint64_t address) { return LEAST ? ~key_at(address) : key_at(address); }

void clear_histogram() {
  for (uint i = gl_LocalInvocationIndex; i < 256u; i += gl_WorkGroupSize.x) histogram[i] = 0u;
  barrier();
}

// The digit of the k-th of the counted elements.
uint digit_found() {
  uint digit = 255u;
  while (digit > 0u && histogram[digit] < missing) {
    missing -= histogram[digit];
    --digit;
  }
  return digit;
}

bool is_better(Key key, uint index, Key other, uint other_index) {
  return key != other ? key > other : index < other_index;
}

void main() {
  Parameters p = Parameters(push.parameters);
  const uint size = gl_WorkGroupSize.x, own = gl_LocalInvocationIndex;
  uint64_t row = invocation() / size;
  if (row >= uint64_t(p.rows)) return;
  const uint length = uint(p.count), k = uint(p.k), padded = uint(p.padded);
  const int64_t step = p.stride * ITEM_BYTES;
  uint64_t from = push.addresses.at[p.kept.value] + uint64_t(offset_in(p.kept, row) * ITEM_BYTES);
  if (own == 0u) {
    missing = k;
    found_key = Key(0);
    found_turn = 0u;
    taken = 0u;
  }

  Key known = Key(0);  // the bits of the digits so far
  for (int shift = 8 * KEY_BYTES - 8; shift >= 0; shift -= 8) {
    clear_histogram();
    for (uint i = own; i < length; i += size) {
      Key key = ordered_key(from + uint64_t(int64_t(uint64_t(i)) * step));
      if ((key & known) == found_key) atomicAdd(histogram[uint(key >> shift) & 255u], 1u);
    }
    barrier();
    if (own == 0u) {
      uint digit = digit_found();
      found_key |= Key(digit) << shift;
      has_ties = histogram[digit] > missing;
    }
    known |= Key(255u) << shift;
    barrier();
  }
  uint known_turn = 0u;
  for (int shift = has_ties ? 24 : -8; shift >= 0; shift -= 8) {
    clear_histogram();
    for (uint i = own; i < length; i += size) {
      Key key = ordered_key(from + uint64_t(int64_t(uint64_t(i)) * step));
      if (key == found_key && (turn_of(i) & known_turn) == found_turn)
        atomicAdd(histogram[(turn_of(i) >> shift) & 255u], 1u);
    }
    barrier();
    if (own == 0u) found_turn |= digit_found() << shift;
    known_turn |= 255u << shift;
    barrier();
  }

  uint64_t entries = scratch_address() + row * uint64_t(p.padded) * ENTRY_BYTES;
  for (uint i = own; i < length; i += size) {
    Key key = ordered_key(from + uint64_t(int64_t(uint64_t(i)) * step));
    if (key < found_key || (key == found_key && turn_of(i) < found_turn)) continue;
    uint place = atomicAdd(taken, 1u);
    if (place >= k) continue;  // happens if the owner of the memory writes to it meanwhile
    Entry entry = Entry(entries + uint64_t(place) * ENTRY_BYTES);
    entry.key = key;
    entry.index = i;
  }
  barrier();
  for (uint i = min(taken, k) + own; i < padded; i += size) {
    Entry entry = Entry(entries + uint64_t(i) * ENTRY_BYTES);
    entry.key = Key(0);
    entry.index = ~0u;  // worse than any element
  }
  memoryBarrierBuffer();
  barrier();

  for (uint block = 2u; block <= padded; block *= 2u)
    for (uint gap = block / 2u; gap > 0u; gap /= 2u) {
      for (uint i = own; i < padded / 2u; i += size) {
        uint place = 2u * i - (i & (gap - 1u));
        Entry a = Entry(entries + uint64_t(place) * ENTRY_BYTES);
        Entry b = Entry(entries + uint64_t(place + gap) * ENTRY_BYTES);
        Key key = a.key, other = b.key;
        uint index = a.index, other_index = b.index;
        bool best_first = (place & block) == 0u;
        if (is_better(key, index, other, other_index) == best_first) continue;
        a.key = other;
        a.index = other_index;
        b.key = key;
        b.index = index;
      }
      memoryBarrierBuffer();
      barrier();
    }

  uint64_t outer = row / uint64_t(p.inner);
  uint64_t place = outer * uint64_t(p.k * p.inner) + (row - outer * uint64_t(p.inner));
  for (uint i = own; i < k; i += size) {
    Entry entry = Entry(entries + uint64_t(i) * ENTRY_BYTES);
    uint index = min(entry.index, length - 1u);
    uint64_t to = place + uint64_t(i) * uint64_t(p.inner);
    Item(push.addresses.at[p.values] + to * ITEM_BYTES).at = Item(from + uint64_t(int64_t(uint64_t(index)) * step)).at;
    RefU64(push.addresses.at[p.indices] + to * 8ul).at = uint64_t(index);
  }
}
