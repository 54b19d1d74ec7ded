// What a CPU kernel is: the one interface between the kernels, which are compiled once per variant, and the rest of the
// module, which is compiled for the base architecture. Plain data and plain functions only: whatever is declared here
// is seen by code with different instruction sets, so nothing here may have a body that the linker could merge.
#pragma once

#include <ferrule/backend.h>

#include <cstddef>
#include <cstdint>

namespace ferrule::cpu {

enum class DType : uint8_t {  // dtype_from() and id_of() translate them from and to the ids of the core
  boolean,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f8e4m3,
  f8e5m2,
  f32,
  f64,
  c64,
  c128,
  q8_0,  // here begin the block dtypes
  q4_0,
  q4_k,
  q6_k,
  count  // of them; also: none, or one that no kernel knows
};

// A set of dtypes, as bits; `one_of(f32) | one_of(f64)`.
using DTypes = uint64_t;
constexpr DTypes plain_dtypes = (DTypes{1} << static_cast<unsigned>(DType::q8_0)) - 1;

// One argument of a kernel: strides are in elements. `data` is null while a kernel is only being chosen.
struct Operand {
  char* data;
  int64_t shape[FE_MAX_RANK];
  int64_t strides[FE_MAX_RANK];
  int32_t rank;
  DType dtype;
  uint8_t item_size;  // of a block dtype: bytes of a block
  bool
      prepared;  // data is in the layout that the kernel's `prepare` wrote; shape and strides are those of the original
};

// Scratch memory of which each thread has a part of its own: what a kernel would otherwise keep in its frames, which
// must fit into the small stacks of other people's threads.
struct LocalScratch {
  uint64_t bytes = 0;   // of one part
  int64_t threads = 0;  // that can work at the same time, at most
};

// That memory, bound: parts begin at multiples of 64 bytes.
struct LocalMemory {
  char* data = nullptr;
  uint64_t bytes = 0;           // from one part to the next
  uint32_t count = UINT32_MAX;  // threads that may work at the same time: any number if they need no memory
};

// The elementwise body that a kernel applies to its own result while that is still in cache.
struct Epilogue {
  // Computes `count` elements of the node's outputs from flat index `first`; `own` holds the kernel's result for them
  // and may be the memory of output 0. `local` is the part of the calling thread.
  fe_error* (*apply)(const Epilogue* self, int64_t first, int64_t count, const void* own, char* local);
  DType own_dtype;    // of the kernel's result, before the body; float32 where the body's input is a half
  bool own_in_place;  // output 0 has that dtype: the kernel may write its result there before the body runs
};

// A call of a kernel. With an epilogue, `out` are the body's outputs and `extra_inputs` are its own affair.
struct Call {
  const fe_host* host;
  const Operand* in;
  const Operand* out;
  const void* attributes;
  const Epilogue* epilogue;
  char* scratch;      // as many bytes as `scratch_size` said, aligned to 64
  LocalMemory local;  // as `local_scratch` said; of more threads if there is an epilogue
  uint32_t in_count;
  uint32_t out_count;
  uint32_t thread_limit;
};

// Computes `count` elements; inputs and output are contiguous and equal or disjoint.
using BlockFunction = void (*)(const void* const* in, void* out, size_t count, const void* attributes);

// Why `count` elements of these inputs have no result, as a sentence of static storage; null if they have one.
using BlockRefusal = const char* (*)(const void* const* in, size_t count);

// An elementwise op, or one output of it, for one combination of dtypes.
struct Block {
  BlockFunction run;
  DType in[3];
  uint8_t in_count;
  DType out;
  uint8_t output = 0;              // which one
  BlockRefusal refusal = nullptr;  // asked before `run`; null: every input has a result
};

struct Kernel {
  const char* name;
  const char* op = nullptr;  // the op that it computes; null: its name is the op's
  uint32_t revision = 1;     // of the op
  // What it takes. `dtypes` is about input 0, `accepts` about everything else.
  DTypes dtypes = plain_dtypes;
  fe_layout layouts[4] = {};  // that it reads of inputs 0 to 3; of any other input it reads any
  bool takes_epilogue = false;
  bool (*accepts)(const Call& call) = nullptr;
  uint64_t (*scratch_size)(const Call& call) = nullptr;
  LocalScratch (*local_scratch)(const Call& call) = nullptr;
  // The packed form of constant input `input`: its bytes (0: none) and a name of its layout; and the packing.
  uint64_t (*prepare_size)(const Call& call, uint32_t input, char* key, size_t key_capacity) = nullptr;
  void (*prepare)(const Call& call, uint32_t input, void* to) = nullptr;
  // Where lists and strings stand in the op's attribute struct (offsetof): they are copied with it. 0: none.
  uint16_t list_attributes[2] = {};
  uint16_t string_attributes[2] = {};
  // A kernel has either `run`, for a whole node, or `blocks`, for an elementwise op.
  fe_error* (*run)(const Call& call) = nullptr;
  const Block* blocks = nullptr;
  uint32_t block_count = 0;
};

// Writes `count` items of `item_size` bytes to `to`, read from every `stride`-th item; a stride of 0 repeats one. What
// the interpreter of fused bodies needs of a variant beside its kernels.
using GatherFunction = void (*)(void* to, const void* from, int64_t stride, size_t count, size_t item_size);

// The generated table of one variant, and its name.
struct KernelTable {
  const char* variant;
  const Kernel* const* kernels;
  uint32_t count;
  GatherFunction gather;
};

}  // namespace ferrule::cpu
