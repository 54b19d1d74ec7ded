/* An application: loads the backends, takes the CPU, computes lazily and with a compiled graph. The output is the same
 * with a shared and with a static libferrule. */
#include "check.h"

static const int64_t shape_a[] = {2, 3};
static const int64_t shape_b[] = {3, 2};

static void compute_lazily(fe_device *device, float *a, float *b) {
  fe_array *inputs[2], *product = NULL, *result = NULL;
  float out[4];
  inputs[0] = borrowed(device, a, 2, shape_a);
  inputs[1] = borrowed(device, b, 2, shape_b);
  MUST(fe_array_apply("matmul", inputs, NULL, 2, NULL, 0, &product, 1));
  MUST(fe_array_apply("relu", &product, NULL, 1, NULL, 0, &result, 1));
  MUST(fe_eval(&result, 1, NULL, NULL));
  MUST(fe_array_read(result, out, sizeof out));
  print_floats("relu(a @ b), lazily", out, 4);
  fe_array_release(result);
  fe_array_release(product);
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
}

static void compute_by_graph(fe_device *device, float *a, float *b) {
  const fe_dtype float32 = fe_dtype_by_name("float32");
  fe_graph *graph = NULL;
  fe_compiled *compiled = NULL;
  uint32_t values[2], product = 0, sum = 0;
  fe_array *inputs[2], *output = NULL;
  float out[2];
  void *out_memory[1];
  uint64_t out_bytes[1];
  fe_compute_options options = {0};
  static const int64_t rows = 0;
  const fe_attribute over_rows = fe_attribute_int64_list("axis", &rows, 1);
  MUST(fe_graph_create(device, &graph));
  MUST(fe_graph_input(graph, "a", float32, 2, shape_a, NULL, &values[0]));
  MUST(fe_graph_input(graph, "b", float32, 2, shape_b, NULL, &values[1]));
  MUST(fe_graph_apply(graph, "matmul", values, NULL, 2, NULL, 0, NULL, &product, 1));
  MUST(fe_graph_apply(graph, "sum", &product, NULL, 1, &over_rows, 1, NULL, &sum, 1));
  MUST(fe_graph_output(graph, sum));
  MUST(fe_graph_compile(graph, NULL, &compiled));
  fe_graph_release(graph);
  inputs[0] = borrowed(device, a, 2, shape_a);
  inputs[1] = borrowed(device, b, 2, shape_b);
  out_memory[0] = out;
  out_bytes[0] = sizeof out;
  options.struct_size = sizeof options;
  options.out_memory = out_memory;
  options.out_bytes = out_bytes;
  options.thread_limit = 1;
  for (int i = 0; i < 2; ++i) {
    MUST(fe_compute(compiled, inputs, 2, &options, &output, 1));
    EXPECT(output == NULL);
    print_floats("sum(a @ b, axis 0), compiled", out, 2);
  }
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
  fe_compiled_release(compiled);
}

/* A dtype that C has no type for. */
static void fill_with_a_half(fe_device *device) {
  const fe_dtype bfloat16 = fe_dtype_by_name("bfloat16");
  const uint16_t expected[3] = {0x4020, 0x4020, 0x4020}; /* 2.5 */
  uint16_t got[3] = {0, 0, 0};
  const int64_t shape[] = {3};
  fe_scalar value;
  fe_array *array = NULL;
  MUST(fe_scalar_from(bfloat16, 2.5, &value));
  MUST(fe_array_full(device, 1, shape, bfloat16, value, &array));
  MUST(fe_eval(&array, 1, NULL, NULL));
  MUST(fe_array_read(array, got, sizeof got));
  EXPECT(memcmp(got, expected, sizeof got) == 0);
  fe_array_release(array);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_scalar_from(0, 2.5, &value));
}

int main(void) {
  float a[] = {1, 2, 3, -4, -5, -6}, b[] = {1, 0, 0, 1, 1, 1};
  fe_load_report *report = NULL;
  fe_device *device = NULL;
  MUST(fe_load_all(NULL, &report));
  fe_load_report_release(report);
  MUST(fe_device_by_name("CPU", NULL, &device));
  printf("%s\n", fe_device_name(device));
  compute_lazily(device, a, b);
  compute_by_graph(device, a, b);
  fill_with_a_half(device);
  FAILS_WITH(FE_NOT_FOUND, fe_device_by_name("nothing", NULL, &device));
  fe_device_release(device);
  fe_drain();
  MUST(fe_shutdown());
  return 0;
}
