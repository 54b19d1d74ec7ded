/* The host C API: what an application, or a binding for a language, calls. C11, also valid C++.
 *
 * Handles are opaque and counted: each function that returns one through `out` gives a reference that its `release`
 * ends; release(NULL) does nothing. Functions that return fe_error * return NULL for success; the caller releases the
 * error. Strings returned live as long as their handle, unless given as fe_string, which the caller releases. UTF-8.
 * All functions may be called from any thread, also on one handle by several threads at once; a handle's release comes
 * after all other calls with it. What is recorded in a graph by two threads is in it whole, in some order.
 * Wrong arguments (NULL included) are errors, never crashes. A struct begins with its size, which the caller sets;
 * where it is filled, the size says afterwards how much of it is. Arrays of structs hold their elements `struct_size`
 * of the first one apart. Statistics are JSON text. */
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
typedef struct fe_load_report fe_load_report; /* what a load looked at */
typedef struct fe_backend_ref fe_backend_ref; /* a loaded backend */
typedef struct fe_device fe_device;           /* a device, as one backend sees it */
typedef struct fe_array fe_array;             /* a lazy array */
typedef struct fe_graph fe_graph;             /* a graph under construction */
typedef struct fe_compiled fe_compiled;       /* a compiled graph */
typedef struct fe_calls fe_calls;             /* the compiled graphs of the calls of a function */
typedef struct fe_trace fe_trace;             /* what happened when */

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
 * and trust what FERRULE_TRUST says, else the first word here. `report` may be NULL. With `require` unmet: the error,
 * and the report all the same. */
FE_API fe_error *fe_load_all(const char *options_json, fe_load_report **report);
FE_API void fe_load_report_release(fe_load_report *report);
/* What became of a candidate. */
typedef enum fe_load_state FE_ANY_INT {
  FE_LOAD_LOADED = 0,
  FE_LOAD_OUTRANKED = 1,    /* another module of its name is better, or came first */
  FE_LOAD_DISABLED = 2,     /* by FERRULE_DISABLE, FERRULE_ONLY or "only" */
  FE_LOAD_INCOMPATIBLE = 3, /* right, but not for this core or this machine */
  FE_LOAD_UNSAFE = 4,
  FE_LOAD_NOT_PROBED = 5,
  FE_LOAD_PROBE_FAILED = 6,
  FE_LOAD_NO_DEVICE = 7,
  FE_LOAD_ERROR = 8
} fe_load_state;
FE_API const char *fe_load_state_name(fe_load_state state); /* "loaded", "probe_failed", ...; NULL of another number */
/* Milliseconds: where the time of a load, or of one module, went. */
typedef struct fe_load_times {
  double find; /* looking into the roots; 0 of a module */
  double read; /* manifests, headers and owners of files */
  double hash; /* of the file's bytes */
  double probe;
  double open; /* mapping it and asking its score */
  double init; /* its init, and listing its devices */
} fe_load_times;
/* Strings and lists of a report live as long as it does. docs/loading.md says what they mean. */
typedef struct fe_load_report_info {
  size_t struct_size;
  size_t root_count;
  size_t candidate_count;
  size_t remaining_count;
  const char *select, *probe, *trust; /* the policy, in the words of the options */
  fe_load_times times;
  double milliseconds; /* from the beginning to the end */
} fe_load_report_info;
FE_API fe_error *fe_load_report_info_get(const fe_load_report *report, fe_load_report_info *out);
/* A folder, or a list of files, that was searched. */
typedef struct fe_load_root {
  size_t struct_size;
  const char *path;
  const char *origin;  /* "FERRULE_BACKEND_DIR", "dirs", "beside libferrule", ... */
  size_t candidates;   /* how many were found there */
  const char *problem; /* "" when it could be read */
} fe_load_root;
FE_API fe_error *fe_load_report_root(const fe_load_report *report, size_t index, fe_load_root *out);
/* A module that was found. */
typedef struct fe_load_candidate {
  size_t struct_size;
  const char *path; /* "static" when it is linked into the program */
  const char *root;
  const char *name, *variant;
  const char *version; /* "" when it tells none */
  fe_load_state state;
  const char *reason;       /* "" when there is nothing to say */
  int32_t has_rank, rank;   /* the manifest's */
  int32_t has_score, score; /* the module's own */
  const char *const *devices;
  size_t device_count;
  const char *probed;       /* "no", "yes": now, "cached": before */
  const char *const *notes; /* sentences on what is odd and did not keep it from being loaded */
  size_t note_count;
  const char *output;       /* what it printed in its probe; bounded */
  const char *const *files; /* what opening it mapped: real paths, its own first */
  size_t file_count;
  fe_load_times times;
} fe_load_candidate;
FE_API fe_error *fe_load_report_candidate(const fe_load_report *report, size_t index, fe_load_candidate *out);
/* A file of a module that was unloaded, and why it is still mapped. */
FE_API fe_error *fe_load_report_remaining(const fe_load_report *report, size_t index, const char **path,
                                          const char **reason);
/* As a table for people ("text"), or as data ("json"), with the names above. */
FE_API fe_error *fe_load_report_format(const fe_load_report *report, const char *format, fe_string **out);
/* Why the backend of a name, or the device of a kind ("gpu"), is there or is not: one sentence that a person can act
 * on. A kind is answered by the devices that there are now, and by the report. `versions` may be NULL; else it has an
 * entry for each candidate: its version, where the caller knows one that the module does not tell, or NULL. */
FE_API fe_error *fe_load_report_explain(const fe_load_report *report, const char *name, const char *const *versions,
                                        fe_string **out);
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
/* Returns when the device's queues have done all that they were given so far, however it ended. */
FE_API fe_error *fe_synchronize(fe_device *device, int (*cancel)(void *argument), void *argument);
/* The bytes that arrays, workspaces and cached buffers on the device may have, at most; 0: what there is. */
FE_API fe_error *fe_set_memory_limit(fe_device *device, uint64_t bytes);
/* Host memory at a multiple of 64 bytes, of `size` > 0 bytes, from and to which the device copies at full speed. Until
 * it is freed, the device's backend cannot be unloaded. What the device has not yet read of it is the caller's to keep:
 * see fe_array_from_host. fe_host_free refuses what is not from fe_host_allocate of that device; NULL is nothing. */
FE_API fe_error *fe_host_allocate(fe_device *device, uint64_t size, void **out);
FE_API fe_error *fe_host_free(fe_device *device, void *pointer);
/* Waits for the device's queues, and lets its module bring it back if it was lost. */
FE_API fe_error *fe_queue_reset(fe_device *device);
FE_API int fe_device_equal(const fe_device *a, const fe_device *b);

/* ---- arrays: lazy, immutable, counted */
typedef void (*fe_release_function)(void *argument);
/* What an array is, and whether its bytes are there. */
typedef struct fe_array_info {
  size_t struct_size;
  fe_dtype dtype;
  int32_t rank;
  int64_t shape[FE_MAX_RANK];
  int64_t strides[FE_MAX_RANK]; /* elements; valid when computed */
  int32_t computed;             /* 1 when the bytes are there */
  int32_t writable;             /* 0: the bytes are read-only for everyone */
  int64_t nbytes;
  uint64_t identity; /* the same for each handle of one array; no other array that lives has it */
} fe_array_info;
/* copy: 0 = never (an error when the device cannot borrow), 1 = always, 2 = only if needed, 3 = only if needed, and
 * nobody else uses the memory from now on: fe_array_placement then says "owned". `strides` in bytes, NULL =
 * C-contiguous. `pointer` is the address of element 0; only the elements that shape and strides reach are touched. A
 * device that borrows larger pieces, as whole pages, borrows them within `mapped`, `mapped_size` bytes that can be
 * read: a mapped file's, say; NULL: the array's bytes are all. `release` is called once when the memory is no longer
 * used, at a drain or on the calling thread, and also when this function fails. */
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
  void *mapped;
  uint64_t mapped_size;
} fe_host_memory;
FE_API fe_error *fe_array_from_host(fe_device *device, const fe_host_memory *memory, fe_array **out);
/* What other libraries call the device, as DLPack has it, and the stream that its computing queue is to them (NULL:
 * none). FE_UNSUPPORTED where they do not know its memory, and for host memory. */
typedef struct fe_native_device {
  size_t struct_size;
  int32_t device_type; /* DLDeviceType */
  int32_t device_id;
  void *stream;
} fe_native_device;
FE_API fe_error *fe_native_device_get(fe_device *device, fe_native_device *out);
/* Where an array lies in memory that other libraries know; it is computed first. `wait`: 0 = nobody waits; 1 = the host
 * waits until it is there; 2 = what `stream` is given later comes after it, or else the host waits. The memory is the
 * array's: who reads it keeps the array, and does not write. */
typedef struct fe_native_array {
  size_t struct_size;
  int32_t device_type;
  int32_t device_id;
  void *pointer;
  uint64_t byte_offset; /* from there to element 0 */
} fe_native_array;
FE_API fe_error *fe_array_native(fe_array *array, int32_t wait, void *stream, fe_native_array *out);
/* As fe_array_from_host, over memory of the device that another library has: `pointer` is an address there
 * (FE_UNSUPPORTED for DLPack's devices whose pointers are handles, as Vulkan's and Metal's). That library has seen to
 * it that what the device's stream is given later comes after what wrote the memory. `release` is called when no queue
 * uses it any more. Bools are copied, as other bytes than 0 and 1 become 1. */
FE_API fe_error *fe_array_from_native(fe_device *device, const fe_host_memory *memory, int32_t device_type,
                                      int32_t device_id, fe_array **out);
/* A flat byte region that the device borrows (or copies), from which arrays are cut: a mapped file, say.
 * `max_view_bytes` is the size of the largest array that will be cut from it: fe_array_cut refuses a larger one. With
 * UINT64_MAX, or 0, the caller sets no limit, and the device's own holds: max_allocation of fe_device_details. A limit
 * that is within the region but beyond the device's is FE_UNSUPPORTED. */
FE_API fe_error *fe_buffer_from_host_ptr(fe_device *device, void *pointer, uint64_t size, fe_access access,
                                         uint64_t max_view_bytes, fe_release_function release, void *release_argument,
                                         fe_array **out); /* uint8, one dimension */
/* A C-contiguous array of another type over bytes of a computed array, from `byte_offset` behind its first element on.
 * The limit of fe_buffer_from_host_ptr holds for what is cut from the new array, too. */
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
/* An attribute of a call: its value lies in the field of its kind. Integers serve for reals. */
typedef enum fe_attribute_kind FE_ANY_INT {
  FE_ATTRIBUTE_INT64 = 0,
  FE_ATTRIBUTE_FLOAT64 = 1,
  FE_ATTRIBUTE_BOOL = 2, /* `integer`, 0 or not */
  FE_ATTRIBUTE_STRING = 3,
  FE_ATTRIBUTE_DTYPE = 4,
  FE_ATTRIBUTE_INT64_LIST = 5,
  FE_ATTRIBUTE_FLOAT64_LIST = 6
} fe_attribute_kind;
typedef struct fe_attribute {
  size_t struct_size;
  const char *name;
  fe_attribute_kind kind;
  fe_dtype dtype;
  int64_t integer;
  double real;
  const char *string;
  fe_int64_list integers;
  fe_float64_list reals;
} fe_attribute;
/* One of each kind, e.g. fe_attribute_bool("keepdims", 1). Lists and strings must live as long as what they are used
 * in. */
static inline fe_attribute fe_attribute_named(const char *name, fe_attribute_kind kind) {
  fe_attribute attribute = {sizeof(fe_attribute), name, kind, 0, 0, 0, NULL, {NULL, 0}, {NULL, 0}};
  return attribute;
}
static inline fe_attribute fe_attribute_int64(const char *name, int64_t value) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_INT64);
  attribute.integer = value;
  return attribute;
}
static inline fe_attribute fe_attribute_float64(const char *name, double value) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_FLOAT64);
  attribute.real = value;
  return attribute;
}
static inline fe_attribute fe_attribute_bool(const char *name, int value) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_BOOL);
  attribute.integer = value != 0;
  return attribute;
}
static inline fe_attribute fe_attribute_string(const char *name, const char *value) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_STRING);
  attribute.string = value;
  return attribute;
}
static inline fe_attribute fe_attribute_dtype(const char *name, fe_dtype value) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_DTYPE);
  attribute.dtype = value;
  return attribute;
}
static inline fe_attribute fe_attribute_int64_list(const char *name, const int64_t *values, size_t count) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_INT64_LIST);
  attribute.integers.data = values;
  attribute.integers.count = count;
  return attribute;
}
static inline fe_attribute fe_attribute_float64_list(const char *name, const double *values, size_t count) {
  fe_attribute attribute = fe_attribute_named(name, FE_ATTRIBUTE_FLOAT64_LIST);
  attribute.reals.data = values;
  attribute.reals.count = count;
  return attribute;
}
/* How many outputs an op has, at most 4; 0 when there is no op of that name. */
FE_API size_t fe_op_output_count(const char *op);
/* A number as an operand, as Python has them: of a kind (bool, integer, real, complex), and of no width. */
typedef enum fe_number_kind FE_ANY_INT {
  FE_NUMBER_NONE = 0,   /* no number: the operand is the array, or the value, itself */
  FE_NUMBER_STANDS = 1, /* no number, but the array or value is treated as one */
  FE_NUMBER_BOOL = 2,   /* `integer`, 0 or not */
  FE_NUMBER_INT64 = 3,
  FE_NUMBER_UINT64 = 4, /* the bits of `integer`; above INT64_MAX */
  FE_NUMBER_WIDE_INTEGER =
      5, /* `real`, the nearest double; it fits only beside arrays of floating or complex numbers */
  FE_NUMBER_FLOAT64 = 6,
  FE_NUMBER_COMPLEX128 = 7
} fe_number_kind;
typedef struct fe_number {
  fe_number_kind kind;
  int64_t integer;
  double real, imaginary;
} fe_number;
/* The dtype that the number takes beside operands of other dtypes, which may be none: bool; else the widest floating
 * dtype among them, float32 if several are equally wide; else float32 of a real number, and of an integer the common
 * dtype of their integers, int64 if there are none. A complex number is complex128 beside 64-bit reals, complex64
 * beside others. An integer that the dtype does not have is an error, which begins with `op`. */
FE_API fe_error *fe_number_dtype(const char *op, const fe_number *number, const fe_dtype *others, size_t count,
                                 fe_dtype *out);
/* Records op(inputs) for lazy evaluation, and gives as many arrays as the op has outputs: `output_count` must be that
 * number. numbers[i] (`numbers` may be NULL) is operand i unless its kind is FE_NUMBER_NONE; inputs[i] is not looked at
 * then, and one input at least is an array. A number has the dtype of fe_number_dtype, and does not promote the arrays
 * within its kind. Attributes that are not given have their defaults. Inputs on different devices are an error. Shape,
 * dtype and attribute errors come now. An op whose first output is as long as the values say (nonzero, compress) is
 * computed at once, unless the attribute `size` says how long. */
FE_API fe_error *fe_array_apply(const char *op, fe_array *const *inputs, const fe_number *numbers, size_t count,
                                const fe_attribute *attributes, size_t attribute_count, fe_array **outputs,
                                size_t output_count);
/* The scalar nearest to `value`, rounded once. As an integer: truncated, its range's end if outside, 0 of NaN. */
FE_API fe_error *fe_scalar_from(fe_dtype dtype, double value, fe_scalar *out);
FE_API fe_error *fe_array_scalar(fe_device *device, fe_dtype dtype, fe_scalar value, fe_array **out);
/* The array as it is now: itself, or a copy where it is borrowed from memory that its owner may write. */
FE_API fe_error *fe_array_snapshot(fe_array *array, fe_array **out);
/* The array on a device; on its own, a new handle of the same array. Such handles are donated each for itself. */
FE_API fe_error *fe_array_to_device(fe_array *array, fe_device *device, fe_array **out);
/* Called on the computing thread between nodes; returns nonzero to cancel. */
typedef int (*fe_cancel_function)(void *argument);
/* Computes arrays: when it returns they are there, or the error of what failed is returned. A wait that is cancelled
 * leaves devices with queues at their work. */
FE_API fe_error *fe_eval(fe_array *const *arrays, size_t count, fe_cancel_function cancel, void *argument);
/* The same, without waiting for devices with queues: they have been given the work when it returns. Who reads an array
 * waits for it then, and is told if its computing failed. */
FE_API fe_error *fe_submit(fe_array *const *arrays, size_t count, fe_cancel_function cancel, void *argument);
/* 0 if who reads them may have to wait; 1 if all of them are there; -1 if nobody has to wait, but one of them failed to
 * be computed: fe_eval returns its error. */
FE_API int fe_is_ready(fe_array *const *arrays, size_t count);
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
/* As fe_array_apply, with values of the graph; `size` must be given. `device` (may be NULL): where the op is to run. */
FE_API fe_error *fe_graph_apply(fe_graph *graph, const char *op, const uint32_t *inputs, const fe_number *numbers,
                                size_t count, const fe_attribute *attributes, size_t attribute_count, fe_device *device,
                                uint32_t *outputs, size_t output_count);
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
/* What a call of fe_compute asks for beside its inputs. What is 0 or NULL it does not ask for. */
typedef struct fe_compute_options {
  size_t struct_size;
  const fe_scalar *scalars; /* instead of the defaults of the first `scalar_count` ones */
  size_t scalar_count;
  void *const *out_memory;   /* of each output where it is to be written, C-contiguous, or NULL */
  const uint64_t *out_bytes; /* of each output the size of that memory */
  uint32_t thread_limit;     /* threads that compute on this call's behalf, at most; 0: all */
  fe_cancel_function cancel;
  void *cancel_argument;
  const uint8_t *donated; /* of each input, whether the caller will not use that array again */
  const char *donated_to; /* what errors call this call; NULL: "a call" */
  uint32_t wait;          /* 1: returns when the results are there; 0: when devices with queues have the work */
} fe_compute_options;
/* Computes. `inputs` are arrays of the input types; `outputs` receives new arrays, and NULL where the options have
 * memory for the result. That memory may overlap inputs, but neither constants of the graph nor each other. New arrays
 * never share memory with an input that its owner may write. `options` may be NULL.
 * Of donated inputs only the info, the device and the placement can be asked for afterwards; what else one does with
 * them is an FE_INVALID_ARGUMENT that names the call. The result of an update_slice is written into the memory of what
 * it updates where that is donated, C-contiguous and nobody else's: no view, pending array or host pointer has it. Such
 * a call is exact beside other threads that read the array, and one that fails has donated what it may have written to.
 */
FE_API fe_error *fe_compute(fe_compiled *compiled, fe_array *const *inputs, size_t input_count,
                            const fe_compute_options *options, fe_array **outputs, size_t output_count);

/* ---- calls of a function, each kind of which is compiled once. A kind is a `structure`, a number that the caller
 * gives to all in a call that is no array, and the device, dtype, shape and strides of each array; -1 to -16 for that
 * many arrays and nothing else are good numbers, as is any count. Of more than `capacity` kinds, at least 1, the one
 * that was not called for longest makes room. The strides of an array that is donated count as C-contiguous: `donated`
 * has a mark for each input, as in fe_compute_options, or is NULL. A graph for such calls has a contiguous input there,
 * to which others are copied. */
FE_API fe_error *fe_calls_create(size_t capacity, fe_calls **out);
FE_API void fe_calls_release(fe_calls *calls);
/* The graph that was compiled for such calls, and what was added with it; NULL both when there is none. Inputs are
 * computed if they are not. The graph is the caller's to release, and until then `context` lives, whoever clears. */
FE_API fe_error *fe_calls_find(fe_calls *calls, int64_t structure, fe_array *const *inputs, const uint8_t *donated,
                               size_t count, fe_compiled **compiled, void **context);
/* Adds a compiled graph for such calls, unless another thread has added one meanwhile; `kept` and `kept_context`, as of
 * fe_calls_find, are those that calls find from now on. `release` is called once with `context` when nobody has it any
 * more, at a drain or on the calling thread, and also when this fails; it may be NULL. */
FE_API fe_error *fe_calls_add(fe_calls *calls, int64_t structure, fe_array *const *inputs, const uint8_t *donated,
                              size_t count, const fe_compiled *compiled, void *context, fe_release_function release,
                              fe_compiled **kept, void **kept_context);
FE_API void fe_calls_clear(fe_calls *calls);
typedef struct fe_calls_info {
  size_t struct_size;
  size_t hits, misses; /* calls of fe_calls_find that found a graph, and of fe_calls_add */
  size_t capacity, size;
} fe_calls_info;
FE_API fe_error *fe_calls_info_get(const fe_calls *calls, fe_calls_info *out);

/* ---- traces: what the process did when, on the host's threads and on the queues of its devices. Any number may be
 * recorded at once, by any thread: each has all that begins between its own begin and end. */
typedef enum fe_trace_kind FE_ANY_INT {
  FE_TRACE_RECORD = 0,   /* an op is recorded */
  FE_TRACE_COMPILE = 1,  /* a graph is compiled */
  FE_TRACE_PASS = 2,     /* a part of that */
  FE_TRACE_EVALUATE = 3, /* arrays are computed, or a compiled graph is called */
  FE_TRACE_SUBMIT = 4,   /* a queue is given work */
  FE_TRACE_SEGMENT = 5,  /* a device executes nodes of a graph */
  FE_TRACE_KERNEL = 6,   /* one of them; where the device's module tells */
  FE_TRACE_TRANSFER = 7, /* bytes are copied */
  FE_TRACE_WAIT = 8      /* a thread waits for a queue */
} fe_trace_kind;
FE_API const char *fe_trace_kind_name(fe_trace_kind kind); /* "record", "compile", ...; NULL of another number */
/* Begins to record, `max_events` (at least 1) at most. Releasing the trace ends it. */
FE_API fe_error *fe_trace_begin(size_t max_events, fe_trace **out);
/* Ends the recording; a second call changes nothing. Work of queues that is not known to be over is dropped: call
 * fe_synchronize first. */
FE_API fe_error *fe_trace_end(fe_trace *trace);
FE_API void fe_trace_release(fe_trace *trace);
/* Times are nanoseconds of the host's monotonic clock. */
typedef struct fe_trace_info {
  size_t struct_size;
  size_t event_count;
  uint64_t dropped; /* events for which there was no room, and of work that was not over */
  uint64_t begin_ns, end_ns;
} fe_trace_info;
/* This and the next: after fe_trace_end. */
FE_API fe_error *fe_trace_info_get(const fe_trace *trace, fe_trace_info *out);
/* Strings live as long as the trace. */
typedef struct fe_trace_event {
  size_t struct_size;
  fe_trace_kind kind;
  int32_t queue;             /* fe_queue_kind of the queue of `device` that did it; -1: a thread of the host's did */
  uint64_t thread;           /* the system's number of that thread; else 0 */
  uint64_t begin_ns, end_ns; /* where a device does not tell when: from its submission until it was known to be over */
  uint64_t bytes_read;       /* of the operands, each counted once: an estimate of what kernels move */
  uint64_t bytes_written;
  const char *name;   /* of the op, the pass, ... */
  const char *detail; /* dtypes and shapes, or "" */
  const char *kernel; /* as the device's module calls it, or "" */
  const char *device; /* "cpu:0"; "" of what the host does for itself */
} fe_trace_event;
/* In the order in which they began. */
FE_API fe_error *fe_trace_event_get(const fe_trace *trace, size_t index, fe_trace_event *out);

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
