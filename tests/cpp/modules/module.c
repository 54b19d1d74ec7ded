/* A module for the tests of the loader and the registry. It computes nothing. Macros configure it: TEST_NAME,
 * TEST_VARIANT, TEST_VERSION, TEST_KIND (may depend on `index`), TEST_DEVICES; TEST_NAMED gives each device its own
 * name; TEST_UUIDS and TEST_ADDRESSES list the UUID (16 bytes or NULL) and address (text or NULL) of each device;
 * TEST_SCORE exports a score; TEST_MAJOR and TEST_HASH change the reported interface; TEST_WITHOUT_ABI and
 * TEST_WITHOUT_INIT omit a symbol; TEST_INIT_FAILS (an error code), TEST_WRONG_NAME and TEST_WITHOUT_COMPILE make init
 * faulty; TEST_OLDER makes its table end before get_proc, as if its headers had no such slot; TEST_FAULT runs first;
 * TEST_NEEDS is a variable of a library that the module is linked with. */
#define _POSIX_C_SOURCE 200809L
#include <ferrule/backend.h>

#include <fenv.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(_WIN32)
#include <windows.h>
#define setenv(name, value, overwrite) SetEnvironmentVariableA(name, value)
#else
#include <unistd.h>
#endif

#ifndef TEST_VARIANT
#define TEST_VARIANT ""
#endif
#ifndef TEST_VERSION
#define TEST_VERSION "1"
#endif
#ifndef TEST_KIND
#define TEST_KIND FE_DEVICE_TEST
#endif
#ifndef TEST_UUIDS
#define TEST_UUIDS NULL
#endif
#ifndef TEST_ADDRESSES
#define TEST_ADDRESSES NULL
#endif
#ifndef TEST_DEVICES
#define TEST_DEVICES 1
#endif
#ifndef TEST_MAJOR
#define TEST_MAJOR FE_ABI_MAJOR
#endif
#ifndef TEST_HASH
#define TEST_HASH FE_LAYOUT_HASH
#endif
#ifndef TEST_WRONG_NAME
#define TEST_WRONG_NAME TEST_NAME
#endif
#ifndef TEST_INIT_FAILS
#define TEST_INIT_FAILS FE_OK
#endif
enum fault { FAULT_NONE, FAULT_ABORT, FAULT_KILL, FAULT_HANG, FAULT_ROUNDING, FAULT_VARIABLE, FAULT_WORDS };
#ifndef TEST_FAULT
#define TEST_FAULT FAULT_NONE
#endif
#ifndef TEST_WITHOUT_COMPILE
#define TEST_WITHOUT_COMPILE 0
#endif

static void note(const char *what) {
  const char *path = getenv("FERRULE_TEST_NOTES");
  FILE *file = path != NULL ? fopen(path, "ab") : NULL;
  if (file == NULL) return;
  fprintf(file, "%s %s%s%s\n", what, TEST_NAME, *TEST_VARIANT ? "-" : "", TEST_VARIANT);
  fclose(file);
}

/* Records that the file was opened, even if init then fails. */
__attribute__((constructor)) static void opened(void) { note("opened"); }

static void wait_10_ms(void) {
#if defined(_WIN32)
  Sleep(10);
#else
  nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
#endif
}

static void commit(enum fault fault) {
  switch (fault) {
    case FAULT_NONE:
      break;
    case FAULT_ABORT:
      abort();
    case FAULT_KILL:
#if defined(_WIN32)
      TerminateProcess(GetCurrentProcess(), 9);
#else
      raise(SIGKILL); /* as the kernel does when memory runs out */
#endif
      break;
    case FAULT_HANG:
#if defined(_WIN32)
      for (;;) Sleep(1000);
#else
      for (;;) pause();
#endif
    case FAULT_ROUNDING:
      fesetround(FE_UPWARD);
      break;
    case FAULT_VARIABLE:
      setenv("T_VARIABLE", "1", 1);
      break;
    case FAULT_WORDS:
      puts("a word from init");
      fflush(stdout);
      break;
  }
}

#ifdef TEST_NEEDS
extern int TEST_NEEDS;
int *needed = &TEST_NEEDS;
#endif

static const fe_host *host;
static uint32_t devices = TEST_DEVICES;
static uint32_t open_devices;
static uint32_t first; /* unplugged devices; later devices move up */

static fe_error *refuse(void) { return host->error_create(FE_UNSUPPORTED, "a test module computes nothing"); }

static void close_backend(fe_module_backend *backend) {
  (void)backend;
  note(open_devices == 0 ? "closed" : "closed with open devices");
}
static uint32_t device_count(fe_module_backend *backend) { return (void)backend, devices; }
static const char *const uuids[] = {TEST_UUIDS};
static const char *const addresses[] = {TEST_ADDRESSES};
static fe_error *device_properties(fe_module_backend *backend, uint32_t index, fe_device_properties *out) {
  (void)backend;
  if (index >= devices) return host->error_create(FE_NOT_FOUND, "no such device");
  out->kind = TEST_KIND;
  out->flags = FE_DEVICE_FLAG_HOST_MEMORY;
#ifdef TEST_NAMED
  static const char *const names[] = {"device a", "device b", "device c", "device d"};
  out->name = names[(first + index) % 4];
#else
  (void)first;
  out->name = "test device";
#endif
  out->total_memory = 1000;
  if (index < sizeof uuids / sizeof *uuids) out->uuid = (const uint8_t *)uuids[index];
  if (index < sizeof addresses / sizeof *addresses) out->pci_address = addresses[index];
  return NULL;
}
static fe_error *device_option(fe_module_backend *backend, uint32_t option, fe_option_info *out) {
  static const char *const keys[] = {"delay", "memory"};
  (void)backend;
  if (option >= 2) return host->error_create(FE_NOT_FOUND, "no such option");
  out->key = keys[option];
  out->type = "integer";
  out->doc = "for tests";
  return NULL;
}
static fe_error *device_open(fe_module_backend *backend, uint32_t index, const fe_option *options, uint32_t count,
                             fe_module_device **out) {
  (void)backend, (void)index;
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(fe_option_at(options, i)->value, "-1") == 0)
      return host->error_create(FE_INVALID_ARGUMENT, "delay is -1, and must not be negative");
  for (uint32_t i = 0; i < count; ++i)
    if (strcmp(fe_option_at(options, i)->key, "delay") == 0)
      for (int left = atoi(fe_option_at(options, i)->value); left > 0; left -= 10)
        wait_10_ms();                                                        /* the option is in milliseconds */
  for (const char *held = getenv("FERRULE_TEST_OPEN_HELD"); held != NULL;) { /* while this file exists */
    FILE *const file = fopen(held, "r");
    if (file == NULL) break;
    fclose(file);
    wait_10_ms();
  }
  ++open_devices;
  note("device opened");
  *out = (fe_module_device *)&open_devices;
  return NULL;
}
static void device_close(fe_module_device *device) { (void)device, --open_devices, note("device closed"); }
static fe_error *buffer_allocate(fe_module_device *device, uint64_t size, uint64_t alignment, fe_module_buffer **out) {
  return (void)device, (void)size, (void)alignment, (void)out, refuse();
}
static void buffer_free(fe_module_buffer *buffer) { (void)buffer; }
static fe_error *copy_from_host(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t offset,
                                const void *from, uint64_t size) {
  return (void)device, (void)queue, (void)to, (void)offset, (void)from, (void)size, refuse();
}
static fe_error *copy_to_host(fe_module_device *device, fe_module_queue *queue, void *to, fe_module_buffer *from,
                              uint64_t offset, uint64_t size) {
  return (void)device, (void)queue, (void)to, (void)offset, (void)from, (void)size, refuse();
}
static fe_error *copy(fe_module_device *device, fe_module_queue *queue, fe_module_buffer *to, uint64_t to_offset,
                      fe_module_buffer *from, uint64_t from_offset, uint64_t size) {
  return (void)device, (void)queue, (void)to, (void)to_offset, (void)from, (void)from_offset, (void)size, refuse();
}
static int supports(fe_module_device *device, const fe_graph_view *view, uint32_t node, fe_requirements *out) {
  return (void)device, (void)view, (void)node, (void)out, 0;
}
static fe_error *compile(fe_module_device *device, const fe_graph_view *view, fe_module_executable **out) {
  return (void)device, (void)view, (void)out, refuse();
}
static void executable_release(fe_module_executable *executable) { (void)executable; }
static fe_error *execute(fe_module_executable *executable, fe_module_queue *queue, const fe_execution *execution) {
  return (void)executable, (void)queue, (void)execution, refuse();
}
/* get_proc("add_device") plugs in another device; get_proc("remove_device") removes the first one. */
static void add_device(void) {
  ++devices;
  host->device_added((fe_module_backend *)&devices);
}
static void remove_device(void) { ++first, --devices; }
static void *get_proc(const char *name) {
  union {
    void (*function)(void);
    void *pointer;
  } add = {add_device}, remove = {remove_device};
  if (strcmp(name, "remove_device") == 0) return remove.pointer;
  return strcmp(name, "add_device") == 0 ? add.pointer : NULL;
}

static fe_error *initialise(const fe_host *given, fe_backend *out) {
  host = given;
  note("initialised");
  commit(TEST_FAULT);
  if (TEST_INIT_FAILS != FE_OK) return host->error_create(TEST_INIT_FAILS, "the test wants it to fail");
  out->self = (fe_module_backend *)&devices;
  out->name = TEST_WRONG_NAME;
  out->variant = TEST_VARIANT;
  out->version = TEST_VERSION;
  out->close = close_backend;
  out->device_count = device_count;
  out->device_properties = device_properties;
  out->device_option = device_option;
  out->device_open = device_open;
  out->device_close = device_close;
  out->buffer_allocate = buffer_allocate;
  out->buffer_free = buffer_free;
  out->copy_from_host = copy_from_host;
  out->copy_to_host = copy_to_host;
  out->copy = copy;
  out->supports = supports;
  out->compile = TEST_WITHOUT_COMPILE ? NULL : compile;
  out->executable_release = executable_release;
  out->execute = execute;
  out->get_proc = get_proc;
#ifdef TEST_OLDER
  out->struct_size = offsetof(fe_backend, get_proc);
#endif
  return NULL;
}

#ifndef TEST_WITHOUT_ABI
FE_MODULE_EXPORT extern const fe_abi ferrule_backend_abi;
const fe_abi ferrule_backend_abi = {FE_ABI_MAGIC, sizeof(fe_abi), TEST_MAJOR, FE_ABI_MINOR, 1, {TEST_HASH}};
#endif

#ifdef TEST_SCORE
FE_MODULE_EXPORT int ferrule_backend_score(void);
int ferrule_backend_score(void) {
  note("asked");
  return TEST_SCORE;
}
#endif

#ifdef TEST_WITHOUT_INIT
FE_MODULE_EXPORT fe_error *something_else(const fe_host *given, fe_backend *out);
fe_error *something_else(const fe_host *given, fe_backend *out) { return initialise(given, out); }
#else
FE_MODULE_EXPORT fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out);
fe_error *ferrule_backend_init(const fe_host *given, fe_backend *out) { return initialise(given, out); }
#endif
