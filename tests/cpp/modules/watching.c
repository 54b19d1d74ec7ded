/* A module with one device that has its own memory and computes zeros. It records calls after test_exit_began() and
 * calls in a process other than the one that opened the device. The device runs a thread while it is open;
 * TEST_LEAVES_THREAD lets another thread outlive the backend. FERRULE_TEST_OPEN_GATE is a file that opening the
 * device makes; opening goes on when the file is gone. FERRULE_TEST_EXECUTE_GATE is one of each execution. */
#define _POSIX_C_SOURCE 200809L
#include <ferrule/backend.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#if defined(_WIN32)
#include <malloc.h>
#define FREE_ALIGNED _aligned_free
#else
#define FREE_ALIGNED free
#endif

static const fe_host *host;
static atomic_int exit_began;
static atomic_int opened_by; /* a process id; 0 = none */

static void note(const char *what, const char *function) {
  const char *path = getenv("FERRULE_TEST_NOTES");
  FILE *file = path != NULL ? fopen(path, "ab") : NULL;
  if (file == NULL) return;
  fprintf(file, "%s %s\n", what, function);
  fclose(file);
}

/* Called at the beginning of every function. */
static void called(const char *function) {
  const int owner = atomic_load(&opened_by);
  if (atomic_load(&exit_began)) note("at exit:", function);
  if (owner != 0 && owner != getpid()) note("in a child:", function);
}

static const struct timespec moment = {0, 1000000};

static void wait_at_gate(const char *variable) {
  const char *path = getenv(variable);
  FILE *file = path != NULL ? fopen(path, "wb") : NULL;
  if (file == NULL) return;
  fclose(file);
  while (access(path, F_OK) == 0) nanosleep(&moment, NULL);
}

FE_MODULE_EXPORT void test_exit_began(void);
void test_exit_began(void) { atomic_store(&exit_began, 1); }

/* ---- the device and its thread */
typedef struct {
  pthread_t thread;
  atomic_int began, ends;
} Opened;

static void *serve(void *argument) {
  Opened *opened = argument;
  atomic_store(&opened->began, 1);
  while (!atomic_load(&opened->ends)) nanosleep(&moment, NULL);
  return NULL;
}

/* Returns when the thread has started. AddressSanitizer of g++ 12 allocates when a thread starts; a fork at that time
 * leaves its lock held in the child. */
static void start(Opened *opened) {
  pthread_create(&opened->thread, NULL, serve, opened);
  while (!atomic_load(&opened->began)) nanosleep(&moment, NULL);
}

static uint32_t device_count(fe_module_backend *backend) { return (void)backend, called("device_count"), 1; }
static fe_error *device_properties(fe_module_backend *backend, uint32_t index, fe_device_properties *out) {
  (void)backend;
  called("device_properties");
  if (index > 0) return host->error_create(FE_NOT_FOUND, "no such device");
  out->kind = FE_DEVICE_TEST;
  out->name = "watching";
  return NULL;
}
static fe_error *device_option(fe_module_backend *backend, uint32_t option, fe_option_info *out) {
  (void)backend, (void)option, (void)out;
  called("device_option");
  return host->error_create(FE_NOT_FOUND, "no such option");
}
static fe_error *device_open(fe_module_backend *backend, uint32_t index, const fe_option *options, uint32_t count,
                             fe_module_device **out) {
  (void)backend, (void)index, (void)options, (void)count;
  called("device_open");
  atomic_store(&opened_by, getpid());
  wait_at_gate("FERRULE_TEST_OPEN_GATE");
  Opened *opened = calloc(1, sizeof *opened);
  start(opened);
  *out = (fe_module_device *)opened;
  return NULL;
}
static void device_close(fe_module_device *device) {
  Opened *opened = (Opened *)device;
  called("device_close");
  atomic_store(&opened->ends, 1);
  pthread_join(opened->thread, NULL);
  free(opened);
  atomic_store(&opened_by, 0);
}
static fe_error *device_memory(fe_module_device *device, uint64_t *free_bytes, uint64_t *total_bytes) {
  (void)device;
  called("device_memory");
  *free_bytes = *total_bytes = 1u << 30;
  return NULL;
}

/* ---- buffers */
static fe_error *buffer_allocate(fe_module_device *device, uint64_t size, uint64_t alignment, fe_module_buffer **out) {
  (void)device;
  called("buffer_allocate");
#if defined(_WIN32)
  *out = _aligned_malloc(size, alignment);
#else
  *out = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
#endif
  return *out != NULL ? NULL : host->error_create(FE_OUT_OF_MEMORY, "no memory");
}
static void buffer_free(fe_module_buffer *buffer) { called("buffer_free"), FREE_ALIGNED(buffer); }
static fe_error *copy_from_host(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t offset,
                                const void *from, uint64_t size) {
  (void)device, (void)queue;
  called("copy_from_host");
  memcpy((char *)to + offset, from, size);
  return NULL;
}
static fe_error *copy_to_host(fe_module_device *device, fe_module_queue *queue, void *to, fe_module_buffer *from,
                              uint64_t offset, uint64_t size) {
  (void)device, (void)queue;
  called("copy_to_host");
  memcpy(to, (char *)from + offset, size);
  return NULL;
}
static fe_error *copy(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t to_offset,
                      fe_module_buffer *from, uint64_t from_offset, uint64_t size) {
  (void)device, (void)queue;
  called("copy");
  memmove((char *)to + to_offset, (char *)from + from_offset, size);
  return NULL;
}

/* ---- the queue: work completes immediately */
static fe_error *queue_create(fe_module_device *device, fe_queue_kind kind, fe_module_queue **out) {
  (void)kind;
  called("queue_create");
  *out = (fe_module_queue *)device;
  return NULL;
}
static void queue_destroy(fe_module_queue *queue) { (void)queue, called("queue_destroy"); }
static fe_error *queue_reset(fe_module_queue *queue) { return (void)queue, called("queue_reset"), NULL; }
static fe_error *event_record(fe_module_queue *queue, fe_module_event **out) {
  called("event_record");
  *out = (fe_module_event *)queue;
  return NULL;
}
static fe_error *event_wait(fe_module_event *event, int64_t timeout_ns) {
  return (void)event, (void)timeout_ns, called("event_wait"), NULL;
}
static int event_done(fe_module_event *event) { return (void)event, called("event_done"), 1; }
static void event_release(fe_module_event *event) { (void)event, called("event_release"); }

/* ---- graphs: results are zeros */
typedef struct {
  uint32_t count;
  struct {
    uint32_t binding;
    uint64_t size;
  } outputs[64];
} Zeros;

static int supports(fe_module_device *device, const fe_graph_view *view, uint32_t node, fe_requirements *out) {
  return (void)device, (void)view, (void)node, (void)out, called("supports"), 1;
}
static fe_error *compile(fe_module_device *device, const fe_graph_view *view, fe_module_executable **out) {
  (void)device;
  called("compile");
  Zeros *zeros = calloc(1, sizeof *zeros);
  for (uint32_t i = 0; i < view->storage_count && zeros->count < 64; ++i) {
    if (view->storages[i]->kind != FE_STORAGE_OUTPUT) continue;
    zeros->outputs[zeros->count].binding = view->storages[i]->binding;
    zeros->outputs[zeros->count++].size = view->storages[i]->size;
  }
  *out = (fe_module_executable *)zeros;
  return NULL;
}
static void executable_release(fe_module_executable *executable) { called("executable_release"), free(executable); }
static fe_error *execute(fe_module_executable *executable, fe_module_queue *queue, const fe_execution *execution) {
  (void)queue;
  called("execute");
  wait_at_gate("FERRULE_TEST_EXECUTE_GATE");
  const Zeros *zeros = (const Zeros *)executable;
  for (uint32_t i = 0; i < zeros->count; ++i) {
    const fe_binding *binding = fe_binding_at(execution, zeros->outputs[i].binding);
    memset((char *)binding->buffer + binding->offset, 0, zeros->outputs[i].size);
  }
  return NULL;
}

static void close_backend(fe_module_backend *backend) { (void)backend, called("close"), note("closed", TEST_NAME); }

FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = FE_ABI_INITIALIZER;

FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out) {
  host = given;
#ifdef TEST_LEAVES_THREAD
  static Opened until_exit;
  start(&until_exit);
  pthread_detach(until_exit.thread);
#endif
  out->self = (fe_module_backend *)&opened_by;
  out->name = TEST_NAME;
  out->variant = TEST_VARIANT;
  out->version = "1";
  out->close = close_backend;
  out->device_count = device_count;
  out->device_properties = device_properties;
  out->device_option = device_option;
  out->device_open = device_open;
  out->device_close = device_close;
  out->device_memory = device_memory;
  out->buffer_allocate = buffer_allocate;
  out->buffer_free = buffer_free;
  out->copy_from_host = copy_from_host;
  out->copy_to_host = copy_to_host;
  out->copy = copy;
  out->queue_create = queue_create;
  out->queue_destroy = queue_destroy;
  out->queue_reset = queue_reset;
  out->event_record = event_record;
  out->event_wait = event_wait;
  out->event_done = event_done;
  out->event_release = event_release;
  out->supports = supports;
  out->compile = compile;
  out->executable_release = executable_release;
  out->execute = execute;
  return NULL;
}
