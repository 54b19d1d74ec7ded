/* Loads the backends and computes softmax(x @ y) on the CPU. Prints the file of the CPU module and the result, then the
 * state of every other candidate. On a processor that no module supports, it prints only the states. */
#include <ferrule/ferrule.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(fe_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", fe_error_message(error));
  exit(1);
}

static fe_array *matrix(fe_device *device, float *data) {
  static const int64_t shape[] = {40, 40};
  fe_host_memory memory;
  fe_array *array = NULL;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.pointer = data;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 2;
  memory.shape = shape;
  memory.access = FE_ACCESS_READ;
  memory.copy = 2;
  must(fe_array_from_host(device, &memory, &array));
  return array;
}

static void compute(fe_device *device) {
  static float x[1600], y[1600], out[1600];
  fe_array *inputs[2], *product = NULL, *result = NULL;
  const fe_attribute last = fe_attribute_int64("axis", -1);
  int i;
  for (i = 0; i < 1600; ++i) {
    x[i] = (float)(i * 37 % 101) / 101.0f;
    y[i] = (float)(i * 53 % 89) / 89.0f;
  }
  inputs[0] = matrix(device, x);
  inputs[1] = matrix(device, y);
  must(fe_array_apply("matmul", inputs, NULL, 2, NULL, 0, &product, 1));
  must(fe_array_apply("softmax", &product, NULL, 1, &last, 1, &result, 1));
  must(fe_array_read(result, out, sizeof out));
  for (i = 0; i < 1600; ++i) printf("%.9g%c", (double)out[i], i == 1599 ? '\n' : ' ');
  fe_array_release(result);
  fe_array_release(product);
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
}

int main(void) {
  fe_load_report *report = NULL;
  fe_string *text = NULL;
  fe_device *device = NULL;
  fe_error *error;
  must(fe_load_all(NULL, &report));
  must(fe_load_report_format(report, "json", &text));
  printf("%s\n", fe_string_data(text));
  fe_string_release(text);
  fe_load_report_release(report);
  error = fe_device_by_name("cpu", NULL, &device);
  if (error) {
    printf("%s\n", fe_error_message(error));
    fe_error_release(error);
    return 0;
  }
  compute(device);
  fe_device_release(device);
  must(fe_shutdown());
  return 0;
}
