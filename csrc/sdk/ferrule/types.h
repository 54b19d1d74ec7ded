/* Types shared by the core, backends and host programs. C11, also valid C++. */
#ifndef FERRULE_TYPES_H
#define FERRULE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Underlying type of the enums: code in other languages may pass any int, which a C++ enum can hold only with a fixed
 * underlying type. */
#ifdef __cplusplus
#define FE_ANY_INT : int
#else
#define FE_ANY_INT
#endif

/* In a list of slots or fields: the entries that follow were appended in this minor version of the binary interface. */
#define FE_SINCE(minor)

/* Largest number of dimensions of an array. */
#define FE_MAX_RANK 8

/* Why a call failed. The values are part of the binary interface; new ones are only appended. */
typedef enum fe_code FE_ANY_INT {
  FE_OK = 0,
  FE_INVALID_ARGUMENT = 1, /* a value, shape, dtype or attribute of the caller is wrong */
  FE_UNSUPPORTED = 2,      /* valid, but not offered by this device, module or build */
  FE_OUT_OF_MEMORY = 3,    /* of the host or of a device */
  FE_DEVICE_LOST = 4,      /* the device stopped working; its memory is lost (fe_refresh) */
  FE_ABI_MISMATCH = 5,     /* the module was built for another version of the binary interface */
  FE_NOT_FOUND = 6,        /* no backend, device or file of that name; or its backend was unloaded */
  FE_IO = 7,               /* a file could not be read or written */
  FE_TIMEOUT = 8,
  FE_CANCELLED = 9, /* by the caller's cancel function */
  FE_INTERNAL = 10, /* a defect of the core or of a module */
  FE_CODE_COUNT
} fe_code;

/* An error: a code and one sentence. Functions return NULL for success, else an error that the caller releases
 * (fe_error_release in a program, fe_host.error_release in a module). */
typedef struct fe_error fe_error;

/* Ids that the core assigns to names. They are valid for the life of the process and may differ in another one. 0 is
 * never a valid id. */
typedef uint32_t fe_op;
typedef uint32_t fe_dtype;

/* Severity of a log line. */
typedef enum fe_log_level FE_ANY_INT {
  FE_LOG_DEBUG = 0,
  FE_LOG_INFO = 1,
  FE_LOG_WARNING = 2,
  FE_LOG_ERROR = 3
} fe_log_level;

/* Access to borrowed memory: READ if nobody writes to it while it is borrowed, READ_WRITE if its owner may. READ_FILE
 * is READ of a shared mapping of a file, for fe_buffer_from_host_ptr alone: when a graph has repacked a constant of it,
 * the system gets the constant's pages back, and reads them again when they are needed. */
typedef enum fe_access FE_ANY_INT { FE_ACCESS_READ = 1, FE_ACCESS_READ_WRITE = 3, FE_ACCESS_READ_FILE = 5 } fe_access;

/* Kinds of device, in the order in which fe_devices lists them. fe_device_best only picks a GPU, an integrated GPU or a
 * CPU. */
typedef enum fe_device_kind FE_ANY_INT {
  FE_DEVICE_GPU = 0,
  FE_DEVICE_INTEGRATED_GPU = 1,
  FE_DEVICE_ACCELERATOR = 2,
  FE_DEVICE_REMOTE = 3,
  FE_DEVICE_CPU = 4,
  FE_DEVICE_SOFTWARE = 5, /* an emulated GPU, such as lavapipe */
  FE_DEVICE_TEST = 6,     /* for tests: the null backend */
  FE_DEVICE_KIND_COUNT
} fe_device_kind;

/* The class of a dtype; promotion and attribute rules depend on it. */
typedef enum fe_dtype_class FE_ANY_INT {
  FE_CLASS_BOOL = 0,
  FE_CLASS_SIGNED = 1,
  FE_CLASS_UNSIGNED = 2,
  FE_CLASS_FLOAT = 3,
  FE_CLASS_COMPLEX = 4,
  FE_CLASS_BLOCK = 5, /* quantised weights: several elements share one block of bytes and are not addressable */
  FE_CLASS_COUNT
} fe_dtype_class;

/* Memory layout of a dtype. Shapes, strides and offsets count elements, for every dtype. An element of a plain dtype is
 * one block. For a block dtype the last axis is contiguous and a whole number of blocks, and the other strides and the
 * offsets are multiples of block_elements. A block is aligned to the largest power of two that divides block_bytes. */
#define FE_DTYPE_INFO_FIELDS(F)                         \
  F(const char *, name)                                 \
  F(uint32_t, dtype_class)    /* fe_dtype_class */      \
  F(uint32_t, block_elements) /* 1 for a plain dtype */ \
  F(uint32_t, block_bytes)
#define FE_FIELD(type, name) type name;
typedef struct fe_dtype_info {
  size_t struct_size;
  FE_DTYPE_INFO_FIELDS(FE_FIELD)
} fe_dtype_info;
#undef FE_FIELD

/* Size in bytes of `elements` elements, a whole number of blocks. Negative for a negative offset. */
static inline int64_t fe_bytes_of(const fe_dtype_info *dtype, int64_t elements) {
  return elements / (int64_t)dtype->block_elements * (int64_t)dtype->block_bytes;
}

/* List attributes, as fields of the attribute structs of ops.h. `data` may be NULL if `count` is 0. */
typedef struct fe_int64_list {
  const int64_t *data;
  size_t count;
} fe_int64_list;
typedef struct fe_float64_list {
  const double *data;
  size_t count;
} fe_float64_list;

/* A scalar of a plain dtype, in its memory layout; bytes past the size of the dtype are zero. A complex number is its
 * real part followed by its imaginary part. */
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
