/* The host C API, for applications and language bindings. C11, also valid C++.
 *
 * Ownership. Handles are opaque and reference-counted. A function that returns a handle through a parameter gives the
 *   caller one reference, which the type's release function ends; release(NULL) does nothing. A returned const char *
 *   is owned by its handle and lives as long as the handle; an fe_string is owned by the caller. Pointer arguments are
 *   read during the call and not kept, unless the function says so. Text is UTF-8 and ends with a zero byte.
 * Errors. A function that returns fe_error * returns NULL for success; the caller releases the error. After an error
 *   the values behind output parameters must not be used. Wrong arguments, NULL included, are errors, not crashes.
 *   Any such function may return FE_INVALID_ARGUMENT (wrong argument), FE_OUT_OF_MEMORY, and FE_INTERNAL (a defect).
 *   One that uses a device may also return FE_DEVICE_LOST, FE_NOT_FOUND (its backend was unloaded) and FE_UNSUPPORTED
 *   (child of a fork whose parent opened the device). The comments below name only the other errors.
 * Threads. Any thread may call any function, and several threads may use one handle at once. Release a handle after all
 *   other calls with it have returned. If several threads record in one graph, each call is recorded as a unit.
 * Structs. A struct with a struct_size begins with it, and the caller sets it: sizeof the struct. A function that fills
 *   a struct sets struct_size to the size that it filled. An array of such structs has a stride of the first element's
 *   struct_size. Later versions append fields: a caller with older headers gets the fields that it knows, and those
 *   that it does not give are 0. A struct_size less than that of the first version is FE_INVALID_ARGUMENT. */
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

typedef struct fe_string fe_string;           /* text owned by the caller */
typedef struct fe_load_report fe_load_report; /* the result of a load: roots, candidates, times */
typedef struct fe_backend_ref fe_backend_ref; /* a loaded backend */
typedef struct fe_device fe_device;           /* a device as seen by one backend */
typedef struct fe_array fe_array;             /* a lazy array */
typedef struct fe_graph fe_graph;             /* a graph under construction */
typedef struct fe_compiled fe_compiled;       /* a compiled graph */
typedef struct fe_calls fe_calls;             /* a cache of compiled graphs, keyed by call signature */
typedef struct fe_trace fe_trace;             /* a recording of timed events */

/* ---- text and errors ------------------------------------------------------------------------------------------ */

/* The text, owned by the handle; "" for NULL. */
FE_API const char *fe_string_data(const fe_string *string);
FE_API void fe_string_release(fe_string *string);
FE_API fe_code fe_error_code(const fe_error *error); /* FE_OK for NULL */
/* One sentence, owned by the error; "" for NULL. */
FE_API const char *fe_error_message(const fe_error *error);
FE_API void fe_error_release(fe_error *error);
/* Version of libferrule, as "1.2.3"; static. */
FE_API const char *fe_version(void);

/* ---- loading ------------------------------------------------------------------------------------------------- */

/* Options of fe_load_all and fe_load. A field that is 0 or NULL, or past struct_size, has its default. A wrong value is
 * FE_INVALID_ARGUMENT, and the message names the field and the value.
 *
 *     const char *const names[] = {"cuda", "cpu"};
 *     fe_load_options options = {0};
 *     options.struct_size = sizeof options;
 *     options.require = names;
 *     options.require_count = 2;
 *     fe_error *error = fe_load_all(&options, &report); */
typedef struct fe_load_options {
  size_t struct_size;
  const char *const *dirs; /* paths: the roots to search, instead of all but FERRULE_BACKEND_PATH; NULL: the default */
  size_t dir_count;        /* 0 while `dirs` is not NULL: no roots */
  const char *const *extra_roots; /* paths: searched after the default roots; ignored if there is `dirs` */
  size_t extra_root_count;
  const char *const *only; /* names: the backends to load; 0: all */
  size_t only_count;
  const char *const *require; /* names: it is an error if one of these is not loaded afterwards */
  size_t require_count;
  const char *select;  /* "manifest" (default) opens the variant of highest rank; "score" opens all, and the highest
                        * score wins */
  const char *probe;   /* "auto" first tries modules that did not come with libferrule in a child process, if
                        * ferrule-probe exists; "always" tries all, and opens none without ferrule-probe; "never".
                        * Default: FERRULE_PROBE, else "auto" */
  const char *trust;   /* "owner" refuses a file that someone can write who cannot write libferrule; "manifest-hash"
                        * also refuses a file without a manifest that has its hash; "any". Default: FERRULE_TRUST, else
                        * "owner" */
  const char *as_name; /* only fe_load: the name that the backend gets; default: the module's own */
  int32_t reprobe;     /* 1: cached probe results are ignored */
} fe_load_options;
/* Finds modules in the roots and loads the best runnable module of each name. Loaded backends are kept as they are.
 * A module that fails to load is a row of the report, not an error. Loads, unloads and reloads run one at a time.
 * `options`: may be NULL. `report`: receives the report, also when `require` is not met; may be NULL. Error:
 * FE_NOT_FOUND if a folder of `dirs` does not exist or `require` is not met. docs/use/loading.md has the details. */
FE_API fe_error *fe_load_all(const fe_load_options *options, fe_load_report **report);
FE_API void fe_load_report_release(fe_load_report *report);
/* Result for one candidate. */
typedef enum fe_load_state FE_ANY_INT {
  FE_LOAD_LOADED = 0,       /* its devices can be used */
  FE_LOAD_OUTRANKED = 1,    /* another module of the same name is better or was found first */
  FE_LOAD_DISABLED = 2,     /* by FERRULE_DISABLE, FERRULE_ONLY or "only" */
  FE_LOAD_INCOMPATIBLE = 3, /* valid, but not for this core or this machine */
  FE_LOAD_UNSAFE = 4,       /* refused by "trust", or its libraries would come from the current directory */
  FE_LOAD_NOT_PROBED = 5,   /* it must be probed, and there is no ferrule-probe */
  FE_LOAD_PROBE_FAILED = 6, /* it failed, crashed or timed out in the probe process */
  FE_LOAD_NO_DEVICE = 7,    /* it works and found no device */
  FE_LOAD_ERROR = 8         /* any other failure; `reason` of the candidate describes it */
} fe_load_state;
FE_API const char *fe_load_state_name(fe_load_state state); /* "loaded", "probe_failed", ...; NULL for another number */
/* Milliseconds that a load, or one module, spent in each step. */
typedef struct fe_load_times {
  double find; /* listing the roots; 0 for a module */
  double read; /* reading manifests, file headers and file owners */
  double hash; /* hashing the file */
  double probe;
  double open; /* mapping the file and calling its score function */
  double init; /* calling its init function and listing its devices */
} fe_load_times;
/* A report is a snapshot made when the load ended. Its strings and lists live as long as the report. */
typedef struct fe_load_report_info {
  size_t struct_size;
  size_t root_count;
  size_t candidate_count;
  size_t remaining_count;
  const char *select; /* this and the next two: the policy that was used, as in the options */
  const char *probe;
  const char *trust;
  fe_load_times times;
  double milliseconds; /* wall-clock time of the load */
} fe_load_report_info;
FE_API fe_error *fe_load_report_info_get(const fe_load_report *report, fe_load_report_info *out);
/* A folder that was searched, or a list of files. */
typedef struct fe_load_root {
  size_t struct_size;
  const char *path;
  const char *origin;  /* "FERRULE_BACKEND_DIR", "dirs", "beside libferrule", ... */
  size_t candidates;   /* number of candidates found there */
  const char *problem; /* why it could not be read; "" if it could */
} fe_load_root;
/* `index` < root_count. */
FE_API fe_error *fe_load_report_root(const fe_load_report *report, size_t index, fe_load_root *out);
/* A module that was found. */
typedef struct fe_load_candidate {
  size_t struct_size;
  const char *path; /* "static" if it is linked into the program */
  const char *root; /* path of the root that it was found in */
  const char *name;
  const char *variant;
  const char *version; /* "" if unknown */
  fe_load_state state;
  const char *reason; /* why it has this state; may be "" */
  int32_t has_rank;   /* 1: the manifest has a rank */
  int32_t rank;
  int32_t has_score; /* 1: the module's score function was called */
  int32_t score;
  const char *const *devices; /* names */
  size_t device_count;
  const char *probed;       /* "no", "yes" (during this load), or "cached" (an earlier result was used) */
  const char *const *notes; /* warnings that did not prevent loading */
  size_t note_count;
  const char *output;       /* what it printed while it was probed; truncated if long */
  const char *const *files; /* files that opening it mapped: real paths, the module itself first */
  size_t file_count;
  fe_load_times times;
} fe_load_candidate;
/* `index` < candidate_count. */
FE_API fe_error *fe_load_report_candidate(const fe_load_report *report, size_t index, fe_load_candidate *out);
/* A file of an unloaded module that is still mapped, and the reason. `index` < remaining_count. */
FE_API fe_error *fe_load_report_remaining(const fe_load_report *report, size_t index, const char **path,
                                          const char **reason);
/* Writes the report. `format`: "text" is a table for people, "json" has the field names above. */
FE_API fe_error *fe_load_report_format(const fe_load_report *report, const char *format, fe_string **out);
/* Explains in one sentence why a backend, or a device of a kind ("gpu"), is available or not. `name`: a backend or a
 * kind. For a kind the answer uses the devices of this moment and the report. `versions`: NULL, or candidate_count
 * strings; entry i is the version of candidate i, used if the module has none itself, or NULL. */
FE_API fe_error *fe_load_report_explain(const fe_load_report *report, const char *name, const char *const *versions,
                                        fe_string **out);
/* Loads one module file, whatever its file name. `options`: NULL, or probe, trust, reprobe and as_name; it is an error
 * to set another field. A file may be loaded under several names; each has its own static variables. A file that is
 * loaded under that name already is not loaded again. `out` may be NULL. Errors: FE_NOT_FOUND; FE_INVALID_ARGUMENT if
 * the name is taken; that of the step that failed. */
FE_API fe_error *fe_load(const char *path, const fe_load_options *options, fe_backend_ref **out);
/* Closes the devices and the backend of that name, and unmaps its file. Errors: FE_NOT_FOUND; FE_INVALID_ARGUMENT,
 * which names what is alive, while an array, a graph, host memory or a function (fe_backend_get_proc) of it is held. */
FE_API fe_error *fe_unload(const char *name);
/* Unloads the backend and loads the file at the same path again. `out` may be NULL. Errors as fe_unload and fe_load. */
FE_API fe_error *fe_reload(const char *name, fe_backend_ref **out);
/* The same, also while objects of the backend are held: using these is FE_DEVICE_LOST from then on, and the old file is
 * unmapped when the last of them is gone. */
FE_API fe_error *fe_reload_by_force(const char *name, fe_backend_ref **out);
/* Adds a module that is linked into the program but not into libferrule. `module` is read during the call; `out` may be
 * NULL. Errors: FE_ABI_MISMATCH; FE_UNSUPPORTED if its score is <= 0 or FERRULE_DISABLE or FERRULE_ONLY exclude it;
 * FE_INVALID_ARGUMENT if the name is taken; that of its init. */
FE_API fe_error *fe_register(const struct fe_static_module *module, fe_backend_ref **out);
/* Fills the table of a backend that the program itself implements, as a module's init does (ferrule/backend.h). */
typedef fe_error *(*fe_program_init_function)(void *argument, const fe_host *host, fe_backend *out);
typedef struct fe_program_backend {
  size_t struct_size;
  const char *name;  /* [a-z0-9_]+, the same as in the table */
  const fe_abi *abi; /* FE_ABI_INITIALIZER of the headers that the program is compiled with */
  fe_program_init_function init;
  void *argument;     /* passed to init */
  int32_t preference; /* as in a manifest: among backends with devices of one kind the highest is listed first */
} fe_program_backend;
/* Adds a backend that the program implements; docs/develop/backends.md has an example. `init` is called once, before
 * this returns; `name` and `abi` are copied. The backend is listed, used and unloaded like any other, and is ended by
 * `close` of its table. To add a device later, increase device_count and call fe_host.device_added. `out` may be NULL.
 * Errors: as fe_register, and that of `init`. */
FE_API fe_error *fe_register_backend(const fe_program_backend *backend, fe_backend_ref **out);
/* Unloads all backends and ends ferrule's threads. Error: FE_INVALID_ARGUMENT if a backend is in use; the others are
 * unloaded. At the end of a process it is optional. */
FE_API fe_error *fe_shutdown(void);
/* The folder of the running program, links resolved: the place for backends that an application ships. FE_NOT_FOUND if
 * the system does not know it. */
FE_API fe_error *fe_executable_dir(fe_string **out);
/* Asks every backend for its current devices. A device that was lost (its calls return FE_DEVICE_LOST) is replaced by a
 * new device of the same name; arrays and graphs on the old one remain errors, and it is closed when its last handle is
 * released. A device that is no longer listed is lost. One that is listed at another index keeps working for its arrays
 * and graphs. A backend that fails to list its devices is logged as a warning and left unchanged. */
FE_API fe_error *fe_refresh(void);

/* ---- backends and devices ------------------------------------------------------------------------------------ */

/* The loaded backends, in the order of their first device. Lists are snapshots: `*count` handles, each of which the
 * caller releases, in a block that the caller frees with fe_list_free. */
FE_API fe_error *fe_backends(fe_backend_ref ***out, size_t *count);
/* The devices, by kind, in the order of fe_device_kind. A physical device that several backends see is listed once, as
 * its preferred backend sees it. Backends are ordered by FERRULE_PREFER (names, the most preferred first), then by the
 * preference in their manifests, then by name. */
FE_API fe_error *fe_devices(fe_device ***out, size_t *count);
/* Every device of every backend; physical devices are not unified. */
FE_API fe_error *fe_device_views(fe_device ***out, size_t *count);
/* Frees the block of a list; NULL does nothing. */
FE_API void fe_list_free(void *list);
FE_API void fe_backend_release(fe_backend_ref *backend);
FE_API void fe_device_release(fe_device *device);
/* The loaded backend of that name, in any case. FE_NOT_FOUND if there is none; the message lists those loaded. */
FE_API fe_error *fe_backend_by_name(const char *name, fe_backend_ref **out);
/* Strings live as long as the handle. */
typedef struct fe_backend_details {
  size_t struct_size;
  const char *name;
  const char *variant;   /* "" if it has none */
  const char *version;   /* of the module, free text */
  const char *path;      /* of the module's file; "static" if it is part of the program */
  uint32_t kinds;        /* bit k: it now has a device of fe_device_kind k */
  uint32_t device_count; /* current number */
  int32_t closed;        /* 1 after it was unloaded; it then has no devices */
  int32_t has_rank;      /* 1: it has a manifest, and `rank` is the rank in it */
  int32_t rank;
} fe_backend_details;
FE_API fe_error *fe_backend_details_get(const fe_backend_ref *backend, fe_backend_details *out);
/* The backend's devices, in its own order; a list as in fe_backends. */
FE_API fe_error *fe_backend_devices(const fe_backend_ref *backend, fe_device ***out, size_t *count);
/* A function that the backend offers by name (ferrule/procs.h); NULL if it offers none of that name. The function is
 * valid until the handle is released; until then the backend cannot be unloaded. FE_NOT_FOUND after it was unloaded. */
FE_API fe_error *fe_backend_get_proc(const fe_backend_ref *backend, const char *name, fe_proc *out);
/* Feature number `index` that the backend's code uses (ferrule/procs.h); its strings live as long as the handle.
 * FE_NOT_FOUND if there are fewer: a backend may report none, and an unloaded one has none. */
FE_API fe_error *fe_backend_feature(const fe_backend_ref *backend, size_t index, fe_feature *out);
/* The device of a name, in any case: "<backend>[:i]" ("cuda:1"), where i is the backend's own index, or "<kind>[:i]"
 * ("gpu:1"), where i counts the devices of that kind in fe_devices; without i the first. `backend`: NULL, or the
 * backend through which to see the device, as in fe_device_view. FE_NOT_FOUND if there is none; the message lists the
 * existing devices. */
FE_API fe_error *fe_device_by_name(const char *name, const char *backend, fe_device **out);
/* The same physical device as seen by another backend. FE_NOT_FOUND if that backend does not see it; the message lists
 * the backends that do. */
FE_API fe_error *fe_device_view(const fe_device *device, const char *backend, fe_device **out);
/* The first device of a kind in fe_devices. FE_NOT_FOUND if there is none. */
FE_API fe_error *fe_device_by_kind(fe_device_kind kind, fe_device **out);
/* The first GPU, else integrated GPU, else CPU. FE_NOT_FOUND if there is none of these. */
FE_API fe_error *fe_device_best(fe_device **out);
/* Opens the device, which its first use does otherwise. `options`: `count` keys and values (ferrule/backend.h), both
 * text; keys that are not given come from FERRULE_<BACKEND>_<KEY>. FE_INVALID_ARGUMENT for an unknown key, for a value
 * that cannot be parsed, and if the device is open with other options. With no options an open device is left as it
 * is. */
FE_API fe_error *fe_device_open(fe_device *device, const fe_option *options, size_t count);
/* "cpu:0"; "gpu:0" for a device of fe_devices that several backends see. The name may change when a backend is loaded
 * or unloaded; a returned string stays valid as long as the handle. "" for NULL. */
FE_API const char *fe_device_name(const fe_device *device);
/* A number that never changes: equal for equal devices, and not used again in the process. 0 for NULL. */
FE_API uint64_t fe_device_id(const fe_device *device);
/* The backends that see the physical device, the preferred one first; a list as in fe_backends. */
FE_API fe_error *fe_device_backends(const fe_device *device, fe_backend_ref ***out, size_t *count);
/* The backend through which this handle sees the device. */
FE_API fe_error *fe_device_backend(const fe_device *device, fe_backend_ref **out);
/* Capabilities of a device, as bits. */
#define FE_CAPABILITY_ASYNCHRONOUS 1u /* it has queues: work runs asynchronously */
#define FE_CAPABILITY_EVENTS 2u       /* it has events, which signal that work is done */
#define FE_CAPABILITY_HOST_BUFFERS 4u /* its buffers are host memory, which fe_array_host_pointer returns */
#define FE_CAPABILITY_BORROWS 8u      /* arrays of the caller's host memory are borrowed, where it is aligned */
/* Properties that are known without opening the device. An unknown number is 0, an unknown string "". Strings live as
 * long as the handle. */
typedef struct fe_device_details {
  size_t struct_size;
  fe_device_kind kind;
  uint32_t index;            /* among the devices of its backend */
  uint32_t capabilities;     /* FE_CAPABILITY_* */
  int32_t has_uuid;          /* 1: `uuid` is valid */
  const char *backend;       /* name of the backend */
  const char *description;   /* the vendor's name for the device */
  const char *detail;        /* driver, architecture: free text */
  const char *pci_address;   /* "0000:01:00.0" */
  uint64_t total_memory;     /* bytes */
  uint64_t max_allocation;   /* largest buffer, in bytes */
  uint64_t borrow_alignment; /* bytes: borrowed memory begins and ends at a multiple of it; 0: it cannot borrow */
  uint8_t uuid[16];
  int32_t open; /* 1: it is open */
} fe_device_details;
FE_API fe_error *fe_device_details_get(const fe_device *device, fe_device_details *out);
FE_API const char *fe_device_kind_name(fe_device_kind kind); /* "gpu", "cpu", ...; NULL for another number */
/* Describes option number `index` of fe_device_open; its strings live as long as the handle. FE_NOT_FOUND if the device
 * has fewer, and after its backend was unloaded. */
FE_API fe_error *fe_device_option(const fe_device *device, size_t index, fe_option_info *out);
/* Memory of the device, in bytes. `*free_bytes` is UINT64_MAX if unknown, as before the device is open; `*total_bytes`
 * is 0 if unknown. */
FE_API fe_error *fe_device_memory(fe_device *device, uint64_t *free_bytes, uint64_t *total_bytes);
/* Bytes that ferrule has on a device; all 0 before it is open. */
typedef struct fe_memory_stats {
  size_t struct_size;
  uint64_t live;     /* of arrays, outputs and workspaces */
  uint64_t cached;   /* kept for later requests */
  uint64_t prepared; /* constants in the layouts of kernels; part of live */
  uint64_t borrowed; /* host memory that the device borrows */
  uint64_t peak;     /* the greatest `live` so far */
} fe_memory_stats;
FE_API fe_error *fe_memory_stats_get(fe_device *device, fe_memory_stats *out);
/* Frees the buffers that ferrule caches on the device. */
FE_API fe_error *fe_trim(fe_device *device);
/* Waits for all work that the device's queues have been given so far. Failed work is no error here: reading its results
 * is. `cancel` (may be NULL) is called with `argument` while waiting; nonzero ends the wait with FE_CANCELLED. */
FE_API fe_error *fe_synchronize(fe_device *device, int (*cancel)(void *argument), void *argument);
/* Limits the bytes of arrays, workspaces and cached buffers on the device. 0: no limit. Opens the device. */
FE_API fe_error *fe_set_memory_limit(fe_device *device, uint64_t bytes);
/* Allocates `size` > 0 bytes of host memory, aligned to 64 bytes, which the device copies from and to at full speed
 * (page-locked, where it has that). While it is allocated the device's backend cannot be unloaded. Keep it as long as
 * an array borrows it: until `release` of fe_host_memory is called. */
FE_API fe_error *fe_host_allocate(fe_device *device, uint64_t size, void **out);
/* Frees memory of fe_host_allocate. NULL does nothing. FE_INVALID_ARGUMENT if it is not from this device. */
FE_API fe_error *fe_host_free(fe_device *device, void *pointer);
/* Waits for the device's queues by their reset. FE_DEVICE_LOST if it is lost: it stays so, and fe_refresh looks for a
 * successor. */
FE_API fe_error *fe_queue_reset(fe_device *device);
/* 1 if both handles are the same view of the same device, or both are NULL; else 0. */
FE_API int fe_device_equal(const fe_device *a, const fe_device *b);

/* ---- arrays: lazy, immutable, reference-counted --------------------------------------------------------------- */

typedef void (*fe_release_function)(void *argument);
typedef struct fe_array_info {
  size_t struct_size;
  fe_dtype dtype;
  int32_t rank;
  int64_t shape[FE_MAX_RANK];
  int64_t strides[FE_MAX_RANK]; /* elements; those of a C-contiguous array until it is computed */
  int32_t computed;             /* 1: it is computed, or its work is submitted (fe_is_ready) */
  int32_t writable;             /* 0: the bytes are read-only for everyone */
  int64_t nbytes;
  uint64_t identity; /* equal for all handles of one array, and different for all other live arrays */
} fe_array_info;
/* Memory of the caller. `pointer` may be NULL if the array has no elements. */
typedef struct fe_host_memory {
  size_t struct_size;
  void *pointer; /* address of element 0 */
  fe_dtype dtype;
  int32_t rank;
  const int64_t *shape;        /* `rank` sizes */
  const int64_t *strides;      /* `rank` strides, in bytes; NULL: C-contiguous */
  fe_access access;            /* whether anyone may write the memory while it is borrowed */
  int32_t copy;                /* 0: never, 1: always, 2: if needed, 3: as 2, and the caller gives the memory away */
  fe_release_function release; /* called with `release_argument`; NULL: the caller keeps the memory */
  void *release_argument;
  void *mapped; /* readable memory around the array, as of a mapped file, or NULL: a device may borrow whole pages */
  uint64_t mapped_size;       /* bytes */
  const char *copied_because; /* with copy = 3: the caller copied what it gives away, and why; NULL: it did not */
} fe_host_memory;
/* Makes an array of host memory: borrows it if the device can (see `copy`), else copies it. A device with memory of its
 * own, which reads the host's over a bus (not FE_CAPABILITY_BORROWS), borrows only if copy is 0. A copy has read the
 * memory when this returns. `release` is called exactly once, when the memory is no longer used or this function fails:
 * on the calling thread or in fe_drain. fe_array_placement of the result is "borrowed", "owned" (borrowed with copy =
 * 3 and without `copied_because`) or "copied: <reason>". FE_INVALID_ARGUMENT if copy is 0 and the device cannot borrow
 * the memory. */
FE_API fe_error *fe_array_from_host(fe_device *device, const fe_host_memory *memory, fe_array **out);
/* A device in DLPack's terms. */
typedef struct fe_native_device {
  size_t struct_size;
  int32_t device_type; /* DLDeviceType */
  int32_t device_id;
  void *stream; /* the stream of the device's compute queue; NULL: none */
} fe_native_device;
/* Opens the device. FE_UNSUPPORTED if its memory cannot be shared with other libraries, and for host memory. */
FE_API fe_error *fe_native_device_get(fe_device *device, fe_native_device *out);
/* The memory of an array in DLPack's terms. */
typedef struct fe_native_array {
  size_t struct_size;
  int32_t device_type; /* DLDeviceType */
  int32_t device_id;
  void *pointer;
  uint64_t byte_offset; /* from `pointer` to element 0 */
} fe_native_array;
/* Computes the array and returns its device memory, which the array owns: keep the array while reading, and do not
 * write. `wait`: 0 = return at once; 1 = the host waits until the array is computed; 2 = later work of `stream`
 * (another library's) waits for it; where the device cannot do that, the host waits. Errors as fe_native_device_get. */
FE_API fe_error *fe_array_native(fe_array *array, int32_t wait, void *stream, fe_native_array *out);
/* Like fe_array_from_host, for device memory of another library; `pointer` is an address on the device. The caller
 * makes sure that later work of the device's stream runs after the work that writes the memory. `release` is called
 * when no queue uses the memory any longer. Bools are copied: nonzero bytes become 1. FE_UNSUPPORTED if the memory
 * cannot be borrowed, as where DLPack's pointers are handles (Vulkan, Metal, OpenCL, WebGPU). */
FE_API fe_error *fe_array_from_native(fe_device *device, const fe_host_memory *memory, int32_t device_type,
                                      int32_t device_id, fe_array **out);
/* Makes a one-dimensional uint8 array of `size` bytes, such as a mapped file, from which fe_array_cut takes arrays. The
 * memory is borrowed or copied as by fe_array_from_host with copy = 2. `max_view_bytes`: bytes of the largest array to
 * be cut, which fe_array_cut enforces; 0 or UINT64_MAX: only the device's own limit (max_allocation of
 * fe_device_details) applies. `release` (may be NULL) as in fe_array_from_host. FE_UNSUPPORTED if the device's limit is
 * below min(max_view_bytes, size). For a shared mapping of a file, `access` can be FE_ACCESS_READ_FILE (types.h). */
FE_API fe_error *fe_buffer_from_host_ptr(fe_device *device, void *pointer, uint64_t size, fe_access access,
                                         uint64_t max_view_bytes, fe_release_function release, void *release_argument,
                                         fe_array **out);
/* A C-contiguous array over the bytes of another, from `byte_offset` on, as another type. `array` is computed first and
 * must be contiguous. The bytes are copied if they are not aligned for `dtype`, or are not valid bools. The limits of
 * fe_buffer_from_host_ptr apply to the result, too. */
FE_API fe_error *fe_array_cut(fe_array *array, uint64_t byte_offset, fe_dtype dtype, int32_t rank, const int64_t *shape,
                              fe_array **out);
/* A lazy array whose elements are all `value`, which is in `dtype`. */
FE_API fe_error *fe_array_full(fe_device *device, int32_t rank, const int64_t *shape, fe_dtype dtype, fe_scalar value,
                               fe_array **out);
/* Adds a reference to the handle; NULL does nothing. */
FE_API void fe_array_retain(fe_array *array);
/* Ends a reference of the handle. */
FE_API void fe_array_release(fe_array *array);
FE_API fe_error *fe_array_info_get(const fe_array *array, fe_array_info *out);
FE_API fe_error *fe_array_device(const fe_array *array, fe_device **out);
/* The origin of the bytes: "borrowed", "owned", "copied: <reason>", "lazy", "donated to <call>", ... */
FE_API fe_error *fe_array_placement(const fe_array *array, fe_string **out);
/* Kind of an attribute, with the field of fe_attribute that has its value. An int64 is accepted for a float64. */
typedef enum fe_attribute_kind FE_ANY_INT {
  FE_ATTRIBUTE_INT64 = 0,       /* `integer` */
  FE_ATTRIBUTE_FLOAT64 = 1,     /* `real` */
  FE_ATTRIBUTE_BOOL = 2,        /* `integer`, zero or nonzero */
  FE_ATTRIBUTE_STRING = 3,      /* `string` */
  FE_ATTRIBUTE_DTYPE = 4,       /* `dtype` */
  FE_ATTRIBUTE_INT64_LIST = 5,  /* `integers` */
  FE_ATTRIBUTE_FLOAT64_LIST = 6 /* `reals` */
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
/* These make an attribute of each kind, e.g. fe_attribute_bool("keepdims", 1). Names, strings and lists are not copied:
 * they must live until the call that takes the attribute returns. */
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
/* Number of outputs of an op, at most 4; 0 if there is no op of that name. */
FE_API size_t fe_op_output_count(const char *op);
/* Kind of a scalar operand. Like a Python number it has a kind (bool, integer, real, complex) and no width. */
typedef enum fe_number_kind FE_ANY_INT {
  FE_NUMBER_NONE = 0,   /* no number: the operand is the array or graph value */
  FE_NUMBER_WEAK = 1,   /* the operand is the array or graph value, and promotes like a number */
  FE_NUMBER_BOOL = 2,   /* `integer`, zero or nonzero */
  FE_NUMBER_INT64 = 3,  /* `integer` */
  FE_NUMBER_UINT64 = 4, /* `integer` reinterpreted as uint64_t; for values above INT64_MAX */
  /* An integer beyond both, as the nearest double in `real`; only valid beside floating or complex arrays. */
  FE_NUMBER_WIDE_INTEGER = 5,
  FE_NUMBER_FLOAT64 = 6,   /* `real` */
  FE_NUMBER_COMPLEX128 = 7 /* `real` and `imaginary` */
} fe_number_kind;
typedef struct fe_number {
  fe_number_kind kind;
  int64_t integer;
  double real;
  double imaginary;
} fe_number;
/* The dtype of a number among operands with the dtypes `others` (`count` may be 0). A bool is bool. Another number gets
 * the widest floating dtype of `others`, float32 if several are equally wide; without one, a real number has the
 * default dtype and an integer the common dtype of their integers, or int64. A complex number is complex128 beside
 * 64-bit reals, else complex64; without floating dtypes it is as wide as the default dtype. FE_INVALID_ARGUMENT, with a
 * message that begins with `op`, if an integer does not fit its dtype. */
FE_API fe_error *fe_number_dtype(const char *op, const fe_number *number, const fe_dtype *others, size_t count,
                                 fe_dtype *out);
/* Sets the default dtype: float32 (as at the start) or float64. `this_thread`: 1 for the calling thread only, where it
 * precedes that of the process and 0 removes it; else 0. */
FE_API fe_error *fe_set_default_dtype(fe_dtype dtype, int this_thread);
FE_API fe_dtype fe_default_dtype(void);
/* Records op(inputs) for lazy evaluation and returns one array per output.
 * - `numbers`: NULL, or `count` numbers. Unless the kind of numbers[i] is NONE or STANDS, it is operand i, in the dtype
 *   of fe_number_dtype, and inputs[i] is ignored. At least one operand is an array. A number does not promote arrays of
 *   its own kind.
 * - `attributes`: an attribute that is not given has its default.
 * - `outputs`: receives `output_count` arrays, which must be the number of outputs of the op.
 * Wrong shapes, dtypes and attributes, and inputs on different devices, are errors of this call. An op whose output
 * size depends on values (nonzero, compress) is computed here, unless the attribute `size` is given. */
FE_API fe_error *fe_array_apply(const char *op, fe_array *const *inputs, const fe_number *numbers, size_t count,
                                const fe_attribute *attributes, size_t attribute_count, fe_array **outputs,
                                size_t output_count);
/* Converts to a dtype, rounding once to the nearest value. An integer is truncated and clamped to its range; NaN
 * becomes 0. */
FE_API fe_error *fe_scalar_from(fe_dtype dtype, double value, fe_scalar *out);
/* An array of rank 0. `value` is in `dtype`. */
FE_API fe_error *fe_array_scalar(fe_device *device, fe_dtype dtype, fe_scalar value, fe_array **out);
/* The element at `indices`, one from 0 on for each axis, as an array of rank 0 that keeps no other memory. NULL if the
 * host cannot read it at once: the array is not computed, or its device has queues, or it is read from a file. */
FE_API fe_error *fe_array_element(const fe_array *array, const int64_t *indices, fe_array **out);
/* The number of an array with one element. `is_known` becomes 1, or 0 as above. */
FE_API fe_error *fe_array_number(const fe_array *array, fe_scalar *out, int *is_known);
/* The array with another element, `value` in its dtype. The result takes the memory; `array` cannot be read any more.
 * NULL, and the array is as before, if another handle or array shares the memory, or as above. */
FE_API fe_error *fe_array_with_element(fe_array *array, const int64_t *indices, fe_scalar value, fe_array **out);
/* The array as of now: the same array, or a copy if it borrows memory that its owner may write. */
FE_API fe_error *fe_array_snapshot(fe_array *array, fe_array **out);
/* The same, or a copy if the array is a part of a larger one, whose memory it would keep. */
FE_API fe_error *fe_array_copy(fe_array *array, fe_array **out);
/* The array on another device. On its own device the result is a new handle of the same array; donating one such handle
 * does not donate the other. */
FE_API fe_error *fe_array_to_device(fe_array *array, fe_device *device, fe_array **out);
/* Called on the computing thread between nodes, between ranges of a parallel_for, and while it waits for a device.
 * Nonzero cancels with FE_CANCELLED. */
typedef int (*fe_cancel_function)(void *argument);
/* Sets the `cancel` of computations that are given none, such as those that recording causes; NULL: none. */
FE_API fe_error *fe_set_cancel(fe_cancel_function cancel, void *argument);
/* Computes arrays and waits until all are computed; returns the first error of a failed one. `cancel` may be NULL; work
 * that queues were given before it was cancelled is still done. */
FE_API fe_error *fe_eval(fe_array *const *arrays, size_t count, fe_cancel_function cancel, void *argument);
/* Like fe_eval, but returns when devices with queues have been given the work. Reading an array waits for it, and
 * returns the error if its work failed. */
FE_API fe_error *fe_submit(fe_array *const *arrays, size_t count, fe_cancel_function cancel, void *argument);
/* 1 if all arrays are computed; 0 if reading one would compute or wait; -1 if none would wait, but the work of one
 * failed: fe_eval returns its error. */
FE_API int fe_is_ready(fe_array *const *arrays, size_t count);
/* Address of element 0 of a computed array, after waiting for its work; NULL if it has no elements. The pointer is
 * valid as long as the array, and is for reading only. FE_INVALID_ARGUMENT if the array is not computed; FE_UNSUPPORTED
 * if its memory is not host memory. */
FE_API fe_error *fe_array_host_pointer(const fe_array *array, void **out);
/* Computes the array and copies it, C-contiguous, to `to`. `size` must be its nbytes. */
FE_API fe_error *fe_array_read(fe_array *array, void *to, uint64_t size);

/* ---- graphs -------------------------------------------------------------------------------------------------- */

/* An empty graph, to run on `device`. The values of a graph are numbered in the order in which they are added; the
 * functions below that add a value return its number. */
FE_API fe_error *fe_graph_create(fe_device *device, fe_graph **out);
FE_API void fe_graph_release(fe_graph *graph);
/* Adds an input. `strides` are in elements; NULL: C-contiguous. `name` may be NULL. */
FE_API fe_error *fe_graph_input(fe_graph *graph, const char *name, fe_dtype dtype, int32_t rank, const int64_t *shape,
                                const int64_t *strides, uint32_t *value);
/* Adds a constant: computes the array and takes a snapshot (fe_array_snapshot), so that later writes to borrowed memory
 * do not change the graph. `name` may be NULL. */
FE_API fe_error *fe_graph_constant(fe_graph *graph, const char *name, fe_array *array, uint32_t *value);
/* Adds a scalar, which each fe_compute may set. `value`: its default. */
FE_API fe_error *fe_graph_scalar(fe_graph *graph, fe_dtype dtype, fe_scalar value, uint32_t *value_out);
/* Adds op(inputs), as fe_array_apply, with values of the graph. `device`: where the op is to run; NULL: on the graph's.
 * An op whose output size depends on values needs the attribute `size`. */
FE_API fe_error *fe_graph_apply(fe_graph *graph, const char *op, const uint32_t *inputs, const fe_number *numbers,
                                size_t count, const fe_attribute *attributes, size_t attribute_count, fe_device *device,
                                uint32_t *outputs, size_t output_count);
/* Makes a value the next output. */
FE_API fe_error *fe_graph_output(fe_graph *graph, uint32_t value);
/* Dtype and shape of a value; the other fields of `out` do not apply. */
FE_API fe_error *fe_graph_value_type(const fe_graph *graph, uint32_t value, fe_array_info *out);
/* Writes the graph. `format`: "text", "dot" (Graphviz) or "json". */
FE_API fe_error *fe_graph_text(const fe_graph *graph, const char *format, fe_string **out);
/* Options of fe_graph_compile. A field that is 0 or NULL, or past struct_size, has its default. */
typedef struct fe_compile_options {
  size_t struct_size;
  const char *fallback; /* "warn" (default) runs a node that its device does not support on another device and logs a
                         * warning; "allow" does so without a warning; "error" makes it an error */
  int32_t unfused;      /* 1: elementwise ops are not fused */
  int32_t guarded;      /* 1: puts guard zones around the memory that modules write, and makes a run fail with
                         * FE_INTERNAL if one was changed */
} fe_compile_options;
/* Compiles the graph as it is now; it may be extended and compiled again. `options` may be NULL. Error: FE_UNSUPPORTED
 * if no device takes a node. */
FE_API fe_error *fe_graph_compile(fe_graph *graph, const fe_compile_options *options, fe_compiled **out);
FE_API void fe_compiled_release(fe_compiled *compiled);
/* Numbers of inputs, scalars and outputs of fe_compute. */
typedef struct fe_compiled_info {
  size_t struct_size;
  uint32_t input_count;
  uint32_t scalar_count;
  uint32_t output_count;
} fe_compiled_info;
FE_API fe_error *fe_compiled_info_get(const fe_compiled *compiled, fe_compiled_info *out);
/* Dtype and default value of scalar number `scalar`. `dtype` and `value` may be NULL. */
FE_API fe_error *fe_compiled_scalar(const fe_compiled *compiled, uint32_t scalar, fe_dtype *dtype, fe_scalar *value);
/* JSON: the nodes, with device, kernel and bytes of each, and the workspace. */
FE_API fe_error *fe_compiled_plan(const fe_compiled *compiled, fe_string **json);
/* JSON: {"nodes": [{node, op, device, kernel, reason}], "constants": [{name, device, placement}]}. */
FE_API fe_error *fe_compiled_placement(const fe_compiled *compiled, fe_string **json);
/* Options of one fe_compute. A field that is 0 or NULL, or past struct_size, has its default. */
typedef struct fe_compute_options {
  size_t struct_size;
  const fe_scalar *scalars; /* values of the first `scalar_count` scalars; the others have their defaults */
  size_t scalar_count;
  void *const *out_memory;   /* per output: host memory for the result, C-contiguous, or NULL for a new array */
  const uint64_t *out_bytes; /* per output: size of that memory in bytes */
  uint32_t thread_limit;     /* largest number of threads that compute for this call; 0: all */
  fe_cancel_function cancel; /* may be NULL */
  void *cancel_argument;
  const uint8_t *donated; /* per input: 1 if the caller does not use that array again; NULL: none */
  const char *donated_to; /* name of this call in error messages; NULL: "a call" */
  uint32_t wait;          /* 1: returns when the results are computed; 0: when queues have been given the work */
} fe_compute_options;
/* Runs a compiled graph.
 * - `inputs`: arrays of the types of the graph's inputs; those that are not computed yet are computed first.
 * - `options`: may be NULL. out_memory may overlap inputs, but neither constants of the graph nor other out_memory.
 * - `outputs`: receives new arrays, and NULL for each output with out_memory, which is written when this returns. A new
 *   array never shares memory with an input whose owner may write to it.
 * - Donation: afterwards a donated handle can only be released and passed to fe_array_info_get, fe_array_device and
 *   fe_array_placement; any other use is FE_INVALID_ARGUMENT, and the message names the call. update_slice writes to
 *   the memory of its donated input if that is C-contiguous and has no other user (view, pending array, host pointer),
 *   else to a copy. Threads that read the array at the same time get its old values or that error. If the call fails,
 *   inputs that it may have written to stay donated; the others can be used again. */
FE_API fe_error *fe_compute(fe_compiled *compiled, fe_array *const *inputs, size_t input_count,
                            const fe_compute_options *options, fe_array **outputs, size_t output_count);

/* ---- call cache: the compiled graphs of one function, one per call signature ------------------------------------
 *
 * A signature is `structure` and, of each array, the device, dtype, shape and strides. `structure` is a number that the
 * caller chooses for everything in a call that is not an array: any numbering, such as -1 to -16 for calls of that many
 * arrays and nothing else. `donated` is NULL or has one entry per input, as in fe_compute_options; a donated array
 * counts as C-contiguous whatever its strides: the graph has a contiguous input there, and the array is copied if it is
 * not. */

/* An empty cache of at most `capacity` >= 1 graphs; a further one replaces the least recently used. */
FE_API fe_error *fe_calls_create(size_t capacity, fe_calls **out);
FE_API void fe_calls_release(fe_calls *calls);
/* Looks up the graph and the context that were added for this signature; both are NULL if there is none. Computes the
 * inputs first. The caller releases `*compiled`; until then `*context` lives, even if the cache is cleared. */
FE_API fe_error *fe_calls_find(fe_calls *calls, int64_t structure, fe_array *const *inputs, const uint8_t *donated,
                               size_t count, fe_compiled **compiled, void **context);
/* Adds a compiled graph for this signature; if another thread added one first, that one stays. `*kept` and
 * `*kept_context` are the entry that is now in the cache, owned as in fe_calls_find. `release` (may be NULL) is called
 * once with `context` when it is no longer used or this function fails, on the calling thread or in fe_drain. */
FE_API fe_error *fe_calls_add(fe_calls *calls, int64_t structure, fe_array *const *inputs, const uint8_t *donated,
                              size_t count, const fe_compiled *compiled, void *context, fe_release_function release,
                              fe_compiled **kept, void **kept_context);
/* Removes all entries. NULL does nothing. */
FE_API void fe_calls_clear(fe_calls *calls);
typedef struct fe_calls_info {
  size_t struct_size;
  size_t hits;     /* calls of fe_calls_find that found a graph */
  size_t misses;   /* calls of fe_calls_add */
  size_t capacity; /* graphs that are kept at most */
  size_t size;     /* graphs that are kept */
} fe_calls_info;
FE_API fe_error *fe_calls_info_get(const fe_calls *calls, fe_calls_info *out);

/* ---- traces: timed events of the host's threads and of the queues of its devices ------------------------------- */

typedef enum fe_trace_kind FE_ANY_INT {
  FE_TRACE_RECORD = 0,   /* an op is recorded */
  FE_TRACE_COMPILE = 1,  /* a graph is compiled */
  FE_TRACE_PASS = 2,     /* one pass of a compilation */
  FE_TRACE_EVALUATE = 3, /* arrays are computed, or a compiled graph is called */
  FE_TRACE_SUBMIT = 4,   /* a queue is given work */
  FE_TRACE_SEGMENT = 5,  /* a device executes a sequence of nodes of a graph */
  FE_TRACE_KERNEL = 6,   /* a device executes one node; only if the module reports it */
  FE_TRACE_TRANSFER = 7, /* bytes are copied */
  FE_TRACE_WAIT = 8      /* a thread waits for a queue */
} fe_trace_kind;
FE_API const char *fe_trace_kind_name(fe_trace_kind kind); /* "record", "compile", ...; NULL for another number */
/* Starts recording at most `max_events` >= 1 events. Any number of traces may record at once; each has all events that
 * begin between its begin and its end. */
FE_API fe_error *fe_trace_begin(size_t max_events, fe_trace **out);
/* Stops recording; a second call does nothing. Work of queues that is not known to be done is dropped: call
 * fe_synchronize first. */
FE_API fe_error *fe_trace_end(fe_trace *trace);
/* Stops recording, if fe_trace_end has not, and releases the trace. */
FE_API void fe_trace_release(fe_trace *trace);
/* Times are nanoseconds of the host's monotonic clock. */
typedef struct fe_trace_info {
  size_t struct_size;
  size_t event_count;
  uint64_t dropped; /* events beyond max_events, and work that was not done at the end */
  uint64_t begin_ns;
  uint64_t end_ns;
} fe_trace_info;
/* FE_INVALID_ARGUMENT before fe_trace_end. */
FE_API fe_error *fe_trace_info_get(const fe_trace *trace, fe_trace_info *out);
/* Strings live as long as the trace. */
typedef struct fe_trace_event {
  size_t struct_size;
  fe_trace_kind kind;
  int32_t queue;   /* fe_queue_kind of the queue of `device` that ran it; -1: a host thread ran it */
  uint64_t thread; /* the system's id of that thread; 0 for work of a queue */
  uint64_t begin_ns;
  uint64_t end_ns;     /* if the device reports no times: from submission until the work was known to be done */
  uint64_t bytes_read; /* of the operands, each counted once: an estimate of the memory traffic */
  uint64_t bytes_written;
  const char *name;   /* of the op, the pass, ... */
  const char *detail; /* dtypes and shapes, or "" */
  const char *kernel; /* the module's name for the kernel, or "" */
  const char *device; /* "cpu:0"; "" for work of the host itself */
} fe_trace_event;
/* Event number `index` < event_count, in the order of begin_ns. FE_INVALID_ARGUMENT before fe_trace_end. */
FE_API fe_error *fe_trace_event_get(const fe_trace *trace, size_t index, fe_trace_event *out);

/* ---- the process --------------------------------------------------------------------------------------------- */

FE_API fe_dtype fe_dtype_by_name(const char *name); /* 0 if unknown */
FE_API const char *fe_dtype_name(fe_dtype dtype);   /* static; NULL if unknown */
/* Memory layout of a dtype; static. NULL if there is no dtype with that id. */
FE_API const fe_dtype_info *fe_dtype_info_get(fe_dtype dtype);
/* Sets `*out` to 1 if the device computes the op for inputs of these dtypes, with one kernel or by decomposition; else
 * to 0. `dtypes`: one per input; if the op has an attribute `dtype`, one more gives its value, which is else the dtype
 * of the first input. Opens the device. */
FE_API fe_error *fe_supports(fe_device *device, const char *op, const fe_dtype *dtypes, size_t count, int *out);
/* Sets the number of threads that compute, calling threads included; 0: the default, FERRULE_THREADS or the CPUs that
 * this process may use. At most 1024. Waits for running parallel work; not callable from inside it. */
FE_API fe_error *fe_set_thread_count(uint32_t count);
FE_API uint32_t fe_thread_count(void);
/* Counters of this process. */
typedef struct fe_stats {
  size_t struct_size;
  uint64_t compiles;   /* graphs that were compiled */
  uint64_t executions; /* runs of compiled graphs */
  uint64_t cache_hits; /* evaluations that found their graph compiled */
  uint64_t transfers;  /* copies between devices */
  uint32_t threads;    /* as fe_thread_count */
} fe_stats;
FE_API fe_error *fe_stats_get(fe_stats *out);
typedef void (*fe_log_callback)(void *argument, fe_log_level level, const char *message);
/* Sends log lines to `callback`, which fe_drain calls; NULL: to standard error. An fe_drain on another thread that
 * began before may still call the previous callback: keep its `argument` until that has returned. */
FE_API void fe_set_log_callback(fe_log_callback callback, void *argument);
/* Drops lines below the level. The default is FERRULE_LOG, else FE_LOG_WARNING. */
FE_API void fe_set_log_level(fe_log_level level);
/* Runs queued release functions and delivers queued log lines on this thread; returns how many. Call it regularly, from
 * a thread on which those callbacks may run. */
FE_API size_t fe_drain(void);
/* Functions by name, for later versions and special uses; NULL if there is none of that name. */
FE_API void *fe_get_proc(const char *name);
/* A void (*)(fe_load_step_callback callback, void *argument). `callback` is called on the loading thread before a load
 * calls into a module, with "open", "score", "init" or "enumerate", so that an observer of the process knows where it
 * ended. NULL removes it. */
#define FE_SET_LOAD_STEP_CALLBACK "fe_set_load_step_callback"
typedef void (*fe_load_step_callback)(void *argument, const char *step);
/* A void (*)(char *const *variables). On the calling thread ferrule reads `variables` instead of the process
 * environment until the next call with NULL. `variables`: "NAME=value" strings and a final NULL, not copied. It serves
 * programs that change the environment on another thread: they pass a copy made under their own lock. */
#define FE_SET_THREAD_ENVIRONMENT "fe_set_thread_environment"

#ifdef __cplusplus
}
#endif
#endif
