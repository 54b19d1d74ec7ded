/* skew-run <options of load_all> [<device> <op> <attributes>]...: loads modules for test_skew.py and prints one JSON
 * object: {"report", "devices": [info...], "computed": [{"values", "placement"} | {"code", "error"}...]}. Each op is
 * computed for 1, 4 and 9 on the named device. */
#include <ferrule/ferrule.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(fe_error *error) {
  if (!error) return;
  fprintf(stderr, "skew-run: %s\n", fe_error_message(error));
  exit(1);
}

static void print(fe_string *json) {
  fputs(fe_string_data(json), stdout);
  fe_string_release(json);
}

/* Messages in these tests need no JSON escapes except for quotation marks. */
static void print_sentence(const char *sentence) {
  for (; *sentence; ++sentence) putchar(*sentence == '"' || *sentence == '\\' ? '\'' : *sentence);
}

/* "scale=2", or "" for none. Returns the number of attributes. */
static size_t attribute_of(const char *text, char *name, size_t capacity, fe_attribute *attribute) {
  const char *const equals = strchr(text, '=');
  if (!equals || (size_t)(equals - text) >= capacity) return 0;
  memcpy(name, text, (size_t)(equals - text));
  name[equals - text] = '\0';
  *attribute = fe_attribute_int64(name, atoll(equals + 1));
  return 1;
}

static fe_error *compute(fe_device *device, const char *op, const char *text) {
  const int64_t shape[] = {3};
  const float in[] = {1, 4, 9};
  float out[3] = {0, 0, 0};
  void *out_memory[] = {out};
  const uint64_t out_bytes[] = {sizeof out};
  uint32_t input = 0, output = 0;
  fe_graph *graph = NULL;
  fe_compiled *compiled = NULL;
  fe_string *placement = NULL;
  fe_array *array = NULL, *none = NULL;
  fe_host_memory memory = {sizeof memory, (void *)in, 0, 1, shape, NULL, FE_ACCESS_READ, 1, NULL, NULL, NULL, 0};
  memory.dtype = fe_dtype_by_name("float32");
  must(fe_graph_create(device, &graph));
  must(fe_graph_input(graph, "x", memory.dtype, 1, shape, NULL, &input));
  char name[64];
  fe_attribute attribute;
  const size_t attributes = attribute_of(text, name, sizeof name, &attribute);
  fe_error *error = fe_graph_apply(graph, op, &input, NULL, 1, &attribute, attributes, NULL, &output, 1);
  if (!error) error = fe_graph_output(graph, output);
  if (!error) error = fe_graph_compile(graph, "{\"fallback\": \"allow\"}", &compiled);
  fe_graph_release(graph);
  if (error) return error;
  must(fe_array_from_host(device, &memory, &array));
  fe_compute_options options = {0};
  options.struct_size = sizeof options;
  options.out_memory = out_memory;
  options.out_bytes = out_bytes;
  error = fe_compute(compiled, &array, 1, &options, &none, 1);
  if (!error) {
    printf("{\"values\": [%g, %g, %g], \"placement\": ", (double)out[0], (double)out[1], (double)out[2]);
    must(fe_compiled_placement(compiled, &placement));
    print(placement);
    printf("}");
  }
  fe_array_release(array);
  fe_compiled_release(compiled);
  return error;
}

int main(int count, char **words) {
  fe_string *json = NULL;
  fe_device **devices = NULL;
  size_t device_count = 0;
  fe_load_report *report = NULL;
  must(fe_load_all(words[1], &report));
  must(fe_load_report_format(report, "json", &json));
  fe_load_report_release(report);
  printf("{\"report\": ");
  print(json);
  must(fe_devices(&devices, &device_count));
  printf(",\n\"devices\": [");
  for (size_t i = 0; i < device_count; ++i) {
    fe_backend_ref *backend = NULL;
    must(fe_device_info(devices[i], &json));
    printf("%s{\"info\": ", i ? ",\n" : "");
    print(json);
    must(fe_device_backend(devices[i], &backend));
    must(fe_backend_info(backend, &json));
    printf(", \"backend\": ");
    print(json);
    printf("}");
    fe_backend_release(backend);
    fe_device_release(devices[i]);
  }
  fe_list_free(devices);
  printf("],\n\"computed\": [");
  for (int i = 2; i + 2 < count; i += 3) {
    fe_device *device = NULL;
    printf(i > 2 ? ",\n" : "");
    must(fe_device_by_name(words[i], NULL, &device));
    fe_error *error = compute(device, words[i + 1], words[i + 2]);
    if (error) {
      printf("{\"code\": %d, \"error\": \"", (int)fe_error_code(error));
      print_sentence(fe_error_message(error));
      printf("\"}");
      fe_error_release(error);
    }
    fe_device_release(device);
  }
  printf("]}\n");
  fe_drain();
  must(fe_shutdown());
  return 0;
}
