/* Wrong arguments return errors and never crash: NULL for each pointer, an unknown name, a wrong option. */
#include "check.h"

static void release_nothing(void) {
  fe_string_release(NULL);
  fe_error_release(NULL);
  fe_backend_release(NULL);
  fe_device_release(NULL);
  fe_array_release(NULL);
  fe_graph_release(NULL);
  fe_compiled_release(NULL);
  fe_list_free(NULL);
  EXPECT(fe_error_code(NULL) == FE_OK);
}

static void refuse_null(fe_device *device) {
  fe_array *array = NULL;
  fe_graph *graph = NULL;
  uint32_t value = 0;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_load(NULL, NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_executable_dir(NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_unload(NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backends(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_devices(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_by_name(NULL, NULL, &device));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_by_name("cpu", "cpu", NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_views(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_view(device, NULL, &device));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_backends(NULL, NULL, NULL));
  EXPECT(fe_device_id(NULL) == 0);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_details_get(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_open(device, NULL, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_device_option(NULL, 0, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_backend_feature(NULL, 0, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_memory_stats_get(device, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_stats_get(NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(device, NULL, &array));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_from_host(NULL, NULL, &array));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply(NULL, NULL, NULL, 0, NULL, 0, &array, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_info_get(NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_eval(NULL, 1, NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_create(device, NULL));
  MUST(fe_graph_create(device, &graph));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_apply(graph, "add", NULL, NULL, 2, NULL, 0, NULL, &value, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_output(graph, 99));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_compile(NULL, NULL, NULL));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_compute(NULL, NULL, 0, NULL, NULL, 0));
  fe_graph_release(graph);
}

/* Each message names the op and the value it received. */
static void refuse_when_recorded(fe_device *device) {
  static const int64_t shape_a[] = {3, 4}, shape_b[] = {5, 6};
  float data[30] = {0};
  fe_array *inputs[2], *out = NULL;
  fe_error *error;
  fe_attribute wrong[] = {
      fe_attribute_int64("axis", 7),      fe_attribute_int64("axes", 1),
      fe_attribute_float64("axis", 1),    fe_attribute_bool("axis", 1),
      fe_attribute_string("axis", "one"), fe_attribute_string("axis", NULL),
      fe_attribute_dtype("axis", 99),     fe_attribute_int64_list("axis", NULL, 1),
      fe_attribute_int64(NULL, 1),        fe_attribute_named("axis", (fe_attribute_kind)77),
      fe_attribute_int64("axis", 1), /* belongs to another struct */
  };
  wrong[sizeof wrong / sizeof *wrong - 1].struct_size = sizeof(size_t);
  inputs[0] = borrowed(device, data, 2, shape_a);
  inputs[1] = borrowed(device, data, 2, shape_b);
  error = fe_array_apply("matmul", inputs, NULL, 2, NULL, 0, &out, 1);
  EXPECT(fe_error_code(error) == FE_INVALID_ARGUMENT);
  EXPECT(strstr(fe_error_message(error), "matmul") && strstr(fe_error_message(error), "(3, 4)"));
  fe_error_release(error);
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; ++i)
    FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("softmax", inputs, NULL, 1, &wrong[i], 1, &out, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("softmax", inputs, NULL, 1, NULL, 1, &out, 1));
  {
    const size_t too_many = (size_t)1 << 60;
    static const int64_t axis = 0;
    const fe_attribute list = fe_attribute_int64_list("axis", &axis, too_many);
    FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("concat", inputs, NULL, too_many, NULL, 0, &out, 1));
    FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("softmax", inputs, NULL, 1, wrong, too_many, &out, 1));
    FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("sum", inputs, NULL, 1, &list, 1, &out, 1));
  }
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("softmax", inputs, NULL, 1, NULL, 0, &out, 2));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("softmax", inputs, NULL, 1, NULL, 0, &out, 0));
  EXPECT(fe_op_output_count("softmax") == 1);
  EXPECT(fe_op_output_count("sofmax") == 0 && fe_op_output_count(NULL) == 0);
  error = fe_array_apply("sofmax", inputs, NULL, 1, NULL, 0, &out, 1);
  EXPECT(error != NULL);
  EXPECT(strstr(fe_error_message(error), "sofmax"));
  fe_error_release(error);
  EXPECT(out == NULL);
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
}

int main(void) {
  fe_device *device = NULL;
  release_nothing();
  FAILS_WITH(FE_NOT_FOUND, fe_unload("nothing"));
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_by_kind(FE_DEVICE_CPU, &device));
  refuse_null(device);
  refuse_when_recorded(device);
  EXPECT(fe_dtype_by_name("float31") == 0);
  fe_device_release(device);
  return 0;
}
