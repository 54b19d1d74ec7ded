/* Shared by the programs in this folder: an unexpected error ends the program and prints its message. */
#ifndef FERRULE_TEST_CHECK_H
#define FERRULE_TEST_CHECK_H

#include <ferrule/ferrule.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(fe_error *error, const char *call, int line) {
  if (!error) return;
  fprintf(stderr, "line %d: %s: %s\n", line, call, fe_error_message(error));
  exit(1);
}
#define MUST(call) must(call, #call, __LINE__)

#define EXPECT(condition)                                             \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "line %d: not so: %s\n", __LINE__, #condition); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* Ends the program unless `error` has this code; releases the error. */
static inline void fails_with(fe_code code, fe_error *error, const char *call, int line) {
  if (fe_error_code(error) != code) {
    fprintf(stderr, "line %d: %s: code %d (%s), not %d\n", line, call, (int)fe_error_code(error),
            error ? fe_error_message(error) : "no error", (int)code);
    exit(1);
  }
  fe_error_release(error);
}
#define FAILS_WITH(code, call) fails_with(code, call, #call, __LINE__)

/* A float32 array over the caller's memory, which must outlive it. */
static inline fe_array *borrowed(fe_device *device, float *data, int32_t rank, const int64_t *shape) {
  fe_host_memory memory;
  fe_array *array = NULL;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.pointer = data;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = rank;
  memory.shape = shape;
  memory.access = FE_ACCESS_READ;
  memory.copy = 2;
  MUST(fe_array_from_host(device, &memory, &array));
  return array;
}

/* Bytes that arrays use on the device. */
static inline uint64_t in_use(fe_device *device) {
  fe_memory_stats stats;
  stats.struct_size = sizeof stats;
  MUST(fe_memory_stats_get(device, &stats));
  return stats.live;
}

static inline void print_floats(const char *title, const float *values, int count) {
  printf("%s:", title);
  for (int i = 0; i < count; ++i) printf(" %g", (double)values[i]);
  printf("\n");
}

#endif
