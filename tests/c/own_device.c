/* A device whose functions are this program's: a table that is filled at run time, without a module's file. It lies in
 * host memory and adds float32 arrays; later a second one is plugged in. docs/develop/backends.md has its beginning. */
#include "check.h"

#include <stddef.h>

typedef struct machine {
  const fe_host *host;
  uint32_t devices; /* current number of devices */
  int open, buffers, executables, closed, additions;
  uint32_t thread_limit; /* of the last addition */
} machine;

typedef struct buffer {
  machine *of;
  unsigned char *bytes, *allocated; /* `allocated` is NULL when the caller owns the bytes */
} buffer;

typedef struct addition {
  machine *of;
  int64_t count;
  uint32_t inputs[2], output; /* bindings */
  uint64_t offsets[2];        /* bytes */
} addition;

static fe_error *refused(fe_code code, const char *why);
static const fe_host *the_host;
static fe_error *refused(fe_code code, const char *why) { return the_host->error_create(code, why); }

/* ---- the backend */
static void close_machine(fe_module_backend *self) { ((machine *)(void *)self)->closed = 1; }
static uint32_t device_count(fe_module_backend *self) { return ((machine *)(void *)self)->devices; }
static fe_error *device_properties(fe_module_backend *self, uint32_t index, fe_device_properties *out) {
  (void)self;
  out->kind = FE_DEVICE_ACCELERATOR;
  out->flags = FE_DEVICE_FLAG_HOST_MEMORY;
  out->name = index == 0 ? "an adding machine" : "another adding machine";
  out->description = "of this program";
  out->total_memory = 1 << 20;
  out->max_allocation = 1 << 16;
  out->borrow_alignment = 4;
  out->uuid = NULL;
  out->pci_address = NULL;
  return NULL;
}
static fe_error *device_open(fe_module_backend *self, uint32_t index, const fe_option *options, uint32_t option_count,
                             fe_module_device **out) {
  (void)index, (void)options, (void)option_count;
  ++((machine *)(void *)self)->open;
  *out = (fe_module_device *)(void *)self;
  return NULL;
}
static void device_close(fe_module_device *device) { --((machine *)(void *)device)->open; }

/* ---- memory */
static fe_error *make_buffer(fe_module_device *device, void *bytes, void *allocated, fe_module_buffer **out) {
  buffer *made = malloc(sizeof *made);
  if (!made) return refused(FE_OUT_OF_MEMORY, "no memory for a buffer");
  made->of = (machine *)(void *)device;
  made->bytes = bytes;
  made->allocated = allocated;
  ++made->of->buffers;
  *out = (fe_module_buffer *)(void *)made;
  return NULL;
}
static fe_error *buffer_allocate(fe_module_device *device, uint64_t size, uint64_t alignment, fe_module_buffer **out) {
  unsigned char *memory = malloc(size + alignment);
  if (!memory) return refused(FE_OUT_OF_MEMORY, "no memory for the bytes");
  return make_buffer(device, memory + (alignment - (uintptr_t)memory % alignment), memory, out);
}
static fe_error *buffer_borrow(fe_module_device *device, void *pointer, uint64_t size, fe_access access,
                               fe_module_buffer **out) {
  (void)size, (void)access;
  return make_buffer(device, pointer, NULL, out);
}
static buffer *opened(fe_module_buffer *handle) { return (buffer *)(void *)handle; }
static void buffer_free(fe_module_buffer *handle) {
  --opened(handle)->of->buffers;
  free(opened(handle)->allocated);
  free(handle);
}
static void *buffer_host_pointer(fe_module_buffer *handle) { return opened(handle)->bytes; }
static fe_error *copy_from_host(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to,
                                uint64_t to_offset, const void *from, uint64_t size) {
  (void)device, (void)queue;
  memcpy(opened(to)->bytes + to_offset, from, size);
  return NULL;
}
static fe_error *copy_to_host(fe_module_device *device, fe_module_queue *queue, void *to, fe_module_buffer *from,
                              uint64_t from_offset, uint64_t size) {
  (void)device, (void)queue;
  memcpy(to, opened(from)->bytes + from_offset, size);
  return NULL;
}
static fe_error *copy(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t to_offset,
                      fe_module_buffer *from, uint64_t from_offset, uint64_t size) {
  (void)device, (void)queue;
  memmove(opened(to)->bytes + to_offset, opened(from)->bytes + from_offset, size);
  return NULL;
}

/* ---- execution */
static int64_t count_of(const fe_value *value) {
  int64_t count = 1;
  for (int32_t axis = 0; axis < value->rank; ++axis) count *= value->shape[axis];
  return count;
}
static int supports(fe_module_device *device, const fe_graph_view *view, uint32_t node, fe_requirements *out) {
  const fe_host *const host = ((machine *)(void *)device)->host;
  const fe_node *const asked = view->nodes[node];
  const fe_value *const result = view->values[asked->outputs[0]];
  for (uint32_t i = 0; i < out->input_count; ++i) fe_input_requirement_at(out, i)->layout = FE_LAYOUT_CONTIGUOUS;
  out->kernel = "add";
  out->reason = "this device only adds float32 arrays of one shape";
  if (asked->op != host->op_id("add") || asked->body || asked->input_count != 2) return 0;
  for (uint32_t i = 0; i < 2; ++i) {
    const fe_value *const input = view->values[asked->inputs[i]];
    if (input->dtype != host->dtype_id("float32") || count_of(input) != count_of(result)) return 0;
    if (view->storages[input->storage]->kind > FE_STORAGE_CONSTANT || input->offset_slot >= 0) return 0;
  }
  return view->storages[result->storage]->kind == FE_STORAGE_OUTPUT;
}
static fe_error *compile(fe_module_device *device, const fe_graph_view *view, fe_module_executable **out) {
  fe_requirements needs = {sizeof needs, NULL, 0, 0, NULL, NULL};
  addition *made;
  const fe_node *const node = view->nodes[0];
  if (view->node_count != 1 || !supports(device, view, 0, &needs)) return refused(FE_UNSUPPORTED, "it adds, once");
  made = malloc(sizeof *made);
  if (!made) return refused(FE_OUT_OF_MEMORY, "no memory for an executable");
  made->of = (machine *)(void *)device;
  made->count = count_of(view->values[node->outputs[0]]);
  made->output = view->storages[view->values[node->outputs[0]]->storage]->binding;
  for (uint32_t i = 0; i < 2; ++i) {
    const fe_value *const input = view->values[node->inputs[i]];
    made->inputs[i] = view->storages[input->storage]->binding;
    made->offsets[i] = (uint64_t)input->offset * sizeof(float);
  }
  ++made->of->executables;
  *out = (fe_module_executable *)(void *)made;
  return NULL;
}
static void executable_release(fe_module_executable *executable) {
  --((addition *)(void *)executable)->of->executables;
  free(executable);
}
static unsigned char *bound(const fe_execution *execution, uint32_t binding) {
  const fe_binding *const found = fe_binding_at(execution, binding);
  return opened(found->buffer)->bytes + found->offset;
}
static fe_error *execute(fe_module_executable *executable, fe_module_queue *queue, const fe_execution *execution) {
  const addition *const sum = (const addition *)(const void *)executable;
  const float *const x = (const float *)(const void *)(bound(execution, sum->inputs[0]) + sum->offsets[0]);
  const float *const y = (const float *)(const void *)(bound(execution, sum->inputs[1]) + sum->offsets[1]);
  float *const out = (float *)(void *)bound(execution, sum->output);
  (void)queue;
  for (int64_t i = 0; i < sum->count; ++i) out[i] = x[i] + y[i];
  ++sum->of->additions;
  sum->of->thread_limit = execution->thread_limit;
  return NULL;
}

static void hello(void) {}
static void *get_proc(const char *name) {
  const fe_proc function = hello;
  void *address;
  memcpy(&address, &function, sizeof address);
  return strcmp(name, "hello") == 0 ? address : NULL;
}

static fe_error *init(void *argument, const fe_host *host, fe_backend *out) {
  machine *const self = argument;
  the_host = self->host = host;
  if (self->devices == 99) return refused(FE_NOT_FOUND, "there is no such machine");
  out->self = (fe_module_backend *)(void *)self;
  out->name = "adder";
  out->variant = "";
  out->version = "7";
  out->close = close_machine;
  out->device_count = device_count;
  out->device_properties = device_properties;
  out->device_open = device_open;
  out->device_close = device_close;
  out->buffer_allocate = buffer_allocate;
  out->buffer_borrow = buffer_borrow;
  out->buffer_free = buffer_free;
  out->buffer_host_pointer = buffer_host_pointer;
  out->copy_from_host = copy_from_host;
  out->copy_to_host = copy_to_host;
  out->copy = copy;
  out->supports = supports;
  out->compile = compile;
  out->executable_release = executable_release;
  out->execute = execute;
  out->get_proc = get_proc;
  return NULL;
}

static void add_on(const char *name, machine *of) {
  static const int64_t shape[] = {3};
  float x[] = {1, 2, 3}, y[] = {10, 20, 30}, out[3] = {0};
  fe_device *device = NULL;
  fe_array *inputs[2], *sum = NULL;
  const int before = of->additions;
  MUST(fe_device_by_name(name, NULL, &device));
  inputs[0] = borrowed(device, x, 1, shape);
  inputs[1] = borrowed(device, y, 1, shape);
  MUST(fe_array_apply("add", inputs, NULL, 2, NULL, 0, &sum, 1));
  MUST(fe_array_read(sum, out, sizeof out));
  EXPECT(out[0] == 11 && out[1] == 22 && out[2] == 33);
  EXPECT(of->additions == before + 1);
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_unload("adder")); /* arrays are alive */
  fe_array_release(sum);
  fe_array_release(inputs[0]);
  fe_array_release(inputs[1]);
  fe_device_release(device);
}

/* Options of a computation reach the module. */
static void compute_with_options(machine *of) {
  static const int64_t shape[] = {3};
  const fe_dtype float32 = fe_dtype_by_name("float32");
  float x[] = {1, 2, 3}, out[3] = {0};
  void *const memory[] = {out};
  const uint64_t bytes[] = {sizeof out};
  fe_device *device = NULL;
  fe_graph *graph = NULL;
  fe_compiled *compiled = NULL;
  fe_array *input = NULL, *none = NULL;
  uint32_t values[2], sum;
  fe_compile_options strict = {0};
  fe_compute_options options = {0};
  MUST(fe_device_by_name("adder", NULL, &device));
  MUST(fe_graph_create(device, &graph));
  MUST(fe_graph_input(graph, "x", float32, 1, shape, NULL, &values[0]));
  values[1] = values[0];
  MUST(fe_graph_apply(graph, "add", values, NULL, 2, NULL, 0, NULL, &sum, 1));
  MUST(fe_graph_output(graph, sum));
  strict.struct_size = sizeof strict;
  strict.fallback = "error";
  MUST(fe_graph_compile(graph, &strict, &compiled));
  fe_graph_release(graph);
  input = borrowed(device, x, 1, shape);
  options.struct_size = sizeof options;
  options.out_memory = memory;
  options.out_bytes = bytes;
  options.thread_limit = 3;
  MUST(fe_compute(compiled, &input, 1, &options, &none, 1));
  EXPECT(none == NULL && out[2] == 6 && of->thread_limit == 3);
  options.struct_size = offsetof(fe_compute_options, thread_limit); /* the size in earlier headers */
  MUST(fe_compute(compiled, &input, 1, &options, &none, 1));
  EXPECT(none == NULL && of->thread_limit == 0);
  MUST(fe_compute(compiled, &input, 1, NULL, &none, 1));
  EXPECT(none != NULL);
  fe_array_release(none);
  options.struct_size = 1;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_compute(compiled, &input, 1, &options, &none, 1));
  options.struct_size = sizeof options;
  options.scalar_count = 1;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_compute(compiled, &input, 1, &options, &none, 1));
  options.scalar_count = 0;
  options.out_bytes = NULL;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_compute(compiled, &input, 1, &options, &none, 1));
  fe_array_release(input);
  fe_compiled_release(compiled);
  fe_device_release(device);
}

/* max_allocation limits every allocation: no larger array can be sliced from a region on the device. */
static void the_devices_own_limit(void) {
  static _Alignas(64) unsigned char region[(1 << 16) + 64];
  static const int64_t few[] = {4};
  fe_device *device = NULL;
  fe_array *bytes = NULL, *part = NULL;
  fe_error *error;
  MUST(fe_device_by_name("adder", NULL, &device));
  error = fe_buffer_from_host_ptr(device, region, sizeof region, FE_ACCESS_READ, sizeof region, NULL, NULL, &bytes);
  EXPECT(fe_error_code(error) == FE_UNSUPPORTED && strstr(fe_error_message(error), "65600") &&
         strstr(fe_error_message(error), "65536"));
  fe_error_release(error);
  MUST(fe_buffer_from_host_ptr(device, region, 64, FE_ACCESS_READ, UINT64_MAX, NULL, NULL, &bytes));
  MUST(fe_array_cut(bytes, 0, fe_dtype_by_name("float32"), 1, few, &part));
  fe_array_release(part);
  fe_array_release(bytes);
  fe_device_release(device);
}

static void refuse(fe_program_backend backend) {
  fe_backend_ref *out = NULL;
  fe_abi other = *backend.abi;
  machine broken;
  const fe_program_backend right = backend;
  memset(&broken, 0, sizeof broken);
  broken.devices = 99;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register_backend(NULL, &out));
  backend.struct_size = 8;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register_backend(&backend, &out));
  backend = right;
  backend.init = NULL;
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register_backend(&backend, &out));
  backend = right;
  backend.name = "Adder:0";
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register_backend(&backend, &out));
  backend.name = "subtracter"; /* the table still says adder */
  FAILS_WITH(FE_INTERNAL, fe_register_backend(&backend, &out));
  backend = right;
  other.major += 1;
  backend.abi = &other;
  FAILS_WITH(FE_ABI_MISMATCH, fe_register_backend(&backend, &out));
  backend = right;
  backend.argument = &broken;
  FAILS_WITH(FE_NOT_FOUND, fe_register_backend(&backend, &out));
  EXPECT(out == NULL);
}

int main(void) {
  static const fe_abi abi = FE_ABI_INITIALIZER;
  machine self;
  fe_program_backend backend = {sizeof backend, "adder", &abi, init, NULL, 0};
  fe_backend_ref *ref = NULL;
  fe_backend_details details;
  fe_proc function = NULL;
  fe_load_report *report = NULL;
  fe_load_report_info info = {sizeof info, 0, 0, 0, NULL, NULL, NULL, {0, 0, 0, 0, 0, 0}, 0};
  int found = 0;
  memset(&self, 0, sizeof self);
  memset(&details, 0, sizeof details);
  self.devices = 1;
  backend.argument = &self;
  refuse(backend);
  self.closed = 0; /* after the refused registration */
  MUST(fe_register_backend(&backend, &ref));
  FAILS_WITH(FE_INVALID_ARGUMENT, fe_register_backend(&backend, NULL)); /* the name is taken */
  details.struct_size = sizeof details;
  MUST(fe_backend_details_get(ref, &details));
  EXPECT(strcmp(details.name, "adder") == 0 && strcmp(details.version, "7") == 0);
  EXPECT(strcmp(details.path, "static") == 0 && details.kinds == 1u << FE_DEVICE_ACCELERATOR);
  MUST(fe_backend_get_proc(ref, "hello", &function));
  function();
  fe_backend_release(ref);
  MUST(fe_load_all(NULL, &report)); /* stays registered beside the loaded backends */
  MUST(fe_load_report_info_get(report, &info));
  for (size_t i = 0; i < info.candidate_count; ++i) {
    fe_load_candidate candidate;
    candidate.struct_size = sizeof candidate;
    MUST(fe_load_report_candidate(report, i, &candidate));
    found += strcmp(candidate.name, "adder") == 0;
  }
  EXPECT(found == 1);
  fe_load_report_release(report);
  add_on("adder", &self);
  compute_with_options(&self);
  add_on("accelerator:0", &self);
  the_devices_own_limit();

  self.devices = 2; /* a second device is plugged in */
  self.host->device_added((fe_module_backend *)(void *)&self);
  add_on("adder:1", &self);

  MUST(fe_unload("adder"));
  EXPECT(self.closed == 1 && self.open == 0 && self.buffers == 0 && self.executables == 0);
  MUST(fe_register_backend(&backend, NULL)); /* registered again */
  MUST(fe_shutdown());
  return 0;
}
