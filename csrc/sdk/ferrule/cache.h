/* What a module worked out at some cost, kept for the next process: programs that it compiled for a device. C11, also
 * valid C++.
 *
 *     const fe_cache *cache = (const fe_cache *)host->get_proc(FE_CACHE);
 *
 * NULL where the host has none. Entries are files in the user's cache folder (FERRULE_CACHE_DIR), shared by all
 * processes of this user, each under the SHA-256 of its key and bytes: what get() finds is what some process put. It
 * may be gone at any time. A cache that is missing, full, read-only or damaged is as good as empty, and nothing fails.
 */
#ifndef FERRULE_CACHE_H
#define FERRULE_CACHE_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FE_CACHE "cache"

typedef void (*fe_cache_found_function)(void *argument, const void *bytes, size_t size);
/* Calls found(argument, bytes, size) once with what was put last under `kind` and `key`, and returns 1; else 0. The
 * bytes live for the call. */
typedef int (*fe_cache_get_function)(const char *kind, const void *key, size_t key_size, fe_cache_found_function found,
                                     void *argument);
/* Replaces it; 1 when it is kept. `kind` is a word of at most 32 of [a-z0-9_] that says whose it is and what
 * ("vulkan_pipelines"). The key says all that the bytes depend on: device, driver, the module's version. Key and bytes
 * together may have 63 MiB, and of all modules together the 16 entries that were put last are kept. */
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
