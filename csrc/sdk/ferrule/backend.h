/* The binary interface between the core and a backend module. C11, also valid C++.
 *
 * A module fills an fe_backend with its functions; the core passes it an fe_host with its own. Both are lists of slots
 * that are only appended to. A slot that is null, or past the struct's size, is absent. Slots marked (optional) may be
 * absent.
 *
 * Errors. A slot returns NULL for success, or an error made by fe_host.error_create, which the core releases. No slot
 *   may abort, exit, print or throw. The core passes valid arguments; a module should answer others, NULL included,
 *   with FE_INVALID_ARGUMENT, which ferrule-conformance checks. The core reads output parameters only after success.
 * Memory. Structs, lists and strings that are passed to a slot are valid during the call. Strings that a slot returns
 *   live as long as their object. Text is UTF-8. Sizes and offsets of memory are in bytes.
 * Ownership. The core ends each object that a slot creates exactly once, with the close, free, destroy or release slot
 *   of its type: a device after its buffers, queues, events and executables, and the backend after its devices.
 * Work. Work that a queue has been given uses its buffers, host memory and executable until an event recorded after it
 *   is done; the core frees none of them before. After a slot has returned FE_DEVICE_LOST, no work of that device may
 *   touch memory any more, and its events are done.
 * Threads. Slots of a backend, device, buffer or event may be called by any threads at the same time; slots that take a
 *   queue by one thread at a time per queue. An executable may run on several queues at once. */
#ifndef FERRULE_BACKEND_H
#define FERRULE_BACKEND_H

#include <ferrule/abi.h>
#include <ferrule/graph_view.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The module's own objects, opaque to the core. */
typedef struct fe_module_backend fe_module_backend;
typedef struct fe_module_device fe_module_device;
typedef struct fe_module_buffer fe_module_buffer;
typedef struct fe_module_queue fe_module_queue;
typedef struct fe_module_event fe_module_event;
typedef struct fe_module_executable fe_module_executable;

/* Processes elements [begin, end) of a parallel_for; an error ends the loop early. `thread` numbers the running ranges:
 * no other range of the loop has the same number at the same time. It is below fe_host.thread_count() and, unless the
 * loop runs on a single thread, below the limit of the loop. */
typedef fe_error *(*fe_range_function)(void *argument, int64_t begin, int64_t end, uint32_t thread);

/* Returns FE_CANCELLED if the execution is to stop, else NULL. */
typedef fe_error *(*fe_poll_function)(void *argument);

/* Reports when a node of an execution began and ended, in nanoseconds of the host's monotonic clock (CLOCK_MONOTONIC;
 * on Windows the performance counter). */
typedef void (*fe_trace_function)(void *argument, uint32_t node, uint64_t begin_ns, uint64_t end_ns);

/* The work of a queue. A compute queue is given any work; an upload queue only copies to the device, a download queue
 * only copies to the host, and both are given fills. */
typedef enum fe_queue_kind FE_ANY_INT {
  FE_QUEUE_COMPUTE = 0,
  FE_QUEUE_UPLOAD = 1,
  FE_QUEUE_DOWNLOAD = 2
} fe_queue_kind;

/* ---- structs ------------------------------------------------------------------------------------------------- */

/* Properties of a device that are known without opening it. An unknown number is zero, an unknown string NULL. */
#define FE_DEVICE_PROPERTIES_FIELDS(F)                                                                          \
  F(uint32_t, kind)             /* fe_device_kind */                                                            \
  F(uint32_t, flags)            /* FE_DEVICE_FLAG_* */                                                          \
  F(const char *, name)         /* the vendor's name for the device */                                          \
  F(const char *, description)  /* driver, architecture: free text */                                           \
  F(uint64_t, total_memory)     /* bytes */                                                                     \
  F(uint64_t, max_allocation)   /* largest buffer in bytes; 0 = no known limit */                               \
  F(uint64_t, borrow_alignment) /* buffer_borrow needs addresses and sizes that are multiples; 0 = no borrow */ \
  F(const uint8_t *, uuid)      /* 16 bytes, or NULL */                                                         \
  F(const char *, pci_address)  /* "0000:01:00.0", or NULL */                                                   \
  F(uint32_t, queue_kinds)      /* bits 1 << fe_queue_kind: queues that run beside the compute queue; 0 = none */

/* The device's buffers are host memory: buffer_host_pointer returns their address, and the core may export views. */
#define FE_DEVICE_FLAG_HOST_MEMORY 1u
/* The device computes on borrowed host memory as fast as on its own, as an integrated GPU does. The core borrows for a
 * device with neither flag only if the caller insists (copy = 0 of fe_host_memory), and copies otherwise. */
#define FE_DEVICE_FLAG_UNIFIED_MEMORY 2u

/* An option for device_open. The value is text that the module parses; a value that it cannot parse is an error. */
#define FE_OPTION_FIELDS(F) F(const char *, key) F(const char *, value)

/* Describes an option of device_open. `type` is a word such as "integer", "string" or "boolean". */
#define FE_OPTION_INFO_FIELDS(F) F(const char *, key) F(const char *, type) F(const char *, doc)

/* Strides of an input that a kernel accepts: any; rows of contiguous elements (innermost stride 1, or innermost size <=
 * 1); or a C-contiguous array. */
typedef enum fe_layout FE_ANY_INT { FE_LAYOUT_ANY = 0, FE_LAYOUT_ROWS = 1, FE_LAYOUT_CONTIGUOUS = 2 } fe_layout;

/* Requirements of a kernel on one input. A zero field requires nothing. */
#define FE_INPUT_REQUIREMENT_FIELDS(F)   \
  F(uint32_t, layout)    /* fe_layout */ \
  F(uint32_t, alignment) /* of the first element, in bytes; a power of two */

/* The answer of `supports`. The core meets the requirements with copies, which the plan shows. The strings must live
 * until the same thread calls `supports` again, so a module can build them in thread-local memory. */
#define FE_REQUIREMENTS_FIELDS(F)                                                                        \
  F(struct fe_input_requirement *, inputs) /* one per input, zeroed by the core, filled by the module */ \
  F(uint32_t, input_count)                 /* number of inputs of the node */                            \
  F(uint32_t, flags)                       /* 0 */                                                       \
  F(const char *, kernel)                  /* name of the kernel that will run, for the plan, or NULL */ \
  F(const char *, reason)                  /* if not supported: the reason, as part of a sentence, or NULL */

/* A buffer bound to an input, output or constant. `generation` identifies the memory: it differs when the same binding
 * refers to other memory, even if buffer and offset are equal. */
#define FE_BINDING_FIELDS(F)      \
  F(fe_module_buffer *, buffer)   \
  F(uint64_t, offset) /* bytes */ \
  F(uint64_t, generation)

/* Everything that varies between executions of one executable. An array of structs (bindings, options, requirements of
 * inputs) has a stride of its first element's struct_size: use fe_binding_at and the like. In one queue an executable
 * keeps its workspace and scratch memory until the device runs short of memory or the memory is trimmed; the generation
 * differs afterwards, even if the buffer is equal. */
#define FE_EXECUTION_FIELDS(F)                                                                                \
  F(const struct fe_binding *, bindings) /* fe_graph_view.binding_count of them */                            \
  F(const fe_scalar *, scalars)          /* fe_graph_view.scalar_count of them */                             \
  F(const int64_t *, offsets)            /* fe_graph_view.offset_count of them, in elements */                \
  F(fe_module_buffer *, workspace)       /* fe_graph_view.workspace_size bytes; NULL if that is 0 */          \
  F(uint64_t, workspace_offset)                                                                               \
  F(uint64_t, workspace_generation) /* as of a binding */                                                     \
  F(fe_module_buffer *, scratch)    /* executable_scratch_size bytes; NULL if that is 0 */                    \
  F(uint64_t, scratch_offset)                                                                                 \
  F(uint64_t, scratch_generation)                                                                             \
  F(uint32_t, thread_limit) /* threads that parallel_for may use; 0 = all */                                  \
  F(uint32_t, flags)        /* 0 */                                                                           \
  F(fe_poll_function, poll) /* call it between nodes if they run on the calling thread; or NULL */            \
  F(void *, poll_argument)                                                                                    \
  F(fe_trace_function, trace) /* call it for each node, if possible, before a later event is done; or NULL */ \
  F(void *, trace_argument)

/* A copy of items of `item_size` bytes between two strided regions that do not overlap. Each offset is that of the
 * first item. */
#define FE_STRIDED_COPY_FIELDS(F)                                \
  F(fe_module_buffer *, to)                                      \
  F(uint64_t, to_offset) /* bytes */                             \
  F(fe_module_buffer *, from)                                    \
  F(uint64_t, from_offset)                                       \
  F(uint32_t, item_size)                                         \
  F(int32_t, rank)                 /* 0 to FE_MAX_RANK */        \
  F(const int64_t *, shape)        /* `rank` numbers of items */ \
  F(const int64_t *, to_strides)   /* bytes */                   \
  F(const int64_t *, from_strides) /* bytes */

/* Device memory in DLPack's terms: the two numbers of DLDevice, and the data pointer that DLPack defines for that
 * device type. */
#define FE_NATIVE_MEMORY_FIELDS(F)           \
  F(int32_t, device_type) /* DLDeviceType */ \
  F(int32_t, device_id)                      \
  F(void *, pointer)                         \
  F(uint64_t, offset) /* bytes from `pointer` */

/* ---- slots: S(return type, name, (parameters)) ----------------------------------------------------------------- */

/* Functions that the core offers a module. Any thread may call them. All slots of these headers are present in a core
 * of the same or a later minor. */
#define FE_HOST_SLOTS(S)                                                                                              \
  /* Makes an error with a copy of `message`. Never fails: without memory it returns a static error. */               \
  S(fe_error *, error_create, (fe_code code, const char *message))                                                    \
  /* Code of an error; FE_OK for NULL. */                                                                             \
  S(fe_code, error_code, (const fe_error *error))                                                                     \
  /* Message of an error, owned by it. */                                                                             \
  S(const char *, error_message, (const fe_error *error))                                                             \
  S(void, error_release, (fe_error * error))                                                                          \
  /* Writes a line to ferrule's log. Never waits for Python. */                                                       \
  S(void, log, (fe_log_level level, const char *message))                                                             \
  /* Id of an op; 0 if the core has no op of that name. */                                                            \
  S(fe_op, op_id, (const char *name))                                                                                 \
  /* Name of an op, static; NULL for an unknown id. */                                                                \
  S(const char *, op_name, (fe_op op))                                                                                \
  /* Id of a dtype; 0 if the core has no dtype of that name. */                                                       \
  S(fe_dtype, dtype_id, (const char *name))                                                                           \
  /* Name of a dtype, static; NULL for an unknown id. */                                                              \
  S(const char *, dtype_name, (fe_dtype dtype))                                                                       \
  /* Memory layout of a dtype, static; NULL for an unknown id. */                                                     \
  S(const fe_dtype_info *, dtype_info, (fe_dtype dtype))                                                              \
  /* Calls fn(argument, begin, end, thread) for ranges that cover [0, n), on the core's thread pool and the */        \
  /* calling thread, and returns when all are done. Bounds of ranges are multiples of `grain` (the last ends at */    \
  /* n); at most `limit` threads take part (0 = all). Which thread runs which range is unspecified. After an error */ \
  /* no further range begins; returns the first error, as fn made it. A call from inside a range, or while another */ \
  /* thread's call has the pool, runs on the calling thread alone. */                                                 \
  S(fe_error *, parallel_for, (int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void *argument))       \
  /* Largest number of threads of a parallel_for, the calling one included. */                                        \
  S(uint32_t, thread_count, (void))                                                                                   \
  /* Nonzero while a trace is recorded. event_time is only called for events that were recorded meanwhile. */         \
  S(int, is_tracing, (void))                                                                                          \
  /* Tells the core that device_count has grown. May be called at any time, also during init. */                      \
  S(void, device_added, (fe_module_backend * backend))                                                                \
  /* Extensions by name; NULL if unknown. FE_CACHE (ferrule/cache.h) is one. */                                       \
  S(void *, get_proc, (const char *name))

/* Functions that a module offers the core. */
#define FE_BACKEND_SLOTS(S)                                                                                            \
  /* -- backend and devices */                                                                                         \
  /* Ends the backend. All its devices are closed, and no other call is running. */                                    \
  S(void, close, (fe_module_backend * backend))                                                                        \
  /* Number of devices. Counting and describing devices creates no context and takes no device memory. */              \
  S(uint32_t, device_count, (fe_module_backend * backend))                                                             \
  /* Describes device `index` < device_count. Its strings and uuid live as long as the backend. */                     \
  S(fe_error *, device_properties, (fe_module_backend * backend, uint32_t index, struct fe_device_properties * out))   \
  /* (optional) Describes option number `option` of device_open; any error if there are fewer options. */              \
  S(fe_error *, device_option, (fe_module_backend * backend, uint32_t option, struct fe_option_info * out))            \
  /* Opens device `index`. FE_INVALID_ARGUMENT for an unknown option or a value that cannot be parsed. */              \
  S(fe_error *, device_open,                                                                                           \
    (fe_module_backend * backend, uint32_t index, const struct fe_option *options, uint32_t option_count,              \
     fe_module_device **out))                                                                                          \
  /* Closes a device. All its objects are ended. */                                                                    \
  S(void, device_close, (fe_module_device * device))                                                                   \
  /* (optional) Free and total memory of the device; *free_bytes = UINT64_MAX if unknown, *total_bytes = 0. */         \
  S(fe_error *, device_memory, (fe_module_device * device, uint64_t * free_bytes, uint64_t * total_bytes))             \
                                                                                                                       \
  /* -- memory */                                                                                                      \
  /* Allocates a buffer of `size` > 0 bytes, aligned to `alignment` bytes (a power of two, at least 64). */            \
  /* FE_OUT_OF_MEMORY makes the core free cached memory and try again. */                                              \
  S(fe_error *, buffer_allocate,                                                                                       \
    (fe_module_device * device, uint64_t size, uint64_t alignment, fe_module_buffer * *out))                           \
  /* (optional) Makes a buffer of host memory, without a copy. The memory outlives the buffer; pointer and size */     \
  /* are multiples of borrow_alignment. `access`: FE_ACCESS_READ if it is read-only. FE_UNSUPPORTED if the device */   \
  /* cannot map this memory: the core copies it. */                                                                    \
  S(fe_error *, buffer_borrow,                                                                                         \
    (fe_module_device * device, void *pointer, uint64_t size, fe_access access, fe_module_buffer **out))               \
  S(void, buffer_free, (fe_module_buffer * buffer))                                                                    \
  /* (optional) Address of the buffer in host memory; NULL if the host cannot access it. */                            \
  S(void *, buffer_host_pointer, (fe_module_buffer * buffer))                                                          \
  /* (optional) Allocates host memory, aligned to 64 bytes, that queues copy from and to without waiting */            \
  /* (page-locked). FE_UNSUPPORTED if the device has none: the core uses ordinary memory. */                           \
  S(fe_error *, host_allocate, (fe_module_device * device, uint64_t size, void **out))                                 \
  /* Needed if there is host_allocate: frees its memory. */                                                            \
  S(void, host_free, (fe_module_device * device, void *pointer))                                                       \
                                                                                                                       \
  /* -- queues */                                                                                                      \
  /* (optional) Makes a queue. A module without this slot gets NULL as every queue, and each call below is */          \
  /* complete when it returns. A module with it has all slots of queues and events that are not optional. The core */  \
  /* makes one compute queue per device, and a queue of each other kind in queue_kinds. Work in a queue runs in */     \
  /* order; two queues only wait for each other by queue_wait_event. */                                                \
  S(fe_error *, queue_create, (fe_module_device * device, fe_queue_kind kind, fe_module_queue * *out))                 \
  /* Waits for the queue's work, for as long as the device can be assumed to be running it, and ends the queue. */     \
  S(void, queue_destroy, (fe_module_queue * queue))                                                                    \
  /* Waits until all work of the queue is done or failed. A lost device stays lost: FE_DEVICE_LOST. Another error */   \
  /* means that work may still be running, and that nothing has changed. Called after a loss, and if no event */       \
  /* signals that work is done. */                                                                                     \
  S(fe_error *, queue_reset, (fe_module_queue * queue))                                                                \
  /* (optional) Makes later work of the queue wait for an event of another queue of the same backend. */               \
  /* FE_UNSUPPORTED if the device cannot wait for it: the host waits. */                                               \
  S(fe_error *, queue_wait_event, (fe_module_queue * queue, fe_module_event * event))                                  \
                                                                                                                       \
  /* -- copies and fills, in queue order. They may return before the work is done, and report its errors by events. */ \
  /* Copies `size` bytes from host memory, which must be unchanged until the queue has passed the copy. Memory */      \
  /* that is not from host_allocate may make the call wait. */                                                         \
  S(fe_error *, copy_from_host,                                                                                        \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset, const void *from,  \
     uint64_t size))                                                                                                   \
  /* Copies `size` bytes to host memory, as copy_from_host. */                                                         \
  S(fe_error *, copy_to_host,                                                                                          \
    (fe_module_device * device, fe_module_queue * queue, void *to, fe_module_buffer *from, uint64_t from_offset,       \
     uint64_t size))                                                                                                   \
  /* Copies `size` bytes between buffers of the device. */                                                             \
  S(fe_error *, copy,                                                                                                  \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                    \
     fe_module_buffer * from, uint64_t from_offset, uint64_t size))                                                    \
  /* (optional) Copies from another device of the backend; `queue` is the target's. FE_UNSUPPORTED if these two */     \
  /* devices cannot: the core copies through the host. */                                                              \
  S(fe_error *, copy_peer,                                                                                             \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                    \
     fe_module_device * from_device, fe_module_buffer * from, uint64_t from_offset, uint64_t size))                    \
  /* (optional) Copies strided items. `copy` and its lists are read during the call. FE_UNSUPPORTED if the device */   \
  /* cannot: the core compiles a graph that copies. */                                                                 \
  S(fe_error *, copy_strided,                                                                                          \
    (fe_module_device * device, fe_module_queue * queue, const struct fe_strided_copy *copy))                          \
  /* (optional) Fills memory with a repeated pattern of 1, 2, 4, 8 or 16 bytes, read during the call. `size` and */    \
  /* `to_offset` are multiples of pattern_size. FE_UNSUPPORTED if the device cannot. */                                \
  S(fe_error *, fill,                                                                                                  \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                    \
     const void *pattern, uint32_t pattern_size, uint64_t size))                                                       \
                                                                                                                       \
  /* -- events */                                                                                                      \
  /* Records an event after all work that the queue has been given so far. Work after failed work still runs, */       \
  /* unless the device is lost. */                                                                                     \
  S(fe_error *, event_record, (fe_module_queue * queue, fe_module_event * *out))                                       \
  /* Waits until the event is done, at most `timeout_ns` nanoseconds (< 0: without limit); FE_TIMEOUT if it is not */  \
  /* done then. Returns, each time it is called, the error of the work between the previous event and this one. An */  \
  /* error of the wait itself is only returned while the event is not done. */                                         \
  S(fe_error *, event_wait, (fe_module_event * event, int64_t timeout_ns))                                             \
  /* 1 if that work is done or failed; 0 if it is not, or if this is unknown. */                                       \
  S(int, event_done, (fe_module_event * event))                                                                        \
  S(void, event_release, (fe_module_event * event))                                                                    \
  /* (optional) When the queue passed a done event, in nanoseconds of the host's monotonic clock. An error if */       \
  /* unknown. */                                                                                                       \
  S(fe_error *, event_time, (fe_module_event * event, uint64_t * ns))                                                  \
                                                                                                                       \
  /* -- memory and queues shared with other libraries, in DLPack's terms */                                            \
  /* (optional) Describes the memory of a buffer. FE_UNSUPPORTED if it cannot be shared. */                            \
  S(fe_error *, buffer_native, (fe_module_buffer * buffer, struct fe_native_memory * out))                             \
  /* (optional) Makes a buffer of another library's memory, which outlives the buffer. FE_UNSUPPORTED if the */        \
  /* device cannot. */                                                                                                 \
  S(fe_error *, buffer_import,                                                                                         \
    (fe_module_device * device, const struct fe_native_memory *from, uint64_t size, fe_access access,                  \
     fe_module_buffer **out))                                                                                          \
  /* (optional) The queue as a DLPack stream, owned by the queue. FE_UNSUPPORTED if it is none. */                     \
  S(fe_error *, queue_native, (fe_module_queue * queue, void **out))                                                   \
  /* (optional) Makes later work of another library's stream wait for an event. FE_UNSUPPORTED if it cannot: the */    \
  /* host waits. */                                                                                                    \
  S(fe_error *, native_wait_event, (fe_module_device * device, void *stream, fe_module_event *event))                  \
                                                                                                                       \
  /* -- graphs */                                                                                                      \
  /* Returns 1 if compile would accept this node of the view as it is; `out` then has the requirements on its */       \
  /* operands. Returns 0 if not, with `reason`. Returns a negative fe_code if this cannot be determined (such as */    \
  /* -FE_OUT_OF_MEMORY), with the error message as `reason`. */                                                        \
  S(int, supports,                                                                                                     \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, struct fe_requirements *out))         \
  /* (optional) Size of the packed form of constant operand `input` of a node; 0 if the module wants none. Writes */   \
  /* the name of its layout, with a zero byte, to `key` (key_capacity >= 128 bytes): equal keys mean equal packed */   \
  /* bytes for equal constants, so that executables share them. */                                                     \
  S(fe_error *, prepare_size,                                                                                          \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, uint32_t input, uint64_t *size,       \
     char *key, size_t key_capacity))                                                                                  \
  /* Needed if there is prepare_size: packs the constant at `from` into `to`, which others may be beside in its */     \
  /* buffer: its offset is a multiple of 256 bytes. Complete when it returns. */                                       \
  S(fe_error *, prepare,                                                                                               \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, uint32_t input,                       \
     const struct fe_binding *from, const struct fe_binding *to))                                                      \
  /* Compiles the view, which is valid during the call. FE_UNSUPPORTED for a node that supports refuses. */            \
  S(fe_error *, compile, (fe_module_device * device, const struct fe_graph_view *view, fe_module_executable **out))    \
  S(void, executable_release, (fe_module_executable * executable))                                                     \
  /* (optional) Bytes of scratch memory that each execution needs beside the workspace. */                             \
  S(uint64_t, executable_scratch_size, (fe_module_executable * executable))                                            \
  /* Runs an executable in queue order. `execution` and its lists are read during the call. Errors of arguments */     \
  /* are returned here, later ones by the events of the queue. */                                                      \
  S(fe_error *, execute,                                                                                               \
    (fe_module_executable * executable, fe_module_queue * queue, const struct fe_execution *execution))                \
  /* (optional) Functions by name (ferrule/procs.h); NULL if unknown. */                                               \
  S(void *, get_proc, (const char *name))

#define FE_FIELD(type, name) type name;
typedef struct fe_device_properties {
  size_t struct_size;
  FE_DEVICE_PROPERTIES_FIELDS(FE_FIELD)
} fe_device_properties;
typedef struct fe_option {
  size_t struct_size;
  FE_OPTION_FIELDS(FE_FIELD)
} fe_option;
typedef struct fe_option_info {
  size_t struct_size;
  FE_OPTION_INFO_FIELDS(FE_FIELD)
} fe_option_info;
typedef struct fe_input_requirement {
  size_t struct_size;
  FE_INPUT_REQUIREMENT_FIELDS(FE_FIELD)
} fe_input_requirement;
typedef struct fe_requirements {
  size_t struct_size;
  FE_REQUIREMENTS_FIELDS(FE_FIELD)
} fe_requirements;
typedef struct fe_binding {
  size_t struct_size;
  FE_BINDING_FIELDS(FE_FIELD)
} fe_binding;
typedef struct fe_execution {
  size_t struct_size;
  FE_EXECUTION_FIELDS(FE_FIELD)
} fe_execution;
typedef struct fe_strided_copy {
  size_t struct_size;
  FE_STRIDED_COPY_FIELDS(FE_FIELD)
} fe_strided_copy;
typedef struct fe_native_memory {
  size_t struct_size;
  FE_NATIVE_MEMORY_FIELDS(FE_FIELD)
} fe_native_memory;
#undef FE_FIELD

#define FE_SLOT(result, name, parameters) result(*name) parameters;
/* The core's functions; valid as long as the module is loaded. */
typedef struct fe_host {
  size_t struct_size;
  FE_HOST_SLOTS(FE_SLOT)
} fe_host;
/* The module's functions. The core sets `struct_size` to the size that it knows, and a module with older headers lowers
 * it to its own. Strings live as long as the backend. */
typedef struct fe_backend {
  size_t struct_size;
  fe_module_backend *self; /* passed to the slots */
  const char *name;        /* as in the file name: [a-z0-9_]+ */
  const char *variant;     /* "" if there is none */
  const char *version;     /* of the module, free text */
  FE_BACKEND_SLOTS(FE_SLOT)
} fe_backend;
#undef FE_SLOT

/* 1 if `slot` is present in the struct that `table` points to. */
#define FE_HAS_SLOT(table, slot)                                                                                     \
  ((table)->struct_size >= (size_t)((const char *)&(table)->slot - (const char *)(table)) + sizeof((table)->slot) && \
   (table)->slot != NULL)

/* Type of ferrule_backend_score: returns <= 0 if the module cannot run on this machine; among variants of one name the
 * highest is used. Called before init, and without an fe_host. */
typedef int (*fe_score_function)(void);
/* Type of ferrule_backend_init: fills `out`, which the core has zeroed except for struct_size. Called once per load. */
typedef fe_error *(*fe_init_function)(const fe_host *host, fe_backend *out);

/* The three exported symbols as one constant, for a program that links the module statically. */
typedef struct fe_static_module {
  size_t struct_size;
  const char *name;
  const char *variant;
  const fe_abi *abi;
  fe_score_function score; /* NULL if the module has none */
  fe_init_function init;
  int32_t preference; /* as in a manifest: among backends with devices of one kind the highest is listed first */
} fe_static_module;

/* Element `index` of an array whose structs may be larger than these headers know. */
static inline const fe_binding *fe_binding_at(const fe_execution *execution, uint32_t index) {
  return (const fe_binding *)(const void *)((const char *)execution->bindings +
                                            (size_t)index * execution->bindings->struct_size);
}
static inline fe_input_requirement *fe_input_requirement_at(const fe_requirements *requirements, uint32_t index) {
  return (fe_input_requirement *)(void *)((char *)requirements->inputs +
                                          (size_t)index * requirements->inputs->struct_size);
}
static inline const fe_option *fe_option_at(const fe_option *options, uint32_t index) {
  return (const fe_option *)(const void *)((const char *)options + (size_t)index * options->struct_size);
}

#ifdef __cplusplus
}
#endif
#endif
