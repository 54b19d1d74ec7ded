/* The three exported symbols of a module, and the constant that a loader reads without executing the module. */
#ifndef FERRULE_ABI_H
#define FERRULE_ABI_H

#include <ferrule/layout_hash.h>
#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* "ferrule" and a zero byte, read as a little-endian number. */
#define FE_ABI_MAGIC UINT64_C(0x00656c7572726566)
#define FE_ABI_MAJOR 0
#define FE_ABI_MINOR 1

/* Largest hash_count. Readers reject a module with more; from minor 65 of a major on, the oldest hash is left out. */
#define FE_ABI_MOST_HASHES 64

/* The binary interface that a module was built for. Constant data without pointers, so that a loader can read it from
 * the file. The number of hashes depends on the minor: read `hash_count` before them, and nothing past `struct_size`.
 *
 * A hash covers every slot and field up to and including one minor. The last hash is that of `minor`, and each earlier
 * one that of the minor before. So the newer side knows the hash of the older side's minor, and the two compare the
 * hashes of the lower of their minors. */
typedef struct fe_abi {
  uint64_t magic;
  uint32_t struct_size;
  uint32_t major;
  uint32_t minor;
  uint32_t hash_count; /* 1 to FE_ABI_MOST_HASHES */
  uint64_t layout_hashes[FE_LAYOUT_HASH_COUNT];
} fe_abi;

/* Initialises an fe_abi with the version of these headers. */
#define FE_ABI_INITIALIZER                                                                               \
  {                                                                                                      \
    FE_ABI_MAGIC, sizeof(fe_abi), FE_ABI_MAJOR, FE_ABI_MINOR, FE_LAYOUT_HASH_COUNT, { FE_LAYOUT_HASHES } \
  }

#if defined(_WIN32)
#define FE_MODULE_EXPORT __declspec(dllexport)
#else
#define FE_MODULE_EXPORT __attribute__((visibility("default")))
#endif

/* Names of the exported symbols. A module exports these and hides all others. */
#define FE_ABI_SYMBOL "ferrule_backend_abi"     /* const fe_abi */
#define FE_SCORE_SYMBOL "ferrule_backend_score" /* fe_score_function of backend.h, optional */
#define FE_INIT_SYMBOL "ferrule_backend_init"   /* fe_init_function of backend.h */

#ifdef __cplusplus
}
#endif
#endif
