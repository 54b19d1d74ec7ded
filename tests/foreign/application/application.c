/* A third-party program: loads the given module and adds two arrays on the given device. */
#include <ferrule/ferrule.h>

#include <stdio.h>
#include <string.h>

static int failed(fe_error *error) {
  if (!error) return 0;
  fprintf(stderr, "%s\n", fe_error_message(error));
  fe_error_release(error);
  return 1;
}

static fe_array *array_of(fe_device *device, float *data, int64_t count) {
  fe_host_memory memory;
  fe_array *array = NULL;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.pointer = data;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 1;
  memory.shape = &count;
  memory.access = FE_ACCESS_READ;
  memory.copy = 2;
  return failed(fe_array_from_host(device, &memory, &array)) ? NULL : array;
}

int main(int count, char **arguments) {
  float x[] = {1, 2, 3}, y[] = {10, 20, 30}, out[3];
  fe_device *device = NULL;
  fe_array *inputs[2], *sum = NULL;
  if (count < 2) return fprintf(stderr, "usage: application <device> [module]\n"), 2;
  if (count > 2) {
    fe_backend_ref *backend = NULL;
    if (failed(fe_load(arguments[2], NULL, &backend))) return 1;
    fe_backend_release(backend);
  } else if (failed(fe_load_all(NULL, NULL))) {
    return 1;
  }
  if (failed(fe_device_by_name(arguments[1], NULL, &device))) return 1;
  inputs[0] = array_of(device, x, 3);
  inputs[1] = array_of(device, y, 3);
  if (!inputs[0] || !inputs[1]) return 1;
  if (failed(fe_array_apply("add", inputs, NULL, 2, NULL, 0, &sum, 1))) return 1;
  if (failed(fe_array_read(sum, out, sizeof out))) return 1;
  printf("%s: %g %g %g\n", fe_device_name(device), (double)out[0], (double)out[1], (double)out[2]);
  fe_array_release(sum);
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
  fe_device_release(device);
  return failed(fe_shutdown());
}
