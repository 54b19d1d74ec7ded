/* A cache that grows in place: update_slice writes into the memory of a donated array, which is invalid afterwards. */
#include "check.h"

enum { ROWS = 1024, COLUMNS = 256 };

static fe_device *device;
static float zeros[ROWS * COLUMNS], ones[COLUMNS], out[ROWS * COLUMNS];

/* x + x, computed into memory that ferrule owns. */
static fe_array *doubled(fe_array *x) {
  fe_array *operands[2], *sum = NULL;
  operands[0] = operands[1] = x;
  MUST(fe_array_apply("add", operands, NULL, 2, NULL, 0, &sum, 1));
  MUST(fe_eval(&sum, 1, NULL, NULL));
  return sum;
}

/* Wraps a number of the caller as an array. */
static fe_array *integer(const int64_t *value) {
  fe_host_memory memory;
  fe_array *array = NULL;
  memset(&memory, 0, sizeof memory);
  memory.struct_size = sizeof memory;
  memory.pointer = (void *)value;
  memory.dtype = fe_dtype_by_name("int64");
  memory.access = FE_ACCESS_READ;
  MUST(fe_array_from_host(device, &memory, &array));
  return array;
}

/* The graph of update_slice(cache, row, (place, 0)). */
static fe_compiled *append(void) {
  static const int64_t cache[] = {ROWS, COLUMNS}, row[] = {1, COLUMNS};
  const fe_dtype f32 = fe_dtype_by_name("float32"), i64 = fe_dtype_by_name("int64");
  static const int64_t zero = 0;
  fe_compiled *compiled = NULL;
  fe_graph *graph = NULL;
  fe_array *column;
  uint32_t operands[4], result;
  MUST(fe_graph_create(device, &graph));
  MUST(fe_graph_input(graph, "cache", f32, 2, cache, NULL, &operands[0]));
  MUST(fe_graph_input(graph, "row", f32, 2, row, NULL, &operands[1]));
  MUST(fe_graph_input(graph, "place", i64, 0, NULL, NULL, &operands[2]));
  column = integer(&zero);
  MUST(fe_graph_constant(graph, "column", column, &operands[3]));
  MUST(fe_graph_apply(graph, "update_slice", operands, NULL, 4, NULL, 0, NULL, &result, 1));
  MUST(fe_graph_output(graph, result));
  MUST(fe_graph_compile(graph, NULL, &compiled));
  fe_array_release(column);
  fe_graph_release(graph);
  return compiled;
}

int main(void) {
  static const int64_t shape[] = {ROWS, COLUMNS}, row_shape[] = {1, COLUMNS};
  static const uint8_t first[] = {1, 0, 0};
  fe_compute_options options = {0};
  fe_array *borrowed_zeros, *row, *cache, *refused, *result = NULL;
  fe_array_info info;
  fe_compiled *graph;
  fe_string *text = NULL;
  fe_error *error;
  uint64_t before;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_best(&device));
  for (int i = 0; i < COLUMNS; ++i) ones[i] = 1;
  borrowed_zeros = borrowed(device, zeros, 2, shape);
  row = borrowed(device, ones, 2, row_shape);
  graph = append();
  options.struct_size = sizeof options;
  options.donated = first;
  options.donated_to = "append";

  cache = doubled(borrowed_zeros);
  before = in_use(device);
  for (int64_t i = 0; i < 20; ++i) {
    fe_array *const place = integer(&i);
    fe_array *inputs[3];
    inputs[0] = cache;
    inputs[1] = row;
    inputs[2] = place;
    MUST(fe_compute(graph, inputs, 3, &options, &result, 1));
    EXPECT(in_use(device) < before + sizeof zeros / 2); /* no second cache is allocated */
    /* A donated array still reports its dtype and shape; every other use is an error. */
    info.struct_size = sizeof info;
    MUST(fe_array_info_get(cache, &info));
    EXPECT(info.rank == 2 && info.shape[0] == ROWS);
    error = fe_array_read(cache, out, sizeof out);
    EXPECT(fe_error_code(error) == FE_INVALID_ARGUMENT && strstr(fe_error_message(error), "donated to append"));
    fe_error_release(error);
    FAILS_WITH(FE_INVALID_ARGUMENT, fe_compute(graph, inputs, 3, NULL, &refused, 1));
    MUST(fe_array_placement(cache, &text));
    EXPECT(strcmp(fe_string_data(text), "donated to append") == 0);
    fe_string_release(text);
    fe_array_release(cache);
    fe_array_release(place);
    cache = result;
  }
  MUST(fe_array_read(cache, out, sizeof out));
  for (int i = 0; i < ROWS; ++i)
    EXPECT(out[i * COLUMNS] == (float)(i < 20) && out[i * COLUMNS + 255] == (float)(i < 20));

  /* Arrays that are not donated, read by a pending array, or borrowed from the caller are copied. */
  {
    static const int64_t thirty = 30;
    fe_array *const place = integer(&thirty);
    fe_array *inputs[3], *operands[2], *pending = NULL;
    inputs[0] = operands[0] = operands[1] = cache;
    inputs[1] = row;
    inputs[2] = place;
    MUST(fe_compute(graph, inputs, 3, NULL, &result, 1));
    fe_array_release(result);
    MUST(fe_array_read(cache, out, sizeof out));
    EXPECT(out[30 * COLUMNS] == 0);
    MUST(fe_array_apply("add", operands, NULL, 2, NULL, 0, &pending, 1));
    MUST(fe_compute(graph, inputs, 3, &options, &result, 1));
    MUST(fe_array_read(pending, out, sizeof out));
    EXPECT(out[0] == 2 && out[30 * COLUMNS] == 0);
    MUST(fe_array_read(result, out, sizeof out));
    EXPECT(out[0] == 1 && out[30 * COLUMNS] == 1);
    fe_array_release(pending);
    fe_array_release(result);
    inputs[0] = borrowed_zeros;
    MUST(fe_compute(graph, inputs, 3, &options, &result, 1));
    for (int i = 0; i < ROWS * COLUMNS; ++i) EXPECT(zeros[i] == 0);
    fe_array_release(result);
    fe_array_release(place);
  }
  fe_array_release(cache);
  fe_array_release(row);
  fe_array_release(borrowed_zeros);
  fe_compiled_release(graph);
  fe_device_release(device);
  return 0;
}
