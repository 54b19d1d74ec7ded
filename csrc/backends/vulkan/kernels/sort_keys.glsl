// Unsigned keys with the order of the elements. NaN is detected by its bits, and float64 works on devices that do not
// compute in it. NaN has the greatest key, and no number has key 0. Both zeros have the same key, unless ZEROS_DIFFER is
// defined: then -0 comes first, and the element can be had from its key.
#if defined VARIANT_i64 || defined VARIANT_u64 || defined VARIANT_f64
#define Key uint64_t
#define KEY_BYTES 8
#define ITEM_BYTES 8
#define HIGH 0x8000000000000000ul
#define Item RefU64
#define Bits uint64_t
#else
#define Key uint
#define KEY_BYTES 4
#define HIGH 0x80000000u
#if defined VARIANT_i32 || defined VARIANT_u32 || defined VARIANT_f32
#define ITEM_BYTES 4
#define Item RefU32
#define Bits uint
#elif defined VARIANT_i16 || defined VARIANT_u16 || defined VARIANT_f16 || defined VARIANT_bf16
#define ITEM_BYTES 2
#define Item RefU16
#define Bits uint16_t
#else
#define ITEM_BYTES 1
#define Item RefU8
#define Bits uint8_t
#endif
#endif
// Narrow items are shifted up, so that their sign bit is the key's highest bit.
#define SHIFT (8 * (KEY_BYTES - ITEM_BYTES))
#define KEY_OF_NAN (~Key(0))

#if defined VARIANT_f64
#define INFINITE 0x7ff0000000000000ul
#define QUIET_NAN 0x7ff8000000000000ul
#elif defined VARIANT_f16
#define INFINITE 0x7c000000u
#define QUIET_NAN 0x7e000000u
#elif defined VARIANT_f32 || defined VARIANT_bf16
#define INFINITE 0x7f800000u
#define QUIET_NAN 0x7fc00000u
#endif

#if defined INFINITE
Key key_of(Key bits) {
  Key magnitude = bits & ~HIGH;
  if (magnitude > INFINITE) return KEY_OF_NAN;
#ifndef ZEROS_DIFFER
  if (magnitude == Key(0)) return HIGH;
#endif
  return (bits & HIGH) != Key(0) ? ~bits : bits | HIGH;
}
Key bits_of(Key key) {
  if (key == KEY_OF_NAN) return QUIET_NAN;
  return (key & HIGH) != Key(0) ? key & ~HIGH : ~key;
}
Key reversed(Key key) { return key == KEY_OF_NAN ? key : ~key; }
#elif defined VARIANT_bool
Key key_of(Key bits) { return Key(bits != Key(0)); }
Key bits_of(Key key) { return key_of(key) << SHIFT; }
Key reversed(Key key) { return key ^ Key(1); }
#else
#if defined VARIANT_i8 || defined VARIANT_i16 || defined VARIANT_i32 || defined VARIANT_i64
#define FLIPPED HIGH
#else
#define FLIPPED Key(0)
#endif
Key key_of(Key bits) { return bits ^ FLIPPED; }
Key bits_of(Key key) { return key ^ FLIPPED; }
Key reversed(Key key) { return ~key; }
#endif

Key key_at(uint64_t address) { return key_of(Key(Item(address).at) << SHIFT); }
void store_key(uint64_t address, Key key) { Item(address).at = Bits(bits_of(key) >> SHIFT); }
