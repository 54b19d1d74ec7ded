/* The three symbols of a module, and what a loader can read of it without running it. */
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

/* A reader believes no module that lists more hashes; from the 65th minor of a major on, the oldest is left out. */
#define FE_ABI_MOST_HASHES 64

/* Constant data without pointers, so that it can be read from the file. Another minor has another number of hashes:
 * read `hash_count` before them, and nothing behind `struct_size`.
 *
 * Each hash covers every slot up to and including one minor. The last is that of `minor`, the one before it that of the
 * minor before. Who is younger thus knows the hash of who is older, and both compare that of the lower minor. */
typedef struct fe_abi {
  uint64_t magic;
  uint32_t struct_size;
  uint32_t major;
  uint32_t minor;
  uint32_t hash_count; /* 1 to FE_ABI_MOST_HASHES */
  uint64_t layout_hashes[FE_LAYOUT_HASH_COUNT];
} fe_abi;

#define FE_ABI_INITIALIZER                                                                               \
  {                                                                                                      \
    FE_ABI_MAGIC, sizeof(fe_abi), FE_ABI_MAJOR, FE_ABI_MINOR, FE_LAYOUT_HASH_COUNT, { FE_LAYOUT_HASHES } \
  }

#if defined(_WIN32)
#define FE_MODULE_EXPORT __declspec(dllexport)
#else
#define FE_MODULE_EXPORT __attribute__((visibility("default")))
#endif

#define FE_ABI_SYMBOL "ferrule_backend_abi"
#define FE_SCORE_SYMBOL "ferrule_backend_score"
#define FE_INIT_SYMBOL "ferrule_backend_init"

#ifdef __cplusplus
}
#endif
#endif
