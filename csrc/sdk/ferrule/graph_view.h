/* The C form of a graph that a device compiles: plain arrays, owned by the core and valid during the call.
 *
 * A graph view has storages (regions of bytes), values (dtype, shape and strides over one storage) and nodes (ops over
 * values). Nodes are in execution order. Shapes, strides and attributes are compile-time constants; buffers, scalars
 * and dynamic offsets are bound when the executable runs (fe_execution in backend.h).
 *
 * Every struct begins with its size; a field past struct_size is absent. Arrays hold pointers to structs, so that a
 * struct can grow. */
#ifndef FERRULE_GRAPH_VIEW_H
#define FERRULE_GRAPH_VIEW_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The origin of the bytes of a storage. */
typedef enum fe_storage_kind FE_ANY_INT {
  FE_STORAGE_INPUT = 0,     /* fe_execution.bindings[binding], read-only */
  FE_STORAGE_OUTPUT = 1,    /* fe_execution.bindings[binding], written; see `reuses` */
  FE_STORAGE_CONSTANT = 2,  /* fe_execution.bindings[binding]: the same bytes in every execution */
  FE_STORAGE_TEMPORARY = 3, /* in fe_execution.workspace, at byte `offset` */
  FE_STORAGE_SCALAR = 4     /* fe_execution.scalars[binding]: one element */
} fe_storage_kind;

#define FE_STORAGE_FIELDS(F)                                                                           \
  F(uint32_t, kind)      /* fe_storage_kind */                                                         \
  F(uint32_t, binding)   /* index of the binding or scalar; unused for temporaries */                  \
  F(uint64_t, offset)    /* temporaries: bytes from the workspace's start */                           \
  F(uint64_t, size)      /* bytes that values may access */                                            \
  F(uint64_t, alignment) /* of the storage's address, in bytes; at least that of a block */            \
  F(int32_t, reuses)     /* outputs: index of an input storage that may have the same memory, or -1 */ \
  F(int32_t, prepared)   /* constants: 1 if the bytes are the packed form that `prepare` wrote */

/* `reuses`: an execution binds that input storage and this output to the same memory or to different memory. If it is
 * the same, a kernel need not copy elements that it does not change. No node reads the input after the node that writes
 * the output. */

/* Strides count elements, in NumPy's axis order, and may be zero or negative for inputs; outputs are C-contiguous. A
 * storage begins at the lowest element that is read. The element at index i is at
 *   storage + fe_bytes_of(dtype, offset + offsets[offset_slot] + sum(i[k] * strides[k])),
 * or in the block there, for a block dtype (see fe_dtype_info). */
#define FE_VALUE_FIELDS(F)                                                 \
  F(fe_dtype, dtype)                                                       \
  F(int32_t, rank)            /* 0 to FE_MAX_RANK */                       \
  F(const int64_t *, shape)   /* `rank` sizes, each >= 0 */                \
  F(const int64_t *, strides) /* `rank` strides */                         \
  F(uint32_t, storage)        /* index into fe_graph_view.storages */      \
  F(int32_t, offset_slot)     /* index into fe_execution.offsets, or -1 */ \
  F(int64_t, offset)          /* elements from the start of the storage */

/* An op applied to values. A node with a body is a fused node. If its op is `fused`, it computes only the body,
 * elementwise over the shape of the outputs. Any other op (matmul, a reduction) is computed first, its result is value
 * 0 of the body, and the outputs of the node are those of the body. The node's inputs are then those of the op,
 * followed by the inputs of the body from value 1 on. */
#define FE_NODE_FIELDS(F)                                                                 \
  F(fe_op, op)                                                                            \
  F(uint32_t, revision) /* lowest revision of the op that can express this node */        \
  F(uint32_t, input_count)                                                                \
  F(uint32_t, output_count)                                                               \
  F(const uint32_t *, inputs) /* indices into fe_graph_view.values */                     \
  F(const uint32_t *, outputs)                                                            \
  F(const void *, attributes)     /* the op's struct of ops.h; NULL if the op has none */ \
  F(const struct fe_body *, body) /* NULL unless fused */

/* One instruction of a body: value = op(inputs...), elementwise. The values of a body are numbered: first its inputs,
 * then one per instruction. An instruction computes one output of its op; another output needs another instruction. */
#define FE_INSTRUCTION_FIELDS(F)                                               \
  F(fe_op, op)                                                                 \
  F(fe_dtype, dtype) /* of the result, which is rounded to it */               \
  F(uint32_t, input_count)                                                     \
  F(uint32_t, revision)                                                        \
  F(const uint32_t *, inputs) /* numbers of body values, lower than its own */ \
  F(const void *, attributes) /* as in fe_node */                              \
  F(uint32_t, output)         /* index of the op's output that is the result */

/* Straight-line code over one iteration shape, that of the node's outputs. Inputs broadcast with zero strides. */
#define FE_BODY_FIELDS(F)                                                          \
  F(uint32_t, input_count)       /* body values 0 to input_count - 1 */            \
  F(uint32_t, instruction_count) /* body values from input_count on, at most 64 */ \
  F(uint32_t, output_count)                                                        \
  F(const fe_dtype *, input_dtypes)                                                \
  F(const struct fe_instruction *const *, instructions)                            \
  F(const uint32_t *, outputs) /* numbers of the body values that are the node's outputs */

/* The whole graph. */
#define FE_GRAPH_VIEW_FIELDS(F)                                  \
  F(uint32_t, storage_count)                                     \
  F(uint32_t, value_count)                                       \
  F(uint32_t, node_count)                                        \
  F(uint32_t, binding_count) /* inputs, outputs and constants */ \
  F(uint32_t, scalar_count)                                      \
  F(uint32_t, offset_count)                                      \
  F(const struct fe_storage *const *, storages)                  \
  F(const struct fe_value *const *, values)                      \
  F(const struct fe_node *const *, nodes)                        \
  F(uint64_t, workspace_size) /* bytes */                        \
  F(uint64_t, workspace_alignment)

#define FE_FIELD(type, name) type name;
typedef struct fe_storage {
  size_t struct_size;
  FE_STORAGE_FIELDS(FE_FIELD)
} fe_storage;
typedef struct fe_value {
  size_t struct_size;
  FE_VALUE_FIELDS(FE_FIELD)
} fe_value;
typedef struct fe_instruction {
  size_t struct_size;
  FE_INSTRUCTION_FIELDS(FE_FIELD)
} fe_instruction;
typedef struct fe_body {
  size_t struct_size;
  FE_BODY_FIELDS(FE_FIELD)
} fe_body;
typedef struct fe_node {
  size_t struct_size;
  FE_NODE_FIELDS(FE_FIELD)
} fe_node;
typedef struct fe_graph_view {
  size_t struct_size;
  FE_GRAPH_VIEW_FIELDS(FE_FIELD)
} fe_graph_view;
#undef FE_FIELD

#ifdef __cplusplus
}
#endif
#endif
