/* The host C API: what an application, or a binding for a language, calls. C11, also valid C++.
 *
 * Handles are opaque and counted: each function that returns one through `out` gives a reference that its `release`
 * ends; release(NULL) does nothing. Functions that return fe_error * return NULL for success; the caller releases the
 * error. Strings returned live as long as their handle, unless given as fe_string, which the caller releases. UTF-8.
 * All functions may be called from any thread, also on one handle by several threads at once; a handle's release comes
 * after all other calls with it. What is recorded in a graph by two threads is in it whole, in some order.
 * Wrong arguments (NULL included) are errors, never crashes. A struct begins with its size, which the caller sets;
 * where it is filled, the size says afterwards how much of it is. Attributes and statistics travel as JSON text:
 * attributes of a call are an object, e.g. {"axis": [0], "keepdims": true}. */
#ifndef FERRULE_FERRULE_H
#define FERRULE_FERRULE_H

#include <ferrule/backend.h>
#include <ferrule/procs.h>
#include <ferrule/types.h>

#if defined(FERRULE_STATIC)
#define FE_API
#elif defined(_WIN32)
#if defined(FERRULE_BUILDING)
#define FE_API __declspec(dllexport)
#else
#define FE_API __declspec(dllimport)
#endif
#else
#define FE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fe_string fe_string;           /* text */
typedef struct fe_backend_ref fe_backend_ref; /* a loaded backend */
typedef struct fe_device fe_device;           /* a device, as one backend sees it */
typedef struct fe_array fe_array;             /* a lazy array */
typedef struct fe_graph fe_graph;             /* a graph under construction */
typedef struct fe_compiled fe_compiled;       /* a compiled graph */

/* ---- text and errors */
FE_API const char *fe_string_data(const fe_string *string);
FE_API void fe_string_release(fe_string *string);
FE_API fe_code fe_error_code(const fe_error *error); /* FE_OK for NULL */
FE_API const char *fe_error_message(const fe_error *error);
FE_API void fe_error_release(fe_error *error);
FE_API const char *fe_version(void);

/* ---- loading. `options_json` may be NULL: {"dirs": [..]|null, "require": [..], "only": [..], "select": "manifest" |
 * "score", "probe": "auto" | "always" | "never", "trust": "owner" | "manifest-hash" | "any", "reprobe": false,
 * "extra_roots": [..]}; of fe_load, probe, trust, reprobe and "as_name" only. Absent, probe is what FERRULE_PROBE says
 * and trust what FERRULE_TRUST says, else the first word here. The report is JSON: {"roots": [{path, origin,
 * candidates, problem}], "candidates": [{path, root, name, variant, version, state, reason, rank, score, devices,
 * probed, notes, output, files, times, milliseconds}], "remaining": [{path, reason}], "policy", "times": {find, read,
 * hash, probe, open, init}, "milliseconds"}; docs/loading.md says what they mean. With `require` unmet: the error, and
 * the report all the same. */
FE_API fe_error *fe_load_all(const char *options_json, fe_string **report_json);
/* One file of any name. "as_name" is what its backend shall be called: a file may be loaded under several names, each
 * time with static variables of its own. */
FE_API fe_error *fe_load(const char *path, const char *options_json, fe_backend_ref **out);
FE_API fe_error *fe_unload(const char *name);
FE_API fe_error *fe_reload(const char *name, fe_backend_ref **out);
/* A module that is linked into the program, but not into libferrule. */
FE_API fe_error *fe_register(const struct fe_static_module *module, fe_backend_ref **out);
/* A backend, with its devices, whose functions are the running program's: `init` is called once, before this function
 * returns, with `argument`, and fills the table as a module's does (ferrule/backend.h; docs/backends.md has an
 * example). It is listed, computes and is unloaded like any other; `close` of its table ends it. A device that is
 * plugged in later is one more of device_count, told by fe_host.device_added. The strings and `abi` are read at once.
 */
typedef fe_error *(*fe_program_init_function)(void *argument, const fe_host *host, fe_backend *out);
typedef struct fe_program_backend {
  size_t struct_size;
  const char *name;  /* [a-z0-9_]+, as in the table */
  const fe_abi *abi; /* FE_ABI_INITIALIZER of the headers that the program is compiled with */
  fe_program_init_function init;
  void *argument;     /* of init */
  int32_t preference; /* as in a manifest: among the backends of one kind of device the highest comes first */
} fe_program_backend;
FE_API fe_error *fe_register_backend(const fe_program_backend *backend, fe_backend_ref **out); /* out may be NULL */
FE_API fe_error *fe_shutdown(void);
/* The folder of the running program, where applications put backends that they ship: a path in UTF-8. */
FE_API fe_error *fe_executable_dir(fe_string **out);
/* Asks every backend for the devices that it has now. A device that was lost (its calls gave FE_DEVICE_LOST) gets a
 * successor of the same name; what lies on it stays an error, and it is closed when nothing of it is held any more. One
 * that is listed no more is lost; one that is listed at another place goes on for what lies on it. */
FE_API fe_error *fe_refresh(void);
FE_API fe_error *fe_load_report_text(const char *report_json, fe_string **out); /* the report as a table */
/* Why the backend of a name, or the device of a kind ("gpu"), is there or is not: one sentence that a person can act
 * on. A kind is answered by the devices that there are now, and by the report. */
FE_API fe_error *fe_load_report_explain(const char *report_json, const char *name, fe_string **out);

/* ---- backends and devices: a snapshot list is `count` handles, each to be released, in a block freed by fe_list_free.
 */
FE_API fe_error *fe_backends(fe_backend_ref ***out, size_t *count);
/* A physical device that several backends see is listed once, as the preferred one of them sees it. FERRULE_PREFER
 * (names of backends, the most preferred first) goes before the preference in a manifest, and that before the name. */
FE_API fe_error *fe_devices(fe_device ***out, size_t *count);
/* Not unified: each device of each backend. */
FE_API fe_error *fe_device_views(fe_device ***out, size_t *count);
FE_API void fe_list_free(void *list);
FE_API void fe_backend_release(fe_backend_ref *backend);
FE_API void fe_device_release(fe_device *device);
/* The loaded backend of a name; case-insensitive. FE_NOT_FOUND, naming those that are loaded, when there is none. */
FE_API fe_error *fe_backend_by_name(const char *name, fe_backend_ref **out);
/* Its strings live as long as the handle. */
typedef struct fe_backend_details {
  size_t struct_size;
  const char *name;
  const char *variant;   /* "" when there is none */
  const char *version;   /* of the module, free text */
  const char *path;      /* of the module's file; "static" when it is linked in, or the program's */
  uint32_t kinds;        /* bit k: it has a device of the fe_device_kind k now */
  uint32_t device_count; /* now */
  int32_t closed;        /* 1 after it was unloaded: it has no devices then */
} fe_backend_details;
FE_API fe_error *fe_backend_details_get(const fe_backend_ref *backend, fe_backend_details *out);
/* Its own devices, in its order; a list as that of fe_device_views. */
FE_API fe_error *fe_backend_devices(const fe_backend_ref *backend, fe_device ***out, size_t *count);
/* A function that the backend offers by name (ferrule/procs.h), NULL when it offers none of that name. It is valid
 * until the handle is released: until then unloading the backend is refused. FE_NOT_FOUND after it was unloaded. */
FE_API fe_error *fe_backend_get_proc(const fe_backend_ref *backend, const char *name, fe_proc *out);
/* name, variant, version, path, features, ... */
FE_API fe_error *fe_backend_info(const fe_backend_ref *backend, fe_string **json);
/* "cpu", "cuda:1", "gpu:1": a backend and its own number, or a kind and the place among fe_devices; case-insensitive.
 * With `backend` (else NULL) that device as this backend sees it: FE_NOT_FOUND, naming those that do, when it does not.
 */
FE_API fe_error *fe_device_by_name(const char *name, const char *backend, fe_device **out);
FE_API fe_error *fe_device_view(const fe_device *device, const char *backend, fe_device **out);
FE_API fe_error *fe_device_by_kind(fe_device_kind kind, fe_device **out);
FE_API fe_error *fe_device_best(fe_device **out);
FE_API fe_error *fe_device_open(fe_device *device, const char *options_json); /* {"key": value} */
/* "cpu:0", or "gpu:0" for what fe_devices gives of a device that several backends see. It may change when backends come
 * or go; what was returned stays valid as long as the handle. fe_device_id does not change: equal devices have equal
 * ones, and none is given twice in a process. */
FE_API const char *fe_device_name(const fe_device *device);
FE_API uint64_t fe_device_id(const fe_device *device); /* 0 for NULL */
/* The backends that see the physical device, the preferred one first; a list as that of fe_backends. */
FE_API fe_error *fe_device_backends(const fe_device *device, fe_backend_ref ***out, size_t *count);
FE_API fe_error *fe_device_backend(const fe_device *device, fe_backend_ref **out);
/* What a device can do, as bits. */
#define FE_CAPABILITY_ASYNCHRONOUS 1u /* it has queues: work runs behind the caller */
#define FE_CAPABILITY_EVENTS 2u       /* it tells when work is done */
#define FE_CAPABILITY_HOST_BUFFERS 4u /* its buffers are host memory: fe_array_host_pointer answers */
#define FE_CAPABILITY_BORROWS 8u      /* it computes on memory of the caller's without a copy */
/* What is known without opening it. Unknown numbers are 0, unknown strings "". The strings live as long as the handle.
 */
typedef struct fe_device_details {
  size_t struct_size;
  fe_device_kind kind;
  uint32_t index;            /* among the devices of its backend */
  uint32_t capabilities;     /* FE_CAPABILITY_* */
  int32_t has_uuid;          /* 1: `uuid` says who it is */
  const char *backend;       /* name of the one whose kernels run here */
  const char *description;   /* as its maker calls it */
  const char *detail;        /* driver, architecture: free text */
  const char *pci_address;   /* "0000:01:00.0" */
  uint64_t total_memory;     /* bytes */
  uint64_t max_allocation;   /* bytes of one buffer */
  uint64_t borrow_alignment; /* what it borrows begins and ends at a multiple of it */
  uint8_t uuid[16];
} fe_device_details;
FE_API fe_error *fe_device_details_get(const fe_device *device, fe_device_details *out);
FE_API fe_error *fe_device_info(const fe_device *device, fe_string **json);
FE_API fe_error *fe_device_memory(fe_device *device, uint64_t *free_bytes,
                                  uint64_t *total_bytes); /* UINT64_MAX: unknown */
FE_API fe_error *fe_memory_stats(fe_device *device,
                                 fe_string **json); /* live, cached, prepared, borrowed, peak: bytes */
FE_API fe_error *fe_trim(fe_device *device);        /* gives cached buffers back */
FE_API fe_error *fe_queue_reset(fe_device *device);
FE_API int fe_device_equal(const fe_device *a, const fe_device *b);

/* ---- arrays: lazy, immutable, counted */
typedef void (*fe_release_function)(void *argument);
/* How an array came to its bytes. */
typedef struct fe_array_info {
  size_t struct_size;
  fe_dtype dtype;
  int32_t rank;
  int64_t shape[FE_MAX_RANK];
  int64_t strides[FE_MAX_RANK]; /* elements; valid when computed */
  int32_t computed;             /* 1 when the bytes are there */
  int32_t writable;             /* 0: the bytes are read-only for everyone */
  int64_t nbytes;
} fe_array_info;
/* copy: 0 = never (an error when the device cannot borrow), 1 = always, 2 = only if needed, 3 = only if needed, and
 * nobody else uses the memory from now on: fe_array_placement then says "owned". `strides` in bytes, NULL =
 * C-contiguous. `pointer` is the address of element 0. [low, low+span) is the memory that may be touched. `release` is
 * called once when the memory is no longer used, at a drain or on the calling thread, and also when this function
 * fails. */
typedef struct fe_host_memory {
  size_t struct_size;
  void *pointer;
  fe_dtype dtype;
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
  fe_access access;
  int32_t copy;
  fe_release_function release; /* NULL: the caller keeps the memory */
  void *release_argument;
} fe_host_memory;
FE_API fe_error *fe_array_from_host(fe_device *device, const fe_host_memory *memory, fe_array **out);
/* A flat byte region that the device borrows (or copies), from which arrays are cut: a mapped file, say.
 * `max_view_bytes` is the size of the largest array that will be cut from it: fe_array_cut refuses a larger one. With
 * UINT64_MAX, or 0, the caller sets no limit, and the device's own holds: max_allocation of fe_device_details. A limit
 * that is within the region but beyond the device's is FE_UNSUPPORTED. */
FE_API fe_error *fe_buffer_from_host_ptr(fe_device *device, void *pointer, uint64_t size, fe_access access,
                                         uint64_t max_view_bytes, fe_release_function release, void *release_argument,
                                         fe_array **out); /* uint8, one dimension */
/* A view of a computed array's bytes as another type: `byte_offset` from its first element, C-contiguous. Of what is
 * cut no more can be cut than of the region. */
FE_API fe_error *fe_array_cut(fe_array *array, uint64_t byte_offset, fe_dtype dtype, int32_t rank, const int64_t *shape,
                              fe_array **out);
FE_API fe_error *fe_array_full(fe_device *device, int32_t rank, const int64_t *shape, fe_dtype dtype, fe_scalar value,
                               fe_array **out);
FE_API void fe_array_retain(fe_array *array);
FE_API void fe_array_release(fe_array *array);
FE_API fe_error *fe_array_info_get(const fe_array *array, fe_array_info *out);
FE_API fe_error *fe_array_device(const fe_array *array, fe_device **out);
FE_API fe_error *fe_array_placement(const fe_array *array,
                                    fe_string **out); /* "borrowed", "owned", "copied: ...", "lazy", ... */
/* Records op(inputs) for lazy evaluation. weak[i] (may be NULL) marks a Python scalar, which does not promote within
 * its kind. Inputs on different devices are an error. Shape, dtype and attribute errors come now. */
FE_API fe_error *fe_array_apply(const char *op, fe_array *const *inputs, const uint8_t *weak, size_t count,
                                const char *attributes_json, fe_array **out);
/* The scalar nearest to `value`, rounded once. As an integer: truncated, its range's end if outside, 0 of NaN. */
FE_API fe_error *fe_scalar_from(fe_dtype dtype, double value, fe_scalar *out);
FE_API fe_error *fe_array_scalar(fe_device *device, fe_dtype dtype, fe_scalar value, fe_array **out);
/* The array as it is now: itself, or a copy where it is borrowed from memory that its owner may write. */
FE_API fe_error *fe_array_snapshot(fe_array *array, fe_array **out);
FE_API fe_error *fe_array_to_device(fe_array *array, fe_device *device, fe_array **out);
/* Called on the computing thread between nodes; returns nonzero to cancel. */
typedef int (*fe_cancel_function)(void *argument);
FE_API fe_error *fe_eval(fe_array *const *arrays, size_t count, fe_cancel_function cancel, void *argument);
/* Address of element 0 in host memory of a computed array on a host device; `unsupported` elsewhere. */
FE_API fe_error *fe_array_host_pointer(const fe_array *array, void **out);
/* Copies the computed array, C-contiguous, into `size` bytes of host memory. */
FE_API fe_error *fe_array_read(fe_array *array, void *to, uint64_t size);

/* ---- graphs */
FE_API fe_error *fe_graph_create(fe_device *device, fe_graph **out);
FE_API void fe_graph_release(fe_graph *graph);
FE_API fe_error *fe_graph_input(fe_graph *graph, const char *name, fe_dtype dtype, int32_t rank, const int64_t *shape,
                                const int64_t *strides, uint32_t *value); /* strides in elements, NULL = contiguous */
/* Takes a snapshot (fe_array_snapshot): what is written to borrowed memory later does not change the graph. */
FE_API fe_error *fe_graph_constant(fe_graph *graph, const char *name, fe_array *array, uint32_t *value);
FE_API fe_error *fe_graph_scalar(fe_graph *graph, fe_dtype dtype, fe_scalar value, uint32_t *value_out);
FE_API fe_error *fe_graph_apply(fe_graph *graph, const char *op, const uint32_t *inputs, const uint8_t *weak,
                                size_t count, const char *attributes_json, fe_device *device,
                                uint32_t *value); /* device may be NULL */
FE_API fe_error *fe_graph_output(fe_graph *graph, uint32_t value);
FE_API fe_error *fe_graph_value_type(const fe_graph *graph, uint32_t value, fe_array_info *out);
FE_API fe_error *fe_graph_text(const fe_graph *graph, const char *format, fe_string **out); /* "text", "dot", "json" */
/* options: {"fallback": "warn"|"error"|"allow", "fuse": true, "guard": false}; with guard each run has zones of known
   bytes around what modules write, and fails with FE_INTERNAL when one was touched. */
FE_API fe_error *fe_graph_compile(fe_graph *graph, const char *options_json, fe_compiled **out);
FE_API void fe_compiled_release(fe_compiled *compiled);
/* What fe_compute takes and gives: as the graph was when it was compiled. */
typedef struct fe_compiled_info {
  size_t struct_size;
  uint32_t input_count;
  uint32_t scalar_count;
  uint32_t output_count;
} fe_compiled_info;
FE_API fe_error *fe_compiled_info_get(const fe_compiled *compiled, fe_compiled_info *out);
/* The dtype and the default of a scalar; either may be NULL. */
FE_API fe_error *fe_compiled_scalar(const fe_compiled *compiled, uint32_t scalar, fe_dtype *dtype, fe_scalar *value);
FE_API fe_error *fe_compiled_plan(const fe_compiled *compiled,
                                  fe_string **json); /* nodes: device, kernel, bytes; workspace */
/* {"nodes": [{node, op, device, kernel, reason}], "constants": [{name, device, placement}]} */
FE_API fe_error *fe_compiled_placement(const fe_compiled *compiled, fe_string **json);
/* Computes. `inputs` are arrays of the input types; `outputs` receives new arrays, or, where out_memory[i] is not NULL,
 * the result is written there (C-contiguous, out_bytes[i]) and outputs[i] is left NULL. out_memory may overlap inputs,
 * but neither constants of the graph nor each other. New arrays never share memory with an input that its owner may
 * write. scalars may be NULL (defaults). */
FE_API fe_error *fe_compute(fe_compiled *compiled, fe_array *const *inputs, size_t input_count,
                            const fe_scalar *scalars, size_t scalar_count, void *const *out_memory,
                            const uint64_t *out_bytes, fe_array **outputs, size_t output_count,
                            fe_cancel_function cancel, void *argument);

/* ---- the process */
FE_API fe_error *fe_ops(fe_string **json);          /* the op set: name, doc, inputs, attributes, kind */
FE_API fe_dtype fe_dtype_by_name(const char *name); /* 0 when unknown */
FE_API const char *fe_dtype_name(fe_dtype dtype);
/* How its elements lie in memory; for the life of the process. NULL when there is none of that id. */
FE_API const fe_dtype_info *fe_dtype_info_get(fe_dtype dtype);
/* `out` is 1 if the device computes the op with inputs of these dtypes, by a kernel of its own or by several. Where the
 * op has an attribute `dtype`, one dtype more than inputs is that; without it, that of the first input is. */
FE_API fe_error *fe_supports(fe_device *device, const char *op, const fe_dtype *dtypes, size_t count, int *out);
FE_API fe_error *fe_set_thread_count(uint32_t count);
FE_API uint32_t fe_thread_count(void);
FE_API fe_error *fe_stats(fe_string **json); /* compiles, cache hits, executions, ... */
typedef void (*fe_log_callback)(void *argument, fe_log_level level, const char *message);
/* Lines are delivered by fe_drain; NULL = stderr. An fe_drain that is under way on another thread may still call the
 * former callback: its argument must live until that has returned. */
FE_API void fe_set_log_callback(fe_log_callback callback, void *argument);
FE_API void fe_set_log_level(fe_log_level level);
FE_API size_t fe_drain(void); /* runs deferred releases and log lines on this thread; how many */
/* What later versions and special needs add, by name; NULL when there is none of that name. */
FE_API void *fe_get_proc(const char *name);
/* A void (*)(fe_load_step_callback callback, void *argument): `callback` is called on the loading thread before a load
 * enters a module, with "open", "score", "init", "enumerate", so that who watches the process from outside can say
 * where it ended. NULL ends that. */
#define FE_SET_LOAD_STEP_CALLBACK "fe_set_load_step_callback"
typedef void (*fe_load_step_callback)(void *argument, const char *step);
/* A void (*)(char *const *variables): what ferrule reads on the calling thread instead of the process's environment
 * until it is called with NULL; "NAME=value", NULL behind the last, not copied. For programs that change the
 * environment on another thread meanwhile: they make a copy under the lock of theirs that the change is made under. */
#define FE_SET_THREAD_ENVIRONMENT "fe_set_thread_environment"

#ifdef __cplusplus
}
#endif
#endif
