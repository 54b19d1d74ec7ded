/* Numbers as operands: int8 x * 2 + 1 stays int8, and a number outside int8 is an error. */
#include "check.h"

static fe_number of_int(int64_t value) {
  fe_number number = {FE_NUMBER_INT64, 0, 0, 0};
  number.integer = value;
  return number;
}

static fe_number of_real(double value) {
  fe_number number = {FE_NUMBER_FLOAT64, 0, 0, 0};
  number.real = value;
  return number;
}

static const char *dtype_beside(fe_number number, const char *first, const char *second) {
  const fe_dtype others[] = {fe_dtype_by_name(first ? first : ""), fe_dtype_by_name(second ? second : "")};
  fe_dtype dtype = 0;
  MUST(fe_number_dtype("here", &number, others, (size_t)(first != NULL) + (second != NULL), &dtype));
  return fe_dtype_info_get(dtype)->name;
}

static void choose_dtypes(void) {
  static const fe_number no = {FE_NUMBER_NONE, 0, 0, 0}, weak = {FE_NUMBER_WEAK, 0, 0, 0},
                         yes = {FE_NUMBER_BOOL, 1, 0, 0}, large = {FE_NUMBER_UINT64, -1, 0, 0},
                         wide = {FE_NUMBER_WIDE_INTEGER, 0, 1e30, 0}, i = {FE_NUMBER_COMPLEX128, 0, 0, 1},
                         unknown = {(fe_number_kind)99, 0, 0, 0};
  const fe_number too_much = of_int(128);
  const fe_dtype int8 = fe_dtype_by_name("int8"), none = 0;
  fe_dtype out;
  fe_error *error;
  EXPECT(strcmp(dtype_beside(yes, "float32", NULL), "bool") == 0);
  EXPECT(strcmp(dtype_beside(of_int(1), NULL, NULL), "int64") == 0);
  EXPECT(strcmp(dtype_beside(of_int(1), "bool", NULL), "int64") == 0);
  EXPECT(strcmp(dtype_beside(of_int(-128), "int8", NULL), "int8") == 0);
  EXPECT(strcmp(dtype_beside(of_int(128), "int8", "int16"), "int16") == 0);
  EXPECT(strcmp(dtype_beside(of_int(3), "int8", "uint8"), "int16") == 0);
  EXPECT(strcmp(dtype_beside(large, "uint64", NULL), "uint64") == 0);
  EXPECT(strcmp(dtype_beside(large, "float16", NULL), "float16") == 0);
  EXPECT(strcmp(dtype_beside(wide, "float32", "int8"), "float32") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), NULL, NULL), "float32") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "int64", NULL), "float32") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "float16", "float64"), "float64") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "float16", "bfloat16"), "float32") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "complex64", "float16"), "float32") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "complex128", NULL), "float64") == 0);
  EXPECT(strcmp(dtype_beside(i, "float16", NULL), "complex64") == 0);
  EXPECT(strcmp(dtype_beside(i, "float64", NULL), "complex128") == 0);
  error = fe_number_dtype("here", &too_much, &int8, 1, &out);
  EXPECT(fe_error_code(error) == FE_INVALID_ARGUMENT);
  EXPECT(strcmp(fe_error_message(error), "here: 128 does not fit into int8") == 0);
  fe_error_release(error);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &large, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &wide, &int8, 1, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &yes, NULL, 1, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &yes, &none, 1, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &no, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &weak, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &unknown, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", NULL, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype(NULL, &yes, NULL, 0, &out));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_number_dtype("here", &yes, NULL, 0, NULL));
}

static void set_defaults(void) {
  const fe_number i = {FE_NUMBER_COMPLEX128, 0, 0, 1};
  const fe_dtype float32 = fe_dtype_by_name("float32"), float64 = fe_dtype_by_name("float64");
  EXPECT(fe_default_dtype() == float32);
  MUST(fe_set_default_dtype(float64, 0));
  EXPECT(fe_default_dtype() == float64);
  EXPECT(strcmp(dtype_beside(of_real(1), NULL, NULL), "float64") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "int8", NULL), "float64") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "float16", NULL), "float16") == 0);
  EXPECT(strcmp(dtype_beside(of_real(1), "complex64", NULL), "float32") == 0);
  EXPECT(strcmp(dtype_beside(i, NULL, NULL), "complex128") == 0);
  EXPECT(strcmp(dtype_beside(i, "int64", NULL), "complex128") == 0);
  EXPECT(strcmp(dtype_beside(i, "float16", NULL), "complex64") == 0);
  EXPECT(strcmp(dtype_beside(i, "complex64", NULL), "complex64") == 0);
  MUST(fe_set_default_dtype(float32, 1));
  EXPECT(fe_default_dtype() == float32);
  MUST(fe_set_default_dtype(0, 1));
  EXPECT(fe_default_dtype() == float64);
  MUST(fe_set_default_dtype(float32, 0));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_set_default_dtype(0, 0));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_set_default_dtype(fe_dtype_by_name("float16"), 0));
  EXPECT(fe_default_dtype() == float32);
}

static void apply_to_arrays(fe_device *device) {
  static const int64_t three[] = {3};
  static float data[] = {1, 2, 3};
  fe_array *inputs[2] = {NULL, NULL}, *powers = NULL, *result = NULL;
  fe_array *const x = borrowed(device, data, 1, three);
  fe_number numbers[2] = {{FE_NUMBER_NONE, 0, 0, 0}, {FE_NUMBER_NONE, 0, 0, 0}};
  fe_array_info info;
  float out[3];
  /* 2 ** x, then x - 0.5 */
  inputs[1] = x;
  numbers[0] = of_int(2);
  MUST(fe_array_apply("pow", inputs, numbers, 2, NULL, 0, &powers, 1));
  inputs[0] = powers;
  numbers[0].kind = FE_NUMBER_NONE;
  numbers[1] = of_real(0.5);
  MUST(fe_array_apply("subtract", inputs, numbers, 2, NULL, 0, &result, 1));
  info.struct_size = sizeof info;
  MUST(fe_array_info_get(result, &info));
  EXPECT(info.dtype == fe_dtype_by_name("float32"));
  MUST(fe_array_read(result, out, sizeof out));
  EXPECT(out[0] == 1.5f && out[1] == 3.5f && out[2] == 7.5f);
  fe_array_release(result);
  result = NULL;
  /* Numbers alone have no device; an operand that is neither a number nor an array is an error. */
  numbers[0] = numbers[1];
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("add", inputs, numbers, 2, NULL, 0, &result, 1));
  numbers[0].kind = (fe_number_kind)99;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("add", inputs, numbers, 2, NULL, 0, &result, 1));
  inputs[1] = NULL;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_array_apply("add", inputs, NULL, 2, NULL, 0, &result, 1));
  EXPECT(result == NULL);
  fe_array_release(powers);
  fe_array_release(x);
}

static void apply_in_graphs(fe_device *device) {
  static const int64_t three[] = {3};
  static float data[] = {1, 2, 3};
  fe_array *x = borrowed(device, data, 1, three), *result = NULL;
  fe_number numbers[2] = {{FE_NUMBER_NONE, 0, 0, 0}, {FE_NUMBER_NONE, 0, 0, 0}};
  fe_graph *graph = NULL;
  fe_compiled *compiled = NULL;
  fe_scalar half;
  uint32_t inputs[2], tripled, sum;
  float out[3];
  MUST(fe_graph_create(device, &graph));
  MUST(fe_graph_input(graph, "x", fe_dtype_by_name("float32"), 1, three, NULL, &inputs[0]));
  inputs[1] = 12345; /* ignored */
  numbers[1] = of_int(3);
  MUST(fe_graph_apply(graph, "multiply", inputs, numbers, 2, NULL, 0, NULL, &tripled, 1));
  /* A weak float64 scalar keeps float32. */
  MUST(fe_scalar_from(fe_dtype_by_name("float64"), 0.5, &half));
  MUST(fe_graph_scalar(graph, fe_dtype_by_name("float64"), half, &inputs[1]));
  inputs[0] = tripled;
  numbers[1].kind = FE_NUMBER_WEAK;
  MUST(fe_graph_apply(graph, "add", inputs, numbers, 2, NULL, 0, NULL, &sum, 1));
  inputs[1] = 12345;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_apply(graph, "add", inputs, NULL, 2, NULL, 0, NULL, &sum, 1));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_graph_apply(graph, "add", inputs, numbers, 2, NULL, 0, NULL, &sum, 1));
  MUST(fe_graph_output(graph, sum));
  MUST(fe_graph_compile(graph, NULL, &compiled));
  MUST(fe_compute(compiled, &x, 1, NULL, &result, 1));
  MUST(fe_array_read(result, out, sizeof out));
  EXPECT(out[0] == 3.5f && out[1] == 6.5f && out[2] == 9.5f);
  fe_array_release(result);
  fe_array_release(x);
  fe_compiled_release(compiled);
  fe_graph_release(graph);
}

int main(void) {
  fe_device *device = NULL;
  MUST(fe_load_all(NULL, NULL));
  MUST(fe_device_by_kind(FE_DEVICE_CPU, &device));
  choose_dtypes();
  set_defaults();
  apply_to_arrays(device);
  apply_in_graphs(device);
  fe_device_release(device);
  return 0;
}
