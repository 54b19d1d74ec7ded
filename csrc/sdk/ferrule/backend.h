/* The binary interface between the core and a backend module. C11, also valid C++.
 *
 * A module fills an fe_backend with its functions; the core gives it an fe_host with its own. Both are lists of slots
 * that are only appended to; a slot that is null, or past the struct's size, is absent. Slots marked (optional) may be
 * absent. Nothing may abort, exit, print or throw across these functions: each returns NULL or an error made by
 * fe_host.error_create. Strings passed in live for the call; strings returned live as long as their object. UTF-8.
 *
 * Work: what a queue was given reads and writes the buffers and host memory that it was given, and uses the executable,
 * until an event behind it is done; the core frees none of them before. Once a slot has returned FE_DEVICE_LOST, no
 * work of that device touches any of it, and its events are done.
 *
 * Threads: backend, device, buffer and event slots may be called from any thread at once; queue slots by one thread at
 * a time; an executable may run on several queues at once. */
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

/* Work on elements [begin, end); an error ends the loop early. No other range of the loop has the number `thread` at
 * the same time. It is below fe_host.thread_count() and, unless the loop runs on one thread alone, below its limit. */
typedef fe_error *(*fe_range_function)(void *argument, int64_t begin, int64_t end, uint32_t thread);

/* Returns an error (cancelled) when the caller of compute wants it to end. */
typedef fe_error *(*fe_poll_function)(void *argument);

/* When a node of an execution began and ended, in nanoseconds of the host's monotonic clock (CLOCK_MONOTONIC, on
 * Windows the performance counter). */
typedef void (*fe_trace_function)(void *argument, uint32_t node, uint64_t begin_ns, uint64_t end_ns);

/* What a queue is given: executions, copies and fills; or copies from the host, and to it, and fills only. */
typedef enum fe_queue_kind FE_ANY_INT {
  FE_QUEUE_COMPUTE = 0,
  FE_QUEUE_UPLOAD = 1,
  FE_QUEUE_DOWNLOAD = 2
} fe_queue_kind;

/* ---- structs ------------------------------------------------------------------------------------------------- */

/* What is known of a device without opening it. Unknown numbers are zero, unknown strings NULL. */
#define FE_DEVICE_PROPERTIES_FIELDS(F)                                                                        \
  F(uint32_t, kind)             /* fe_device_kind */                                                          \
  F(uint32_t, flags)            /* FE_DEVICE_FLAG_* */                                                        \
  F(const char *, name)         /* as its maker calls it */                                                   \
  F(const char *, description)  /* driver, architecture: free text */                                         \
  F(uint64_t, total_memory)     /* bytes */                                                                   \
  F(uint64_t, max_allocation)   /* bytes of one buffer; 0 = no limit known */                                 \
  F(uint64_t, borrow_alignment) /* buffer_borrow needs addresses and sizes of this multiple; 0 = no borrow */ \
  F(const uint8_t *, uuid)      /* 16 bytes, or NULL */                                                       \
  F(const char *, pci_address)  /* "0000:01:00.0", or NULL */                                                 \
  F(uint32_t, queue_kinds)      /* bits, 1 << fe_queue_kind: queues that work beside the computing one; 0 = none */

/* The device's buffers are host memory: buffer_host_pointer answers, and views of them may be exported. */
#define FE_DEVICE_FLAG_HOST_MEMORY 1u

/* A typed option for device_open, as text; the module parses and refuses what it does not understand. */
#define FE_OPTION_FIELDS(F) F(const char *, key) F(const char *, value)

/* An option that a device knows, for messages and documentation. */
#define FE_OPTION_INFO_FIELDS(F) F(const char *, key) F(const char *, type) F(const char *, doc)

/* The strides that a kernel reads of an input: any, rows of contiguous elements (innermost stride 1, or size <= 1), or
 * a C-contiguous array. */
typedef enum fe_layout FE_ANY_INT { FE_LAYOUT_ANY = 0, FE_LAYOUT_ROWS = 1, FE_LAYOUT_CONTIGUOUS = 2 } fe_layout;

/* What a kernel asks of one input. Zero fields ask nothing. */
#define FE_INPUT_REQUIREMENT_FIELDS(F)   \
  F(uint32_t, layout)    /* fe_layout */ \
  F(uint32_t, alignment) /* its first element at a multiple of bytes; a power of two */

/* What a kernel asks of its operands; the core satisfies it with copies that the plan shows. The strings live until the
 * same thread calls `supports` again: what a module says may name shapes, and need not be kept for each of them. */
#define FE_REQUIREMENTS_FIELDS(F)                                                                                     \
  F(struct fe_input_requirement *, inputs) /* for each input of the node one, all zero, to be filled by the module */ \
  F(uint32_t, input_count)                 /* those of the node */                                                    \
  F(uint32_t, flags)                       /* 0 */                                                                    \
  F(const char *, kernel)                  /* name of the kernel that will run, for the plan; NULL = none */          \
  F(const char *, reason)                  /* unless supported: why, as a part of a sentence; NULL = none */

/* A buffer bound to an input, output or constant. `generation` changes when the same slot is bound to other bytes. */
#define FE_BINDING_FIELDS(F)      \
  F(fe_module_buffer *, buffer)   \
  F(uint64_t, offset) /* bytes */ \
  F(uint64_t, generation)

/* Arrays of structs (bindings, options, requirements of inputs) hold their elements `struct_size` of the first element
 * apart. Everything that varies between executions of one executable. Workspace and scratch memory of an executable
 * stay the same in a queue until the device is short of memory, or the memory is trimmed: then the generation is
 * another one, though the buffer may look the same. */
#define FE_EXECUTION_FIELDS(F)                                                                           \
  F(const struct fe_binding *, bindings) /* fe_graph_view.binding_count */                               \
  F(const fe_scalar *, scalars)          /* fe_graph_view.scalar_count */                                \
  F(const int64_t *, offsets)            /* fe_graph_view.offset_count, in elements */                   \
  F(fe_module_buffer *, workspace)       /* NULL when the size is zero */                                \
  F(uint64_t, workspace_offset)                                                                          \
  F(uint64_t, workspace_generation) /* as that of a binding */                                           \
  F(fe_module_buffer *, scratch)    /* as large as executable_scratch_size said, or NULL */              \
  F(uint64_t, scratch_offset)                                                                            \
  F(uint64_t, scratch_generation)                                                                        \
  F(uint32_t, thread_limit) /* threads that parallel_for may use; 0 = all */                             \
  F(uint32_t, flags)        /* 0 */                                                                      \
  F(fe_poll_function, poll) /* called between nodes by who computes on the calling thread; NULL = not */ \
  F(void *, poll_argument)                                                                               \
  F(fe_trace_function, trace) /* told of each node, by who can, before an event behind is done */        \
  F(void *, trace_argument)

/* Items of `item_size` bytes, from one strided place to another; the two do not overlap. The offsets are those of the
 * first item. */
#define FE_STRIDED_COPY_FIELDS(F)                            \
  F(fe_module_buffer *, to)                                  \
  F(uint64_t, to_offset) /* bytes */                         \
  F(fe_module_buffer *, from)                                \
  F(uint64_t, from_offset)                                   \
  F(uint32_t, item_size)                                     \
  F(int32_t, rank)               /* 0 to FE_MAX_RANK */      \
  F(const int64_t *, shape)      /* items; `rank` of them */ \
  F(const int64_t *, to_strides) /* bytes, as the next */    \
  F(const int64_t *, from_strides)

/* Memory of a device as other libraries know it: the numbers of DLPack's DLDevice, and the data pointer that DLPack has
 * for that type of device. */
#define FE_NATIVE_MEMORY_FIELDS(F)           \
  F(int32_t, device_type) /* DLDeviceType */ \
  F(int32_t, device_id)                      \
  F(void *, pointer)                         \
  F(uint64_t, offset) /* bytes from there */

/* ---- slots: S(return type, name, (parameters)) ----------------------------------------------------------------- */

/* What the core offers a module. Every slot is there in a core of the same or a later minor. */
#define FE_HOST_SLOTS(S)                                                                                            \
  /* An error with a copy of `message`; never fails (out of memory gives a static error). */                        \
  S(fe_error *, error_create, (fe_code code, const char *message))                                                  \
  S(fe_code, error_code, (const fe_error *error))                                                                   \
  S(const char *, error_message, (const fe_error *error))                                                           \
  S(void, error_release, (fe_error * error))                                                                        \
  /* Hands a line to ferrule's logger; never blocks on Python. */                                                   \
  S(void, log, (fe_log_level level, const char *message))                                                           \
  /* Ids by name; 0 when the core does not know the name. */                                                        \
  S(fe_op, op_id, (const char *name))                                                                               \
  S(const char *, op_name, (fe_op op))                                                                              \
  S(fe_dtype, dtype_id, (const char *name))                                                                         \
  S(const char *, dtype_name, (fe_dtype dtype))                                                                     \
  /* How a dtype's elements lie in memory; for the life of the process. NULL when there is none of that id. */      \
  S(const fe_dtype_info *, dtype_info, (fe_dtype dtype))                                                            \
  /* Runs fn over [0, n) in ranges whose bounds are multiples of `grain`, on the core's pool and the calling */     \
  /* thread; at most `limit` threads (0 = all). Which thread takes which range is not defined. Returns the first */ \
  /* error. */                                                                                                      \
  S(fe_error *, parallel_for, (int64_t n, int64_t grain, uint32_t limit, fe_range_function fn, void *argument))     \
  S(uint32_t, thread_count, (void))                                                                                 \
  /* Nonzero while somebody records a trace: event_time is asked of what is given meanwhile only. */                \
  S(int, is_tracing, (void))                                                                                        \
  /* Tells the core that device_count has grown. */                                                                 \
  S(void, device_added, (fe_module_backend * backend))                                                              \
  /* Optional extensions by name; null when unknown. There is FE_CACHE, of ferrule/cache.h. */                      \
  S(void *, get_proc, (const char *name))

/* What a module offers the core. */
#define FE_BACKEND_SLOTS(S)                                                                                           \
  /* Ends the backend; no object of it is alive. */                                                                   \
  S(void, close, (fe_module_backend * backend))                                                                       \
  /* Devices, without creating a context or taking device memory. */                                                  \
  S(uint32_t, device_count, (fe_module_backend * backend))                                                            \
  S(fe_error *, device_properties, (fe_module_backend * backend, uint32_t index, struct fe_device_properties * out))  \
  /* (optional) The i-th option that device_open knows; an error past the last. */                                    \
  S(fe_error *, device_option, (fe_module_backend * backend, uint32_t option, struct fe_option_info * out))           \
  S(fe_error *, device_open,                                                                                          \
    (fe_module_backend * backend, uint32_t index, const struct fe_option *options, uint32_t option_count,             \
     fe_module_device **out))                                                                                         \
  S(void, device_close, (fe_module_device * device))                                                                  \
  /* (optional) Bytes free and in all; *free_bytes = UINT64_MAX when unknown. */                                      \
  S(fe_error *, device_memory, (fe_module_device * device, uint64_t * free_bytes, uint64_t * total_bytes))            \
  /* A buffer of `size` > 0 bytes whose address is a multiple of `alignment` (a power of two, at least 64). */        \
  S(fe_error *, buffer_allocate,                                                                                      \
    (fe_module_device * device, uint64_t size, uint64_t alignment, fe_module_buffer * *out))                          \
  /* (optional) A buffer over host memory that outlives it; pointer and size obey borrow_alignment. */                \
  S(fe_error *, buffer_borrow,                                                                                        \
    (fe_module_device * device, void *pointer, uint64_t size, fe_access access, fe_module_buffer **out))              \
  S(void, buffer_free, (fe_module_buffer * buffer))                                                                   \
  /* (optional) The address of a buffer in host memory; NULL when the host cannot reach it. */                        \
  S(void *, buffer_host_pointer, (fe_module_buffer * buffer))                                                         \
  /* (optional) Host memory, at a multiple of 64 bytes, which copies to and from the device do not wait for. */       \
  S(fe_error *, host_allocate, (fe_module_device * device, uint64_t size, void **out))                                \
  S(void, host_free, (fe_module_device * device, void *pointer))                                                      \
  /* (optional) Queues; absent means that every call below is done when it returns, with a NULL queue. Whoever has */ \
  /* queues has all slots of queues and events but the optional ones. The core makes a queue that does not compute */ \
  /* where queue_kinds has its bit. Queues do not wait for each other, unless they are told to. */                    \
  S(fe_error *, queue_create, (fe_module_device * device, fe_queue_kind kind, fe_module_queue * *out))                \
  /* Waits for the queue's work first, for as long as a device can be believed to be at it. */                        \
  S(void, queue_destroy, (fe_module_queue * queue))                                                                   \
  /* Waits until all work given to the queue is over, however it ended, and tries to bring a lost device back. An */  \
  /* error: it is not known that the work is over, and nothing has changed. The core asks this after a loss, and */   \
  /* where no event tells that work is over. */                                                                       \
  S(fe_error *, queue_reset, (fe_module_queue * queue))                                                               \
  /* (optional) What the queue is given from now on begins after the event, which is of a queue of the same */        \
  /* backend; FE_UNSUPPORTED where the device cannot wait for it: the host does. */                                   \
  S(fe_error *, queue_wait_event, (fe_module_queue * queue, fe_module_event * event))                                 \
  /* Copies, in queue order. Host memory must stay until the queue has passed it. Such as is not host_allocate's */   \
  /* may be waited for. */                                                                                            \
  S(fe_error *, copy_from_host,                                                                                       \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset, const void *from, \
     uint64_t size))                                                                                                  \
  S(fe_error *, copy_to_host,                                                                                         \
    (fe_module_device * device, fe_module_queue * queue, void *to, fe_module_buffer *from, uint64_t from_offset,      \
     uint64_t size))                                                                                                  \
  S(fe_error *, copy,                                                                                                 \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                   \
     fe_module_buffer * from, uint64_t from_offset, uint64_t size))                                                   \
  /* (optional) From another device of the backend, in the order of the target's queue; FE_UNSUPPORTED for two */     \
  /* that cannot: the core copies through the host. */                                                                \
  S(fe_error *, copy_peer,                                                                                            \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                   \
     fe_module_device * from_device, fe_module_buffer * from, uint64_t from_offset, uint64_t size))                   \
  /* (optional) Its lists are read before this returns. FE_UNSUPPORTED where the device cannot: the core compiles */  \
  /* a graph that copies. */                                                                                          \
  S(fe_error *, copy_strided,                                                                                         \
    (fe_module_device * device, fe_module_queue * queue, const struct fe_strided_copy *copy))                         \
  /* (optional) Repeats a pattern of 1, 2, 4, 8 or 16 bytes, which is read before this returns. Size and offset */    \
  /* are multiples of the pattern's. */                                                                               \
  S(fe_error *, fill,                                                                                                 \
    (fe_module_device * device, fe_module_queue * queue, fe_module_buffer * to, uint64_t to_offset,                   \
     const void *pattern, uint32_t pattern_size, uint64_t size))                                                      \
  /* Events: recorded behind everything given to the queue so far. A wait returns the error, if any, of what was */   \
  /* given since the event before it, each time it is asked; `timeout_ns` < 0 waits without limit; FE_TIMEOUT when */ \
  /* it passes. A wait that itself fails returns an error while the event is not done. What is given after work */    \
  /* that failed is done all the same, unless the device was lost. */                                                 \
  S(fe_error *, event_record, (fe_module_queue * queue, fe_module_event * *out))                                      \
  S(fe_error *, event_wait, (fe_module_event * event, int64_t timeout_ns))                                            \
  /* 1 when that work is over, however it ended; 0 when it is not, or when that cannot be told. */                    \
  S(int, event_done, (fe_module_event * event))                                                                       \
  S(void, event_release, (fe_module_event * event))                                                                   \
  /* (optional) When the queue passed an event that is done: nanoseconds of the host's monotonic clock. */            \
  S(fe_error *, event_time, (fe_module_event * event, uint64_t * ns))                                                 \
  /* (optional) Memory and queues that other libraries know, too. What `from` describes outlives the buffer. */       \
  S(fe_error *, buffer_native, (fe_module_buffer * buffer, struct fe_native_memory * out))                            \
  S(fe_error *, buffer_import,                                                                                        \
    (fe_module_device * device, const struct fe_native_memory *from, uint64_t size, fe_access access,                 \
     fe_module_buffer **out))                                                                                         \
  /* (optional) The queue as DLPack's `stream` argument has it; and what makes such a stream of another library */    \
  /* wait for an event. */                                                                                            \
  S(fe_error *, queue_native, (fe_module_queue * queue, void **out))                                                  \
  S(fe_error *, native_wait_event, (fe_module_device * device, void *stream, fe_module_event *event))                 \
  /* 1 if compile would take this node of the view as it stands, with what it asks of its operands; else 0; or a */   \
  /* negative fe_code, with the error's message as the reason, if that cannot be told: for want of memory, say. */    \
  S(int, supports,                                                                                                    \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, struct fe_requirements *out))        \
  /* (optional) Bytes of the packed form of a constant operand, 0 if none is wanted; `key` (at least 128 bytes) */    \
  /* names the layout: equal keys mean equal packed bytes for equal constants. */                                     \
  S(fe_error *, prepare_size,                                                                                         \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, uint32_t input, uint64_t *size,      \
     char *key, size_t key_capacity))                                                                                 \
  /* (optional) Packs the constant, bound as `from`, into `to`. */                                                    \
  S(fe_error *, prepare,                                                                                              \
    (fe_module_device * device, const struct fe_graph_view *view, uint32_t node, uint32_t input,                      \
     const struct fe_binding *from, const struct fe_binding *to))                                                     \
  S(fe_error *, compile, (fe_module_device * device, const struct fe_graph_view *view, fe_module_executable **out))   \
  S(void, executable_release, (fe_module_executable * executable))                                                    \
  /* (optional) Bytes of scratch memory that each execution needs beside the workspace. */                            \
  S(uint64_t, executable_scratch_size, (fe_module_executable * executable))                                           \
  /* Argument errors at once; later ones through the queue's events. */                                               \
  S(fe_error *, execute,                                                                                              \
    (fe_module_executable * executable, fe_module_queue * queue, const struct fe_execution *execution))               \
  /* (optional) Extensions by name; null when unknown. */                                                             \
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
/* The core's functions, valid as long as the module is loaded. */
typedef struct fe_host {
  size_t struct_size;
  FE_HOST_SLOTS(FE_SLOT)
} fe_host;
/* The module's functions; `struct_size` is set by the core to what it knows and lowered by an older module. */
typedef struct fe_backend {
  size_t struct_size;
  fe_module_backend *self;
  const char *name;    /* as in the file's name: [a-z0-9_]+ */
  const char *variant; /* "" when there is none */
  const char *version; /* of the module, free text */
  FE_BACKEND_SLOTS(FE_SLOT)
} fe_backend;
#undef FE_SLOT

/* 1 if `slot` of the struct behind `table` is there. */
#define FE_HAS_SLOT(table, slot)                                                                                     \
  ((table)->struct_size >= (size_t)((const char *)&(table)->slot - (const char *)(table)) + sizeof((table)->slot) && \
   (table)->slot != NULL)

/* The types of the exported symbols. */
typedef int (*fe_score_function)(void);
typedef fe_error *(*fe_init_function)(const fe_host *host, fe_backend *out);

/* The same three as one constant, for a program that links the module statically. */
typedef struct fe_static_module {
  size_t struct_size;
  const char *name;
  const char *variant;
  const fe_abi *abi;
  fe_score_function score; /* NULL when the module has none */
  fe_init_function init;
  int32_t preference; /* as in a manifest: among the backends of one kind of device the highest comes first */
} fe_static_module;

/* Element `index` of an array of structs that may be longer than this header knows. */
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
