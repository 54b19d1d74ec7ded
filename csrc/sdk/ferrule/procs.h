/* Functions that a backend may offer beside its slots, by name: fe_backend.get_proc of a module, fe_backend_get_proc of
 * a program. C11, also valid C++.
 *
 *     fe_proc function = NULL;
 *     fe_error *error = fe_backend_get_proc(backend, FE_FEATURES_TEXT, &function);
 *     if (!error && function) puts(((fe_features_text_function)function)());
 *
 * A backend offers any of them or none, and others of its own. A function, and what it returns, is valid until the
 * handle that it was asked of is released: until then the backend cannot be unloaded. Any thread may call them, several
 * at once. */
#ifndef FERRULE_PROCS_H
#define FERRULE_PROCS_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A function of any type: to be cast to its own before it is called. */
typedef void (*fe_proc)(void);

/* What the code of the module uses, as names and values: an instruction set and "1", its variant. */
typedef struct fe_feature {
  size_t struct_size;
  const char *name;  /* [a-z0-9_]+ */
  const char *value; /* free text */
} fe_feature;

/* All features, `*count` of them, always the same ones. They lie `struct_size` of the first apart. */
#define FE_FEATURES "features"
typedef const fe_feature *(*fe_features_function)(size_t *count);

/* The same as one line: "variant = haswell | avx2 = 1 | fma = 1". */
#define FE_FEATURES_TEXT "features_text"
typedef const char *(*fe_features_text_function)(void);

/* From now on work of this module takes at most `count` threads, the calling one included; 0 takes the limit away. The
 * threads are the core's, and all backends share them: fe_set_thread_count says how many there are, and a limit above
 * that changes nothing. Results do not depend on it. Work that is under way may end with the former limit. */
#define FE_SET_N_THREADS "set_n_threads"
typedef void (*fe_set_n_threads_function)(uint32_t count);

static inline const fe_feature *fe_feature_at(const fe_feature *features, size_t index) {
  return (const fe_feature *)(const void *)((const char *)features + index * features->struct_size);
}

#ifdef __cplusplus
}
#endif
#endif
