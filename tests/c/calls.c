/* A function whose calls are compiled once per signature: x * x + x, of any shape. */
#include "check.h"

static int compiled_graphs, released;

static void release(void *argument) {
  ++released;
  free(argument);
}

/* Records the graph of a new signature for arrays like x. */
static fe_compiled *traced(fe_device *device, const fe_array *x) {
  fe_array_info info;
  fe_graph *graph = NULL;
  fe_compiled *compiled = NULL;
  uint32_t operands[2], product, sum;
  info.struct_size = sizeof info;
  MUST(fe_array_info_get(x, &info));
  MUST(fe_graph_create(device, &graph));
  MUST(fe_graph_input(graph, "x", info.dtype, info.rank, info.shape, info.strides, &operands[0]));
  operands[1] = operands[0];
  MUST(fe_graph_apply(graph, "multiply", operands, NULL, 2, NULL, 0, NULL, &product, 1));
  operands[1] = product;
  MUST(fe_graph_apply(graph, "add", operands, NULL, 2, NULL, 0, NULL, &sum, 1));
  MUST(fe_graph_output(graph, sum));
  MUST(fe_graph_compile(graph, NULL, &compiled));
  fe_graph_release(graph);
  ++compiled_graphs;
  return compiled;
}

/* Computes f(x), and returns the number that was added with its graph. */
static int call(fe_calls *calls, fe_device *device, fe_array *x, float *to, uint64_t bytes) {
  fe_compiled *compiled = NULL;
  fe_array *result = NULL;
  void *context = NULL;
  int number;
  MUST(fe_calls_find(calls, -1, &x, NULL, 1, &compiled, &context));
  if (!compiled) {
    fe_compiled *const made = traced(device, x);
    int *const added = malloc(sizeof *added);
    *added = compiled_graphs;
    MUST(fe_calls_add(calls, -1, &x, NULL, 1, made, added, release, &compiled, &context));
    fe_compiled_release(made);
  }
  number = *(int *)context;
  MUST(fe_compute(compiled, &x, 1, NULL, &result, 1));
  MUST(fe_array_read(result, to, bytes));
  fe_array_release(result);
  fe_compiled_release(compiled);
  return number;
}

int main(void) {
  static const int64_t three[] = {3}, rows[] = {3, 2}, columns[] = {2, 3}, of_columns[] = {4, 8};
  static float data[] = {1, 2, 3, 4, 5, 6};
  float out[6];
  fe_device *device = NULL;
  fe_calls *calls = NULL;
  fe_compiled *compiled = NULL, *other = NULL;
  fe_array *x, *y, *turned = NULL;
  fe_host_memory memory = {0};
  fe_calls_info info;
  void *context = NULL;
  info.struct_size = sizeof info;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_best(&device));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_calls_create(0, &calls));
  MUST(fe_calls_create(2, &calls));
  x = borrowed(device, data, 1, three);
  y = borrowed(device, data, 2, rows);
  EXPECT(call(calls, device, x, out, 3 * sizeof(float)) == 1 && out[0] == 2 && out[2] == 12);
  EXPECT(call(calls, device, x, out, 3 * sizeof(float)) == 1); /* the cached graph */
  EXPECT(call(calls, device, y, out, sizeof out) == 2 && out[5] == 42);
  EXPECT(compiled_graphs == 2);
  MUST(fe_calls_info_get(calls, &info));
  EXPECT(info.hits == 1 && info.misses == 2 && info.capacity == 2 && info.size == 2);

  /* An array with other strides has another signature, which evicts the first. */
  memory.struct_size = sizeof memory;
  memory.pointer = data;
  memory.dtype = fe_dtype_by_name("float32");
  memory.rank = 2;
  memory.shape = columns;
  memory.strides = of_columns;
  memory.access = 1;
  memory.copy = 2;
  MUST(fe_array_from_host(device, &memory, &turned));
  EXPECT(call(calls, device, turned, out, sizeof out) == 3 && out[1] == 12 && out[3] == 6);
  fe_drain();
  EXPECT(released == 1);
  EXPECT(call(calls, device, x, out, 3 * sizeof(float)) == 4);

  /* A graph that was found stays valid after the cache is cleared. */
  MUST(fe_calls_find(calls, -1, &x, NULL, 1, &compiled, &context));
  fe_calls_clear(calls);
  fe_drain();
  EXPECT(released == 3 && *(int *)context == 4);
  MUST(fe_calls_find(calls, -1, &x, NULL, 1, &other, &context));
  EXPECT(other == NULL && context == NULL);

  /* Adding a graph that does not fit the call fails; the data passed with it is still released. */
  FAILS_WITH(FE_INVALID_ARGUMENT,
             fe_calls_add(calls, 0, NULL, NULL, 0, compiled, malloc(1), release, &other, &context));
  fe_drain();
  EXPECT(released == 4 && other == NULL);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_calls_find(calls, 0, NULL, NULL, 1, &other, &context));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_calls_find(NULL, 0, NULL, NULL, 0, &other, &context));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_calls_info_get(NULL, &info));
  fe_compiled_release(compiled);
  fe_drain();
  EXPECT(released == 5);
  fe_array_release(turned);
  fe_array_release(x);
  fe_array_release(y);
  fe_calls_release(calls);
  fe_calls_release(NULL);
  fe_device_release(device);
  return 0;
}
