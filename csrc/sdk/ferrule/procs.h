/* Optional functions that a backend offers by name: a module through fe_backend.get_proc, to a program that calls
 * fe_backend_get_proc. C11, also valid C++.
 *
 *     fe_proc function = NULL;
 *     fe_error *error = fe_backend_get_proc(backend, FE_FEATURES_TEXT, &function);
 *     if (!error && function) puts(((fe_features_text_function)function)());
 *
 * A backend may offer any of these, and others of its own. A function and the data that it returns are valid until the
 * fe_backend_ref that it was obtained from is released; until then the backend cannot be unloaded. Any thread may call
 * them at any time. */
#ifndef FERRULE_PROCS_H
#define FERRULE_PROCS_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of unknown type; cast it to its own type before calling it. */
typedef void (*fe_proc)(void);

/* A feature that the module's code uses: an instruction set with the value "1", or "variant" with its name. */
typedef struct fe_feature {
  size_t struct_size;
  const char *name;  /* [a-z0-9_]+ */
  const char *value; /* free text */
} fe_feature;

/* Returns an array of `*count` features, always the same one; its stride is the first element's struct_size
 * (fe_feature_at). */
#define FE_FEATURES "features"
typedef const fe_feature *(*fe_features_function)(size_t *count);

/* Returns the features as one line of text: "variant = haswell | avx2 = 1 | fma = 1". */
#define FE_FEATURES_TEXT "features_text"
typedef const char *(*fe_features_text_function)(void);

/* Limits the threads that this module's work uses to `count`, the calling thread included; 0 removes the limit. The
 * threads belong to the core and are shared by all backends; fe_set_thread_count sets their number, and a higher limit
 * has no effect. Results do not depend on it. Work in progress may keep the previous limit. */
#define FE_SET_N_THREADS "set_n_threads"
typedef void (*fe_set_n_threads_function)(uint32_t count);

/* Element `index` of the array that fe_features_function returns. */
static inline const fe_feature *fe_feature_at(const fe_feature *features, size_t index) {
  return (const fe_feature *)(const void *)((const char *)features + index * features->struct_size);
}

#ifdef __cplusplus
}
#endif
#endif
