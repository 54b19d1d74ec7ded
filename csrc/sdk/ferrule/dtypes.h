/* The dtypes, one row each. All code that needs a list of them derives it from this one: the core, the binary
 * interface's C++ headers, the bindings and Python, backends and their kernels, the conformance kit.
 * docs/develop/dtypes.md says how one is added.
 *
 * FE_DTYPES(NUMBER, BLOCK) calls NUMBER for each plain dtype and BLOCK for each block dtype, in the order of their ids.
 * New rows are appended. C11, also valid C++.
 *
 * NUMBER(id, abbreviation, name, dtype_class, stored, computed, exponent, mantissa, infinity, package, dlpack,
 *        safetensors, gguf)
 *   id, abbreviation       names of enumerators
 *   name                   of the dtype in ferrule and in `package`
 *   dtype_class            an fe_dtype_class without FE_CLASS_
 *   stored                 the C type of an element in memory: of a complex number its parts, of floating-point numbers
 *                          that C does not have their bits
 *   computed               the id of the dtype in which ops compute it; `none` if it is only moved, compared and cast
 *   exponent, mantissa     bits of a floating-point number; 0 for others
 *   infinity               1 if a floating-point dtype has infinities; if not, the greatest bits are NaN
 *   package                the Python package whose dtype it is
 *   dlpack                 DLDataTypeCode
 *   safetensors            the name in safetensors files; "" if they cannot have it
 *   gguf                   ggml_type, the number in GGUF files; -1 if they cannot have it
 *
 * BLOCK(id, elements, bytes, encoded, gguf): quantised weights of GGUF files (https://github.com/ggml-org/ggml,
 * docs/gguf.md). The id is also the name.
 *   elements, bytes        of a block
 *   encoded                1 if float32 can be converted to it; all become float32
 */
#ifndef FERRULE_DTYPES_H
#define FERRULE_DTYPES_H

/* clang-format off */
#define FE_DTYPES(NUMBER, BLOCK) \
  NUMBER(boolean,       boolean,   "bool",          BOOL,     uint8_t,  boolean,    0,  0,  0, "numpy",     6,  "BOOL",    -1) \
  NUMBER(int8,          i8,        "int8",          SIGNED,   int8_t,   int8,       0,  0,  0, "numpy",     0,  "I8",      24) \
  NUMBER(int16,         i16,       "int16",         SIGNED,   int16_t,  int16,      0,  0,  0, "numpy",     0,  "I16",     25) \
  NUMBER(int32,         i32,       "int32",         SIGNED,   int32_t,  int32,      0,  0,  0, "numpy",     0,  "I32",     26) \
  NUMBER(int64,         i64,       "int64",         SIGNED,   int64_t,  int64,      0,  0,  0, "numpy",     0,  "I64",     27) \
  NUMBER(uint8,         u8,        "uint8",         UNSIGNED, uint8_t,  uint8,      0,  0,  0, "numpy",     1,  "U8",      -1) \
  NUMBER(uint16,        u16,       "uint16",        UNSIGNED, uint16_t, uint16,     0,  0,  0, "numpy",     1,  "U16",     -1) \
  NUMBER(uint32,        u32,       "uint32",        UNSIGNED, uint32_t, uint32,     0,  0,  0, "numpy",     1,  "U32",     -1) \
  NUMBER(uint64,        u64,       "uint64",        UNSIGNED, uint64_t, uint64,     0,  0,  0, "numpy",     1,  "U64",     -1) \
  NUMBER(float32,       f32,       "float32",       FLOAT,    float,    float32,    8,  23, 1, "numpy",     2,  "F32",      0) \
  NUMBER(float64,       f64,       "float64",       FLOAT,    double,   float64,    11, 52, 1, "numpy",     2,  "F64",     28) \
  NUMBER(float16,       f16,       "float16",       FLOAT,    uint16_t, float32,    5,  10, 1, "numpy",     2,  "F16",      1) \
  NUMBER(bfloat16,      bf16,      "bfloat16",      FLOAT,    uint16_t, float32,    8,  7,  1, "ml_dtypes", 4,  "BF16",    30) \
  NUMBER(float8_e4m3fn, f8_e4m3fn, "float8_e4m3fn", FLOAT,    uint8_t,  none,       4,  3,  0, "ml_dtypes", 10, "F8_E4M3", -1) \
  NUMBER(float8_e5m2,   f8_e5m2,   "float8_e5m2",   FLOAT,    uint8_t,  none,       5,  2,  1, "ml_dtypes", 12, "F8_E5M2", -1) \
  NUMBER(complex64,     c64,       "complex64",     COMPLEX,  float,    complex64,  0,  0,  0, "numpy",     5,  "C64",     -1) \
  NUMBER(complex128,    c128,      "complex128",    COMPLEX,  double,   complex128, 0,  0,  0, "numpy",     5,  "",        -1) \
  BLOCK(q8_0,    32,  34,  1, 8)  \
  BLOCK(q4_0,    32,  18,  1, 2)  \
  BLOCK(q4_K,    256, 144, 0, 12) \
  BLOCK(q6_K,    256, 210, 0, 14) \
  BLOCK(q4_1,    32,  20,  1, 3)  \
  BLOCK(q5_0,    32,  22,  1, 6)  \
  BLOCK(q5_1,    32,  24,  1, 7)  \
  BLOCK(q2_K,    256, 84,  0, 10) \
  BLOCK(q3_K,    256, 110, 0, 11) \
  BLOCK(q5_K,    256, 176, 0, 13) \
  BLOCK(iq1_s,   256, 50,  0, 19) \
  BLOCK(iq1_m,   256, 56,  0, 29) \
  BLOCK(iq2_xxs, 256, 66,  0, 16) \
  BLOCK(iq2_xs,  256, 74,  0, 17) \
  BLOCK(iq2_s,   256, 82,  0, 22) \
  BLOCK(iq3_xxs, 256, 98,  0, 18) \
  BLOCK(iq3_s,   256, 110, 0, 21) \
  BLOCK(iq4_nl,  32,  18,  0, 20) \
  BLOCK(iq4_xs,  256, 136, 0, 23) \
  BLOCK(tq1_0,   256, 54,  1, 34) \
  BLOCK(tq2_0,   256, 66,  1, 35) \
  BLOCK(mxfp4,   32,  17,  1, 39) \
  BLOCK(nvfp4,   64,  36,  0, 40)
/* clang-format on */

/* As NUMBER or BLOCK: nothing. */
#define FE_NO_DTYPE(...)

/* Bytes of an element of a plain dtype. */
#define FE_DTYPE_BYTES(dtype_class, stored) (sizeof(stored) * (FE_CLASS_##dtype_class == FE_CLASS_COMPLEX ? 2 : 1))

#endif
