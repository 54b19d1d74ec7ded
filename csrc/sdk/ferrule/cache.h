/* A persistent cache for results that are expensive to compute, such as programs compiled for a device. C11, also valid
 * C++.
 *
 *     const fe_cache *cache = (const fe_cache *)host->get_proc(FE_CACHE);
 *
 * The result is NULL if the host has no cache, and is valid as long as the module is loaded. Any thread may call the
 * functions. Entries are files in the user's cache folder (FERRULE_CACHE_DIR), shared by all processes of the user and
 * verified by the SHA-256 of key and bytes. An entry may disappear at any time. A cache that is missing, full,
 * read-only or damaged behaves as an empty one; no function fails. */
#ifndef FERRULE_CACHE_H
#define FERRULE_CACHE_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FE_CACHE "cache"

/* Receives an entry; `bytes` are valid during the call. It must not throw. */
typedef void (*fe_cache_found_function)(void *argument, const void *bytes, size_t size);
/* Looks up the latest entry of `kind` and `key`. Calls found(argument, bytes, size) once and returns 1 if there is one;
 * else returns 0. */
typedef int (*fe_cache_get_function)(const char *kind, const void *key, size_t key_size, fe_cache_found_function found,
                                     void *argument);
/* Stores an entry, replacing the one of the same `kind` and `key`. Returns 1 if it is stored, else 0.
 * `kind`: at most 32 characters of [a-z0-9_] that name the module and the content ("vulkan_pipelines").
 * `key`: everything that the bytes depend on: device, driver, version of the module.
 * Key and bytes together have at most 63 MiB. The 16 entries stored last, of all modules together, are kept. */
typedef int (*fe_cache_put_function)(const char *kind, const void *key, size_t key_size, const void *bytes,
                                     size_t size);

typedef struct fe_cache {
  size_t struct_size;
  fe_cache_get_function get;
  fe_cache_put_function put;
} fe_cache;

#ifdef __cplusplus
}
#endif
#endif
