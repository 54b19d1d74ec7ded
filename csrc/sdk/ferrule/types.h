/* The plain types that the core, a backend and a host program share. C11, also valid C++. */
#ifndef FERRULE_TYPES_H
#define FERRULE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Enums come from code of other compilers and languages. In C++ one holds any int only when it says so. */
#ifdef __cplusplus
#define FE_ANY_INT : int
#else
#define FE_ANY_INT
#endif

/* In a list of slots or fields: what follows was appended by this minor of the binary interface. */
#define FE_SINCE(minor)

/* An array has at most this many dimensions. */
#define FE_MAX_RANK 8

/* Why a call failed. Values are part of the binary interface and are only appended. */
typedef enum fe_code FE_ANY_INT {
  FE_OK = 0,
  FE_INVALID_ARGUMENT = 1, /* the caller's value, shape, dtype or attribute is wrong */
  FE_UNSUPPORTED = 2,      /* right, but not offered by this device, module or build */
  FE_OUT_OF_MEMORY = 3,
  FE_DEVICE_LOST = 4,
  FE_ABI_MISMATCH = 5,
  FE_NOT_FOUND = 6,
  FE_IO = 7,
  FE_TIMEOUT = 8,
  FE_CANCELLED = 9,
  FE_INTERNAL = 10,
  FE_CODE_COUNT
} fe_code;

/* An error: a code and one sentence. Functions return NULL for success, else an error that the caller releases. */
typedef struct fe_error fe_error;

/* Ids are given by the core for names and hold for the life of the process; 0 is never a valid id. */
typedef uint32_t fe_op;
typedef uint32_t fe_dtype;

/* Severity of a log line. */
typedef enum fe_log_level FE_ANY_INT {
  FE_LOG_DEBUG = 0,
  FE_LOG_INFO = 1,
  FE_LOG_WARNING = 2,
  FE_LOG_ERROR = 3
} fe_log_level;

/* What an array's bytes may be used for. */
typedef enum fe_access FE_ANY_INT { FE_ACCESS_READ = 1, FE_ACCESS_READ_WRITE = 3 } fe_access;

/* Kinds of device, in the order in which `devices()` lists them and `best` considers them. */
typedef enum fe_device_kind FE_ANY_INT {
  FE_DEVICE_GPU = 0,
  FE_DEVICE_INTEGRATED_GPU = 1,
  FE_DEVICE_ACCELERATOR = 2,
  FE_DEVICE_REMOTE = 3,
  FE_DEVICE_CPU = 4,
  FE_DEVICE_SOFTWARE = 5,
  FE_DEVICE_TEST = 6,
  FE_DEVICE_KIND_COUNT
} fe_device_kind;

/* The class of a dtype, which rules about promotion and attributes ask for. */
typedef enum fe_dtype_class FE_ANY_INT {
  FE_CLASS_BOOL = 0,
  FE_CLASS_SIGNED = 1,
  FE_CLASS_UNSIGNED = 2,
  FE_CLASS_FLOAT = 3,
  FE_CLASS_COMPLEX = 4,
  FE_CLASS_BLOCK = 5, /* quantised weights: elements share a block of bytes, and have no address of their own */
  FE_CLASS_COUNT
} fe_dtype_class;

/* A dtype: how elements lie in memory. Shapes, strides and offsets count elements, of every dtype. One of a plain dtype
 * is a block by itself. Of a block dtype the last axis is contiguous and a whole number of blocks; other strides, and
 * offsets, are multiples of block_elements. A block lies at a multiple of the largest power of two that divides
 * block_bytes. */
#define FE_DTYPE_INFO_FIELDS(F)                        \
  F(const char *, name)                                \
  F(uint32_t, dtype_class)    /* fe_dtype_class */     \
  F(uint32_t, block_elements) /* 1 of a plain dtype */ \
  F(uint32_t, block_bytes)
#define FE_FIELD(type, name) type name;
typedef struct fe_dtype_info {
  size_t struct_size;
  FE_DTYPE_INFO_FIELDS(FE_FIELD)
} fe_dtype_info;
#undef FE_FIELD

/* Bytes of `elements` elements, which are whole blocks; negative where `elements` is: an offset. */
static inline int64_t fe_bytes_of(const fe_dtype_info *dtype, int64_t elements) {
  return elements / (int64_t)dtype->block_elements * (int64_t)dtype->block_bytes;
}

/* Attributes that are lists, as they stand in an attribute struct of ops.h. */
typedef struct fe_int64_list {
  const int64_t *data;
  size_t count;
} fe_int64_list;
typedef struct fe_float64_list {
  const double *data;
  size_t count;
} fe_float64_list;

/* A scalar in the (plain) dtype of its value; the bytes past the dtype's size are zero. Complex: real, imaginary. */
typedef union fe_scalar {
  uint8_t bytes[16];
  double f64;
  float f32;
  int64_t i64;
  uint64_t u64;
} fe_scalar;

#ifdef __cplusplus
}
#endif
#endif
