// Unsigned keys with the order of the elements of a dtype. NaN has the greatest key. Both zeros have the same one, unless
// ZEROS_DIFFER is defined: then -0 comes first, and the element can be had from its key.
// The including text defines `Stored`, `Key` (uint or ulong; uint for items of up to 4 bytes) and one of KEYS_OF_FLOATS
// (with GREATEST_BITS and NAN_BITS, of elements without a sign), KEYS_OF_SIGNED, KEYS_OF_UNSIGNED and KEYS_OF_BOOLS.
#pragma once
#include "interface.metal"

constant Key key_high = Key(1) << (8 * sizeof(Key) - 1);
constant Key key_of_nan = ~Key(0);
// Narrow items are shifted up, so that their sign bit is the key's highest bit.
constant uint key_shift = 8 * (sizeof(Key) - sizeof(Stored));

#if defined KEYS_OF_FLOATS
constant Key greatest_bits = Key(GREATEST_BITS) << key_shift;
constant Key nan_bits = Key(NAN_BITS) << key_shift;
inline Key key_of(Key bits) {
  const Key magnitude = bits & ~key_high;
  if (magnitude > greatest_bits) return key_of_nan;
#ifndef ZEROS_DIFFER
  if (magnitude == 0) return key_high;
#endif
  return (bits & key_high) != 0 ? ~bits : bits | key_high;
}
inline Key bits_of_key(Key key) {
  if (key == key_of_nan) return nan_bits;
  return (key & key_high) != 0 ? key & ~key_high : ~key;
}
inline Key reversed(Key key) { return key == key_of_nan ? key : ~key; }
#elif defined KEYS_OF_BOOLS
inline Key key_of(Key bits) { return Key(bits != 0); }
inline Key bits_of_key(Key key) { return Key(key != 0) << key_shift; }
inline Key reversed(Key key) { return key ^ 1; }
#elif defined KEYS_OF_SIGNED
inline Key key_of(Key bits) { return bits ^ key_high; }
inline Key bits_of_key(Key key) { return key ^ key_high; }
inline Key reversed(Key key) { return ~key; }
#elif defined KEYS_OF_UNSIGNED
inline Key key_of(Key bits) { return bits; }
inline Key bits_of_key(Key key) { return key; }
inline Key reversed(Key key) { return ~key; }
#endif

inline Key key_at(device const Stored* from, long at) { return key_of(Key(from[at]) << key_shift); }
inline Stored stored_key(Key key) { return Stored(bits_of_key(key) >> key_shift); }
