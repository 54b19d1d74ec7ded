/* Programs that were compiled with older or newer headers: the structs that they pass are shorter or longer. */
#include "check.h"

#include <stddef.h>

static const int64_t shape[] = {3};

/* The caller has headers from before `identity`, then from after fields that this version does not have. */
static void filled_structs(fe_array *array) {
  struct {
    fe_array_info info;
    uint64_t later;
  } longer;
  fe_array_info info;
  memset(&info, 0xff, sizeof info);
  info.struct_size = offsetof(fe_array_info, identity);
  MUST(fe_array_info_get(array, &info));
  EXPECT(info.struct_size == offsetof(fe_array_info, identity));
  EXPECT(info.rank == 1 && info.shape[0] == 3 && info.nbytes == 12);
  EXPECT(info.identity == UINT64_MAX); /* not written */

  memset(&longer, 0xff, sizeof longer);
  longer.info.struct_size = sizeof longer;
  MUST(fe_array_info_get(array, &longer.info));
  EXPECT(longer.info.struct_size == sizeof(fe_array_info));
  EXPECT(longer.info.nbytes == 12 && longer.info.identity != UINT64_MAX);
  EXPECT(longer.later == UINT64_MAX);
}

static void expect_refusal(fe_error *error, const char *message) {
  EXPECT(fe_error_code(error) == FE_INVALID_ARGUMENT);
  if (strstr(fe_error_message(error), message) == NULL) {
    fprintf(stderr, "%s\n", fe_error_message(error));
    exit(1);
  }
  fe_error_release(error);
}

static void too_short(fe_device *device, fe_array *array) {
  fe_array_info info;
  fe_device_details details;
  fe_native_device native;
  fe_host_memory memory;
  fe_attribute axis = fe_attribute_int64("axis", 0);
  fe_array *out = NULL;
  memset(&info, 0xff, sizeof info);
  info.struct_size = offsetof(fe_array_info, identity) - 1;
  expect_refusal(fe_array_info_get(array, &info), "array_info: out has a struct_size of ");
  EXPECT(info.rank == -1); /* not written */
  info.struct_size = 0;
  expect_refusal(fe_array_info_get(array, &info), "array_info: out has a struct_size of 0, less than ");
  details.struct_size = offsetof(fe_device_details, uuid);
  expect_refusal(fe_device_details_get(device, &details), "device_details: out has a struct_size of ");
  native.struct_size = sizeof native - 1;
  expect_refusal(fe_native_device_get(device, &native), "native_device: out has a struct_size of ");
  memset(&memory, 0, sizeof memory);
  memory.struct_size = offsetof(fe_host_memory, release_argument);
  expect_refusal(fe_array_from_host(device, &memory, &out), "array_from_host: memory has a struct_size of ");
  axis.struct_size = sizeof axis - 1;
  expect_refusal(fe_array_apply("softmax", &array, NULL, 1, &axis, 1, &out, 1),
                 "softmax: an attribute has a struct_size of ");
}

/* The caller has headers from before `mapped`: what follows its struct is not read. */
static void shorter_host_memory(fe_device *device) {
  static _Alignas(64) float values[] = {1, 2, 3};
  float out[3] = {0, 0, 0};
  fe_host_memory memory;
  fe_array *array = NULL;
  memset(&memory, 0xff, sizeof memory);
  memory.struct_size = offsetof(fe_host_memory, mapped);
  memory.pointer = values;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 1;
  memory.shape = shape;
  memory.strides = NULL;
  memory.access = FE_ACCESS_READ;
  memory.copy = 2;
  memory.release = NULL;
  MUST(fe_array_from_host(device, &memory, &array));
  MUST(fe_array_read(array, out, sizeof out));
  EXPECT(out[0] == 1 && out[1] == 2 && out[2] == 3);
  fe_array_release(array);
}

int main(void) {
  static float values[] = {1, 2, 3};
  fe_device *device = NULL;
  fe_array *array = NULL;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_by_name("cpu", NULL, &device));
  array = borrowed(device, values, 1, shape);
  filled_structs(array);
  too_short(device, array);
  shorter_host_memory(device);
  fe_array_release(array);
  fe_device_release(device);
  return 0;
}
