// An item of one size, for shaders that move items without interpreting them. Variables use Wide, because a device may
// store narrow integers without supporting variables of those types.
#if defined VARIANT_u8
#define Item RefU8
#define ITEM_BYTES 1
#define Narrow uint8_t
#define Wide uint
#elif defined VARIANT_u16
#define Item RefU16
#define ITEM_BYTES 2
#define Narrow uint16_t
#define Wide uint
#elif defined VARIANT_u32
#define Item RefU32
#define ITEM_BYTES 4
#define Narrow uint
#define Wide uint
#else
#define Item RefU64
#define ITEM_BYTES 8
#define Narrow uint64_t
#define Wide uint64_t
#define WIDE_BYTES 8
#endif
#ifndef WIDE_BYTES
#define WIDE_BYTES 4
#endif

// A macro, because a function would return a reference (shader_interface.glsl).
#define item_at(address, offset) Item((address) + uint64_t((offset) * ITEM_BYTES))
