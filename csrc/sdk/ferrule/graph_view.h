/* A graph as a device is given it to compile: plain arrays, owned by the core, alive for the call.
 *
 * A view has storages (bytes), values (a dtype, shape and strides laid over one storage) and nodes (ops over values).
 * Node order is execution order. Shapes, strides and attributes are facts of compile time; buffers, scalars and
 * dynamic offsets are bound when the executable runs (fe_execution in backend.h).
 *
 * Every struct begins with its size. A reader takes a field only if the size says that it is there; arrays hold
 * pointers to structs, so that a struct may grow. */
#ifndef FERRULE_GRAPH_VIEW_H
#define FERRULE_GRAPH_VIEW_H

#include <ferrule/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where the bytes of a storage come from. */
typedef enum fe_storage_kind FE_ANY_INT {
  FE_STORAGE_INPUT = 0,     /* fe_execution.bindings[binding], read only */
  FE_STORAGE_OUTPUT = 1,    /* fe_execution.bindings[binding], written; see `reuses` */
  FE_STORAGE_CONSTANT = 2,  /* fe_execution.bindings[binding]: the same bytes at every execution */
  FE_STORAGE_TEMPORARY = 3, /* the workspace of the execution, from byte `offset` */
  FE_STORAGE_SCALAR = 4     /* fe_execution.scalars[binding]: one element */
} fe_storage_kind;

#define FE_STORAGE_FIELDS(F)                                                                              \
  F(uint32_t, kind)      /* fe_storage_kind */                                                            \
  F(uint32_t, binding)   /* index of the binding, or of the scalar; unused for temporaries */             \
  F(uint64_t, offset)    /* temporaries: bytes from the start of the workspace */                         \
  F(uint64_t, size)      /* bytes that values may touch */                                                \
  F(uint64_t, alignment) /* the storage's address is a multiple of this many bytes; at least the block */ \
  F(int32_t, reuses)     /* outputs: index of the input storage whose memory it may have, else -1 */      \
  F(int32_t, prepared)   /* constants: 1 when the bytes are in the layout that device_prepare wrote */

/* The storage that `reuses` names and this one may be bound to the same memory, or to two: a kernel that finds them in
 * one place need not copy what it leaves as it is. Nothing reads that input after the node that writes the output.
 *
 * Strides count elements, in NumPy's order, and may be zero or negative for inputs; outputs are C-contiguous.
 * A storage begins at the lowest element that is read.
 * The element at index i lies at  storage + fe_bytes_of(dtype, offset + offsets[offset_slot] + sum(i[k] * strides[k]));
 * one of a block dtype in the block there (see fe_dtype_info). */
#define FE_VALUE_FIELDS(F)                                               \
  F(fe_dtype, dtype)                                                     \
  F(int32_t, rank)            /* 0 to FE_MAX_RANK */                     \
  F(const int64_t *, shape)   /* `rank` sizes, each >= 0 */              \
  F(const int64_t *, strides) /* `rank` strides */                       \
  F(uint32_t, storage)        /* index in fe_graph_view.storages */      \
  F(int32_t, offset_slot)     /* index in fe_execution.offsets, or -1 */ \
  F(int64_t, offset)          /* elements from the storage's first */

/* A node. With a body it is a fused node: the op `fused` computes the body alone, elementwise over the outputs' shape;
 * any other op (matmul, a reduction) computes itself and feeds its result to the body's value 0, and the node's
 * outputs are the body's. The node's inputs are then the op's own, followed by those of the body from value 1 on. */
#define FE_NODE_FIELDS(F)                                                                   \
  F(fe_op, op)                                                                              \
  F(uint32_t, revision) /* lowest revision of the op that expresses this node */            \
  F(uint32_t, input_count)                                                                  \
  F(uint32_t, output_count)                                                                 \
  F(const uint32_t *, inputs) /* indices in fe_graph_view.values */                         \
  F(const uint32_t *, outputs)                                                              \
  F(const void *, attributes)     /* the op's struct of ops.h; NULL when the op has none */ \
  F(const struct fe_body *, body) /* NULL unless fused */

/* One instruction of a body: out = op(in...), elementwise; values are numbered inputs first, then one an instruction.
 * Of an op with several outputs an instruction gives one; the others come from instructions of their own. */
#define FE_INSTRUCTION_FIELDS(F)                                      \
  F(fe_op, op)                                                        \
  F(fe_dtype, dtype) /* of the result; the result is rounded to it */ \
  F(uint32_t, input_count)                                            \
  F(uint32_t, revision)                                               \
  F(const uint32_t *, inputs) /* numbers of body values */            \
  F(const void *, attributes) /* as in fe_node */                     \
  F(uint32_t, output)         /* which output of the op */

/* Straight-line code over one iteration shape, that of the node's outputs; body inputs broadcast by zero strides. */
#define FE_BODY_FIELDS(F)                                                          \
  F(uint32_t, input_count)       /* body values 0 .. input_count-1 */              \
  F(uint32_t, instruction_count) /* body values from input_count on, at most 64 */ \
  F(uint32_t, output_count)                                                        \
  F(const fe_dtype *, input_dtypes)                                                \
  F(const struct fe_instruction *const *, instructions)                            \
  F(const uint32_t *, outputs) /* numbers of the body values that the node writes */

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
