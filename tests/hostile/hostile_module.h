/* A correct module: one device in host memory that adds float32 arrays. A hostile module defines `misbehave` or some of
 * the macros below, which add one fault, before it includes this file.
 *
 * Each step appends a line "<process> <step>" to the file named by HOSTILE_MARKS, so that a test can tell what ran in
 * which process. C11 and C++17. */
#ifndef FERRULE_TESTS_HOSTILE_H
#define FERRULE_TESTS_HOSTILE_H

#include <ferrule/backend.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(_WIN32)
#include <io.h>
#include <malloc.h>
#include <process.h>
#include <windows.h>
#define O_CLOEXEC _O_NOINHERIT
#define getpid _getpid
#define pause() Sleep(INFINITE)
#define aligned_alloc(alignment, size) _aligned_malloc(size, alignment)
#define hostile_free_aligned _aligned_free
#else
#include <unistd.h>
#define hostile_free_aligned free
#endif

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

#ifndef HOSTILE_DEVICE_COUNT
#define HOSTILE_DEVICE_COUNT 1
#endif
#ifndef HOSTILE_DEVICE_NAME
#define HOSTILE_DEVICE_NAME "a hostile module's device"
#endif
#ifndef HOSTILE_ADD /* what execute computes for each element */
#define HOSTILE_ADD(a, b) ((a) + (b))
#endif
#ifndef HOSTILE_SCORE
#define HOSTILE_SCORE 1
#endif
#ifndef HOSTILE_SPOIL /* last change to the table that init fills, and to a device's properties */
#define HOSTILE_SPOIL(table) (void)(table)
#endif
#ifndef HOSTILE_SPOIL_PROPERTIES
#define HOSTILE_SPOIL_PROPERTIES(properties) (void)(properties)
#endif

static const fe_host *hostile_host;

static void hostile_mark(const char *what) {
  const char *path = getenv("HOSTILE_MARKS");
  const int file = path != NULL ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;
  char line[64];
  if (file < 0) return;
  const int size = snprintf(line, sizeof line, "%d %s\n", (int)getpid(), what);
  if (write(file, line, (size_t)size) < 0) perror("HOSTILE_MARKS");
  close(file);
}

static fe_error *hostile_step(enum step step) {
  static const char *const names[] = {"open",        "score",   "init",    "enumerate",
                                      "device_open", "compile", "execute", "close"};
  hostile_mark(names[step]);
  return misbehave(step);
}

/* ---- devices and memory -------------------------------------------------------------------------------------- */

typedef struct hostile_buffer {
  char *data;
  int is_owned;
} hostile_buffer;

static char *hostile_data(fe_module_buffer *buffer) { return ((hostile_buffer *)(void *)buffer)->data; }

static fe_error *hostile_buffer_at(char *data, int is_owned, fe_module_buffer **out) {
  hostile_buffer *buffer = (hostile_buffer *)malloc(sizeof(hostile_buffer));
  if (buffer == NULL || data == NULL)
    return hostile_host->error_create(FE_OUT_OF_MEMORY, "hostile module: no memory for a buffer");
  buffer->data = data;
  buffer->is_owned = is_owned;
  *out = (fe_module_buffer *)(void *)buffer;
  return NULL;
}

static void hostile_close(fe_module_backend *backend) {
  (void)backend;
  hostile_step(STEP_CLOSE);
}
static uint32_t hostile_device_count(fe_module_backend *backend) {
  (void)backend;
  hostile_step(STEP_ENUMERATE);
  return HOSTILE_DEVICE_COUNT;
}
static fe_error *hostile_device_properties(fe_module_backend *backend, uint32_t index, fe_device_properties *out) {
  (void)backend, (void)index;
  out->kind = FE_DEVICE_GPU;
  out->flags = FE_DEVICE_FLAG_HOST_MEMORY;
  out->name = HOSTILE_DEVICE_NAME;
  out->total_memory = 1 << 20;
  out->borrow_alignment = 1;
  HOSTILE_SPOIL_PROPERTIES(out);
  return NULL;
}
static fe_error *hostile_device_open(fe_module_backend *backend, uint32_t index, const fe_option *options,
                                     uint32_t count, fe_module_device **out) {
  (void)backend, (void)index, (void)options, (void)count;
  *out = (fe_module_device *)(void *)&hostile_host;
  return hostile_step(STEP_DEVICE_OPEN);
}
static void hostile_device_close(fe_module_device *device) { (void)device; }
static fe_error *hostile_allocate(fe_module_device *device, uint64_t size, uint64_t alignment, fe_module_buffer **out) {
  (void)device;
  return hostile_buffer_at((char *)aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment), 1, out);
}
static fe_error *hostile_borrow(fe_module_device *device, void *pointer, uint64_t size, fe_access access,
                                fe_module_buffer **out) {
  (void)device, (void)size, (void)access;
  return hostile_buffer_at((char *)pointer, 0, out);
}
static void hostile_free(fe_module_buffer *buffer) {
  if (((hostile_buffer *)(void *)buffer)->is_owned) hostile_free_aligned(hostile_data(buffer));
  free(buffer);
}
static void *hostile_host_pointer(fe_module_buffer *buffer) { return hostile_data(buffer); }
static fe_error *hostile_copy_in(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to,
                                 uint64_t offset, const void *from, uint64_t size) {
  (void)device, (void)queue;
  memmove(hostile_data(to) + offset, from, size);
  return NULL;
}
static fe_error *hostile_copy_out(fe_module_device *device, fe_module_queue *queue, void *to, fe_module_buffer *from,
                                  uint64_t offset, uint64_t size) {
  (void)device, (void)queue;
  memmove(to, hostile_data(from) + offset, size);
  return NULL;
}
static fe_error *hostile_copy(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to,
                              uint64_t to_offset, fe_module_buffer *from, uint64_t from_offset, uint64_t size) {
  return hostile_copy_in(device, queue, to, to_offset, hostile_data(from) + from_offset, size);
}

/* ---- execution ----------------------------------------------------------------------------------------------- */

typedef struct hostile_value {
  fe_storage storage;
  int64_t offset, strides[FE_MAX_RANK];
  int32_t offset_slot;
} hostile_value;

typedef struct hostile_sum {
  int32_t rank;
  int64_t shape[FE_MAX_RANK];
  hostile_value a, b, out;
} hostile_sum;

typedef struct hostile_sums {
  uint32_t count;
  hostile_sum *sums;
} hostile_sums;

static hostile_value hostile_value_of(const fe_graph_view *view, uint32_t index) {
  const fe_value *from = view->values[index];
  hostile_value value;
  memset(&value, 0, sizeof value);
  value.storage = *view->storages[from->storage];
  value.offset = from->offset;
  value.offset_slot = from->offset_slot;
  for (int32_t i = 0; i < from->rank; ++i) value.strides[i] = from->strides[i];
  return value;
}

static int hostile_supports(fe_module_device *device, const fe_graph_view *view, uint32_t index, fe_requirements *out) {
  (void)device;
  const fe_node *node = view->nodes[index];
  const fe_dtype float32 = hostile_host->dtype_id("float32");
  out->kernel = "add";
  if (node->op != hostile_host->op_id("add") || node->body != NULL) return 0;
  return view->values[node->inputs[0]]->dtype == float32 && view->values[node->inputs[1]]->dtype == float32;
}

static fe_error *hostile_compile(fe_module_device *device, const fe_graph_view *view, fe_module_executable **out) {
  (void)device;
  fe_error *error = hostile_step(STEP_COMPILE);
  if (error != NULL) return error;
  hostile_sums *sums = (hostile_sums *)malloc(sizeof(hostile_sums));
  sums->count = view->node_count;
  sums->sums = (hostile_sum *)calloc(view->node_count + 1, sizeof(hostile_sum));
  for (uint32_t i = 0; i < view->node_count; ++i) {
    const fe_node *node = view->nodes[i];
    const fe_value *result = view->values[node->outputs[0]];
    hostile_sum *sum = &sums->sums[i];
    sum->rank = result->rank;
    for (int32_t k = 0; k < result->rank; ++k) sum->shape[k] = result->shape[k];
    sum->a = hostile_value_of(view, node->inputs[0]);
    sum->b = hostile_value_of(view, node->inputs[1]);
    sum->out = hostile_value_of(view, node->outputs[0]);
  }
  *out = (fe_module_executable *)(void *)sums;
  return NULL;
}

static void hostile_release(fe_module_executable *executable) {
  free(((hostile_sums *)(void *)executable)->sums);
  free(executable);
}

static float *hostile_address(const hostile_value *value, const fe_execution *execution) {
  const fe_storage *storage = &value->storage;
  const int64_t moved = value->offset_slot >= 0 ? execution->offsets[value->offset_slot] : 0;
  char *bytes;
  if (storage->kind == FE_STORAGE_SCALAR) {
    bytes = (char *)(uintptr_t)&execution->scalars[storage->binding];
  } else if (storage->kind == FE_STORAGE_TEMPORARY) {
    bytes = hostile_data(execution->workspace) + execution->workspace_offset + storage->offset;
  } else {
    const fe_binding *binding = fe_binding_at(execution, storage->binding);
    bytes = hostile_data(binding->buffer) + binding->offset;
  }
  return (float *)(void *)bytes + value->offset + moved;
}

static void hostile_compute(const hostile_sum *sum, const float *a, const float *b, float *out, int32_t axis) {
  if (axis == sum->rank) {
    *out = HOSTILE_ADD(*a, *b);
    return;
  }
  for (int64_t i = 0; i < sum->shape[axis]; ++i)
    hostile_compute(sum, a + i * sum->a.strides[axis], b + i * sum->b.strides[axis], out + i * sum->out.strides[axis],
                    axis + 1);
}

static fe_error *hostile_execute(fe_module_executable *executable, fe_module_queue *queue,
                                 const fe_execution *execution) {
  (void)queue;
  fe_error *error = hostile_step(STEP_EXECUTE);
  if (error != NULL) return error;
  const hostile_sums *sums = (const hostile_sums *)(const void *)executable;
  for (uint32_t i = 0; i < sums->count; ++i) {
    const hostile_sum *sum = &sums->sums[i];
    hostile_compute(sum, hostile_address(&sum->a, execution), hostile_address(&sum->b, execution),
                    hostile_address(&sum->out, execution), 0);
  }
  return NULL;
}

/* ---- exports ------------------------------------------------------------------------------------------------- */

#ifdef __cplusplus
extern "C" {
#endif

#ifndef HOSTILE_OWN_ABI
FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;
#endif

FE_MODULE_EXPORT int ferrule_backend_score(void);
int ferrule_backend_score(void) {
  hostile_step(STEP_SCORE);
  return HOSTILE_SCORE;
}

FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *host, fe_backend *out) {
  hostile_host = host;
  fe_error *error = hostile_step(STEP_INIT);
  if (error != NULL) return error;
  out->self = (fe_module_backend *)(void *)&hostile_host;
  out->name = HOSTILE_NAME;
  out->variant = "";
  out->version = "1";
  out->close = hostile_close;
  out->device_count = hostile_device_count;
  out->device_properties = hostile_device_properties;
  out->device_open = hostile_device_open;
  out->device_close = hostile_device_close;
  out->buffer_allocate = hostile_allocate;
  out->buffer_borrow = hostile_borrow;
  out->buffer_free = hostile_free;
  out->buffer_host_pointer = hostile_host_pointer;
  out->copy_from_host = hostile_copy_in;
  out->copy_to_host = hostile_copy_out;
  out->copy = hostile_copy;
  out->supports = hostile_supports;
  out->compile = hostile_compile;
  out->executable_release = hostile_release;
  out->execute = hostile_execute;
  HOSTILE_SPOIL(out);
  return NULL;
}

#ifdef __cplusplus
}
#endif

__attribute__((constructor)) static void hostile_open(void) { hostile_step(STEP_OPEN); }

#endif
