/* A correct module: one device in host memory that adds float32 arrays. A hostile module defines `misbehave` or some of
 * the macros below, which add one fault, before it includes this file.
 *
 * Each step appends a line "<process> <step>" to the file named by ZOO_MARKS, so that a test can tell what ran in which
 * process. C11 and C++17. */
#ifndef FERRULE_TESTS_ZOO_H
#define FERRULE_TESTS_ZOO_H

#include <ferrule/backend.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum step {
  STEP_OPEN, /* constructors */
  STEP_SCORE,
  STEP_INIT,
  STEP_ENUMERATE,
  STEP_DEVICE_OPEN,
  STEP_COMPILE,
  STEP_EXECUTE,
  STEP_CLOSE
};

/* Called at the beginning of each step; a returned error becomes the step's error. */
static fe_error *misbehave(enum step step);

#ifndef ZOO_DEVICE_COUNT
#define ZOO_DEVICE_COUNT 1
#endif
#ifndef ZOO_DEVICE_NAME
#define ZOO_DEVICE_NAME "a device of the zoo"
#endif
#ifndef ZOO_ADD /* what execute computes for each element */
#define ZOO_ADD(a, b) ((a) + (b))
#endif
#ifndef ZOO_SCORE
#define ZOO_SCORE 1
#endif
#ifndef ZOO_SPOIL /* last change to the table that init fills, and to a device's properties */
#define ZOO_SPOIL(table) (void)(table)
#endif
#ifndef ZOO_SPOIL_PROPERTIES
#define ZOO_SPOIL_PROPERTIES(properties) (void)(properties)
#endif

static const fe_host *zoo_host;

static void zoo_mark(const char *what) {
  const char *path = getenv("ZOO_MARKS");
  const int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  char line[64];
  if (file < 0) return;
  const int size = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), what);
  if (write(file, line, (size_t)size) < 0) perror("ZOO_MARKS");
  close(file);
}

static fe_error *zoo_step(enum step step) {
  static const char *const names[] = {"open",        "score",   "init",    "enumerate",
                                      "device_open", "compile", "execute", "close"};
  zoo_mark(names[step]);
  return misbehave(step);
}

/* ---- devices and memory -------------------------------------------------------------------------------------- */

typedef struct zoo_buffer {
  char *data;
  int is_owned;
} zoo_buffer;

static char *zoo_data(fe_module_buffer *buffer) { return ((zoo_buffer *)(void *)buffer)->data; }

static fe_error *zoo_buffer_at(char *data, int is_owned, fe_module_buffer **out) {
  zoo_buffer *buffer = (zoo_buffer *)malloc(sizeof(zoo_buffer));
  if (buffer == NULL || data == NULL) return zoo_host->error_create(FE_OUT_OF_MEMORY, "zoo: no memory for a buffer");
  buffer->data = data;
  buffer->is_owned = is_owned;
  *out = (fe_module_buffer *)(void *)buffer;
  return NULL;
}

static void zoo_close(fe_module_backend *backend) {
  (void)backend;
  zoo_step(STEP_CLOSE);
}
static uint32_t zoo_device_count(fe_module_backend *backend) {
  (void)backend;
  zoo_step(STEP_ENUMERATE);
  return ZOO_DEVICE_COUNT;
}
static fe_error *zoo_device_properties(fe_module_backend *backend, uint32_t index, fe_device_properties *out) {
  (void)backend, (void)index;
  out->kind = FE_DEVICE_GPU;
  out->flags = FE_DEVICE_FLAG_HOST_MEMORY;
  out->name = ZOO_DEVICE_NAME;
  out->total_memory = 1 << 20;
  out->borrow_alignment = 1;
  ZOO_SPOIL_PROPERTIES(out);
  return NULL;
}
static fe_error *zoo_device_open(fe_module_backend *backend, uint32_t index, const fe_option *options, uint32_t count,
                                 fe_module_device **out) {
  (void)backend, (void)index, (void)options, (void)count;
  *out = (fe_module_device *)(void *)&zoo_host;
  return zoo_step(STEP_DEVICE_OPEN);
}
static void zoo_device_close(fe_module_device *device) { (void)device; }
static fe_error *zoo_allocate(fe_module_device *device, uint64_t size, uint64_t alignment, fe_module_buffer **out) {
  (void)device;
  return zoo_buffer_at((char *)aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment), 1, out);
}
static fe_error *zoo_borrow(fe_module_device *device, void *pointer, uint64_t size, fe_access access,
                            fe_module_buffer **out) {
  (void)device, (void)size, (void)access;
  return zoo_buffer_at((char *)pointer, 0, out);
}
static void zoo_free(fe_module_buffer *buffer) {
  if (((zoo_buffer *)(void *)buffer)->is_owned) free(zoo_data(buffer));
  free(buffer);
}
static void *zoo_host_pointer(fe_module_buffer *buffer) { return zoo_data(buffer); }
static fe_error *zoo_copy_in(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t offset,
                             const void *from, uint64_t size) {
  (void)device, (void)queue;
  memmove(zoo_data(to) + offset, from, size);
  return NULL;
}
static fe_error *zoo_copy_out(fe_module_device *device, fe_module_queue *queue, void *to, fe_module_buffer *from,
                              uint64_t offset, uint64_t size) {
  (void)device, (void)queue;
  memmove(to, zoo_data(from) + offset, size);
  return NULL;
}
static fe_error *zoo_copy(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t to_offset,
                          fe_module_buffer *from, uint64_t from_offset, uint64_t size) {
  return zoo_copy_in(device, queue, to, to_offset, zoo_data(from) + from_offset, size);
}

/* ---- execution ----------------------------------------------------------------------------------------------- */

typedef struct zoo_value {
  fe_storage storage;
  int64_t offset, strides[FE_MAX_RANK];
  int32_t offset_slot;
} zoo_value;

typedef struct zoo_sum {
  int32_t rank;
  int64_t shape[FE_MAX_RANK];
  zoo_value a, b, out;
} zoo_sum;

typedef struct zoo_sums {
  uint32_t count;
  zoo_sum *sums;
} zoo_sums;

static zoo_value zoo_value_of(const fe_graph_view *view, uint32_t index) {
  const fe_value *from = view->values[index];
  zoo_value value;
  memset(&value, 0, sizeof value);
  value.storage = *view->storages[from->storage];
  value.offset = from->offset;
  value.offset_slot = from->offset_slot;
  for (int32_t i = 0; i < from->rank; ++i) value.strides[i] = from->strides[i];
  return value;
}

static int zoo_supports(fe_module_device *device, const fe_graph_view *view, uint32_t index, fe_requirements *out) {
  (void)device;
  const fe_node *node = view->nodes[index];
  const fe_dtype float32 = zoo_host->dtype_id("float32");
  out->kernel = "zoo";
  if (node->op != zoo_host->op_id("add") || node->body != NULL) return 0;
  return view->values[node->inputs[0]]->dtype == float32 && view->values[node->inputs[1]]->dtype == float32;
}

static fe_error *zoo_compile(fe_module_device *device, const fe_graph_view *view, fe_module_executable **out) {
  (void)device;
  fe_error *error = zoo_step(STEP_COMPILE);
  if (error != NULL) return error;
  zoo_sums *sums = (zoo_sums *)malloc(sizeof(zoo_sums));
  sums->count = view->node_count;
  sums->sums = (zoo_sum *)calloc(view->node_count + 1, sizeof(zoo_sum));
  for (uint32_t i = 0; i < view->node_count; ++i) {
    const fe_node *node = view->nodes[i];
    const fe_value *result = view->values[node->outputs[0]];
    zoo_sum *sum = &sums->sums[i];
    sum->rank = result->rank;
    for (int32_t k = 0; k < result->rank; ++k) sum->shape[k] = result->shape[k];
    sum->a = zoo_value_of(view, node->inputs[0]);
    sum->b = zoo_value_of(view, node->inputs[1]);
    sum->out = zoo_value_of(view, node->outputs[0]);
  }
  *out = (fe_module_executable *)(void *)sums;
  return NULL;
}

static void zoo_release(fe_module_executable *executable) {
  free(((zoo_sums *)(void *)executable)->sums);
  free(executable);
}

static float *zoo_address(const zoo_value *value, const fe_execution *execution) {
  const fe_storage *storage = &value->storage;
  const int64_t moved = value->offset_slot >= 0 ? execution->offsets[value->offset_slot] : 0;
  char *bytes;
  if (storage->kind == FE_STORAGE_SCALAR) {
    bytes = (char *)(uintptr_t)&execution->scalars[storage->binding];
  } else if (storage->kind == FE_STORAGE_TEMPORARY) {
    bytes = zoo_data(execution->workspace) + execution->workspace_offset + storage->offset;
  } else {
    const fe_binding *binding = fe_binding_at(execution, storage->binding);
    bytes = zoo_data(binding->buffer) + binding->offset;
  }
  return (float *)(void *)bytes + value->offset + moved;
}

static void zoo_compute(const zoo_sum *sum, const float *a, const float *b, float *out, int32_t axis) {
  if (axis == sum->rank) {
    *out = ZOO_ADD(*a, *b);
    return;
  }
  for (int64_t i = 0; i < sum->shape[axis]; ++i)
    zoo_compute(sum, a + i * sum->a.strides[axis], b + i * sum->b.strides[axis], out + i * sum->out.strides[axis],
                axis + 1);
}

static fe_error *zoo_execute(fe_module_executable *executable, fe_module_queue *queue, const fe_execution *execution) {
  (void)queue;
  fe_error *error = zoo_step(STEP_EXECUTE);
  if (error != NULL) return error;
  const zoo_sums *sums = (const zoo_sums *)(const void *)executable;
  for (uint32_t i = 0; i < sums->count; ++i) {
    const zoo_sum *sum = &sums->sums[i];
    zoo_compute(sum, zoo_address(&sum->a, execution), zoo_address(&sum->b, execution),
                zoo_address(&sum->out, execution), 0);
  }
  return NULL;
}

/* ---- exports ------------------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ZOO_OWN_ABI
FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;
#endif

FE_MODULE_EXPORT int ferrule_backend_score(void);
int ferrule_backend_score(void) {
  zoo_step(STEP_SCORE);
  return ZOO_SCORE;
}

FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) {
  zoo_host = host;
  fe_error *error = zoo_step(STEP_INIT);
  if (error != NULL) return error;
  out->self = (fe_module_backend *)(void *)&zoo_host;
  out->name = ZOO_NAME;
  out->variant = "";
  out->version = "1";
  out->close = zoo_close;
  out->device_count = zoo_device_count;
  out->device_properties = zoo_device_properties;
  out->device_open = zoo_device_open;
  out->device_close = zoo_device_close;
  out->buffer_allocate = zoo_allocate;
  out->buffer_borrow = zoo_borrow;
  out->buffer_free = zoo_free;
  out->buffer_host_pointer = zoo_host_pointer;
  out->copy_from_host = zoo_copy_in;
  out->copy_to_host = zoo_copy_out;
  out->copy = zoo_copy;
  out->supports = zoo_supports;
  out->compile = zoo_compile;
  out->executable_release = zoo_release;
  out->execute = zoo_execute;
  ZOO_SPOIL(out);
  return NULL;
}

#ifdef __cplusplus
}
#endif

__attribute__((constructor)) static void zoo_open(void) { zoo_step(STEP_OPEN); }

#endif
