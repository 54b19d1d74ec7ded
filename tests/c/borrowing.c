/* Borrowed memory and its owners: regions, slices, deferred releases, and calls without a place for their result. None
 * of them may keep the backend from being unloaded. */
#include "check.h"

static int released;

static void count_release(void *argument) {
  EXPECT(argument == &released);
  ++released;
}

static void cut_a_region(fe_device *device) {
  static _Alignas(64) unsigned char region[64];
  static const int64_t two[] = {2}, all[] = {16}, negative[] = {-2};
  const float values[] = {1.5f, -2.0f};
  const fe_dtype float32 = fe_dtype_by_name("float32");
  fe_array *bytes = NULL, *floats = NULL, *sum = NULL;
  fe_string *placement = NULL;
  float out[2] = {0, 0};
  memcpy(region + 8, values, sizeof values);
  released = 0;
  MUST(fe_buffer_from_host_ptr(device, region, sizeof region, FE_ACCESS_READ, sizeof region, count_release, &released,
                               &bytes));
  MUST(fe_array_placement(bytes, &placement));
  EXPECT(strcmp(fe_string_data(placement), "borrowed") == 0);
  fe_string_release(placement);
  MUST(fe_array_cut(bytes, 8, float32, 1, two, &floats));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_cut(bytes, 8, float32, 1, all, &sum));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_cut(bytes, 65, float32, 1, two, &sum));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_cut(bytes, 0, float32, 1, negative, &sum));
  fe_array_release(bytes);
  fe_drain();
  EXPECT(released == 0); /* the slice still reads it */
  MUST(fe_array_read(floats, out, sizeof out));
  EXPECT(out[0] == 1.5f && out[1] == -2.0f);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_read(floats, out, 4));
  fe_array_release(floats);
  EXPECT(released == 0); /* not released on this thread, but at the drain */
  EXPECT(fe_drain() == 1);
  EXPECT(released == 1);
}

/* A failing call also releases the memory, exactly once. */
static void release_after_failure(fe_device *device) {
  float data[4] = {0};
  static const int64_t far_apart[] = {INT64_MAX, INT64_MIN}, shape[] = {2, 2};
  fe_host_memory memory;
  fe_array *out = NULL;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.pointer = data;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 2;
  memory.shape = shape;
  memory.strides = far_apart;
  memory.access = FE_ACCESS_READ;
  memory.copy = 2;
  memory.release = count_release;
  memory.release_argument = &released;
  released = 0;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(device, &memory, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(device, &memory, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(NULL, &memory, &out));
  memory.rank = 9;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(device, &memory, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT,
             fe_buffer_from_host_ptr(device, NULL, 8, FE_ACCESS_READ, 8, count_release, &released, &out));
  EXPECT(out == NULL);
  EXPECT(fe_drain() == 5);
  EXPECT(released == 5);
}

/* The largest array that may be sliced from a region. */
static void limit_the_cuts(fe_device *device) {
  static _Alignas(64) unsigned char region[64];
  static const int64_t one[] = {1}, two[] = {2}, all[] = {16};
  const fe_dtype float32 = fe_dtype_by_name("float32");
  const uint64_t unlimited[] = {0, UINT64_MAX, sizeof region, sizeof region + 1};
  fe_array *bytes = NULL, *part = NULL, *same = NULL;
  fe_error *error;
  for (size_t i = 0; i < sizeof unlimited / sizeof *unlimited; ++i) {
    MUST(fe_buffer_from_host_ptr(device, region, sizeof region, FE_ACCESS_READ, unlimited[i], NULL, NULL, &bytes));
    MUST(fe_array_cut(bytes, 0, float32, 1, all, &part));
    fe_array_release(part);
    fe_array_release(bytes);
  }
  MUST(fe_buffer_from_host_ptr(device, region, sizeof region, FE_ACCESS_READ, 4, NULL, NULL, &bytes));
  MUST(fe_array_to_device(bytes, device, &same)); /* the same array: the device's own limit applies */
  MUST(fe_array_cut(bytes, 60, float32, 1, one, &part));
  error = fe_array_cut(bytes, 0, float32, 1, two, &part);
  EXPECT(fe_error_code(error) == FE_INVALID_ARGUMENT);
  EXPECT(strstr(fe_error_message(error), "8 bytes") && strstr(fe_error_message(error), "the 4 that"));
  fe_error_release(error);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_cut(same, 0, float32, 1, two, &part));
  fe_array_release(same);
  fe_array_release(bytes);
  MUST(fe_array_cut(part, 0, float32, 1, one, &same));
  fe_array_release(same);
  fe_array_release(part);
}

static void results_without_a_place(fe_device *device) {
  static const int64_t shape[] = {4};
  float data[4] = {1, 2, 3, 4};
  fe_array *array = borrowed(device, data, 1, shape);
  const fe_dtype float32 = fe_dtype_by_name("float32");
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_cut(array, 0, float32, 1, shape, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("relu", &array, NULL, 1, NULL, 0, NULL, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_to_device(array, device, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_device(array, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_placement(array, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_create(device, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_backend(device, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_unload("cpu")); /* an array is alive */
  fe_array_release(array);
}

static void supports_what_it_computes(fe_device *device) {
  const fe_dtype float32 = fe_dtype_by_name("float32");
  static const char *const ops[] = {"relu", "astype", "reshape", "permute_dims", "slice", "pad", "sum"};
  int answer = -1;
  for (size_t i = 0; i < sizeof ops / sizeof *ops; ++i) {
    MUST(fe_supports(device, ops[i], &float32, 1, &answer));
    if (answer != 1) fprintf(stderr, "%s\n", ops[i]);
    EXPECT(answer == 1);
  }
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_supports(device, "no_such_op", &float32, 1, &answer));
}

int main(void) {
  fe_device *device = NULL;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_by_name("cpu", NULL, &device));
  cut_a_region(device);
  release_after_failure(device);
  limit_the_cuts(device);
  results_without_a_place(device);
  supports_what_it_computes(device);
  fe_device_release(device);
  MUST(fe_unload("cpu"));
  FAILS_WITH(FE_NOT_FOUND, fe_unload("cpu"));
  MUST(fe_shutdown());
  return 0;
}
