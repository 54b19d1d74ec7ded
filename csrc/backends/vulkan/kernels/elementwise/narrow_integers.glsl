// Integers of 8 and 16 bits, held in 32. They wrap after arithmetic, and saturate after a conversion from floating
// point, which gives the nearest integer of 32 bits.

int as_i8(int x) { return bitfieldExtract(x, 0, 8); }
int as_i16(int x) { return bitfieldExtract(x, 0, 16); }
uint as_u8(uint x) { return x & 0xffu; }
uint as_u16(uint x) { return x & 0xffffu; }
int saturated_i8(int x) { return clamp(x, -128, 127); }
int saturated_i16(int x) { return clamp(x, -32768, 32767); }
uint saturated_u8(uint x) { return min(x, 0xffu); }
uint saturated_u16(uint x) { return min(x, 0xffffu); }
