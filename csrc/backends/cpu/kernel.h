// The interface between the kernels, which are compiled once per variant, and the rest of the module, which is compiled
// for the base architecture. Code with different instruction sets includes this header, so it declares only plain data
// and plain functions, and no function body that the linker could merge.
#pragma once

#include <ferrule/backend.h>
#include <ferrule/dtypes.h>

#include <cstddef>
#include <cstdint>

namespace ferrule::cpu {

// The dtypes of ferrule/dtypes.h, in its order. dtype_from() and id_of() translate from and to the ids of the core.
enum class DType : uint8_t {
#define FERRULE_NUMBER(id, abbreviation, ...) abbreviation,
#define FERRULE_BLOCK(id, ...) id,
  FE_DTYPES(FERRULE_NUMBER, FERRULE_BLOCK)
#undef FERRULE_NUMBER
#undef FERRULE_BLOCK
      count  // of them; also: none, or one that no kernel knows
};

// A set of dtypes as bits: `one_of(f32) | one_of(f64)`.
using DTypes = uint64_t;
static_assert(static_cast<unsigned>(DType::count) < 64);
#define FERRULE_BIT(id, abbreviation, ...) | DTypes{1} << static_cast<unsigned>(DType::abbreviation)
constexpr DTypes plain_dtypes = DTypes{0} FE_DTYPES(FERRULE_BIT, FE_NO_DTYPE);
#undef FERRULE_BIT

// One operand of a kernel. Strides are in elements. `data` is null while a kernel is being chosen.
struct Operand {
  char* data;
  int64_t shape[FE_MAX_RANK];
  int64_t strides[FE_MAX_RANK];
  int32_t rank;
  DType dtype;
  uint16_t item_size;  // bytes of an element, or of a block of a block dtype
  bool prepared;       // data is what `prepare` wrote; shape and strides are those of the original
};

// Scratch memory per thread. Kernels use it instead of large local variables, because a calling thread may have a small
// stack.
struct LocalScratch {
  uint64_t bytes = 0;   // of each part
  int64_t threads = 0;  // largest number of threads that work at the same time
};

// LocalScratch at execution. Parts are aligned to 64 bytes.
struct LocalMemory {
  char* data = nullptr;
  uint64_t bytes = 0;           // distance of two parts
  uint32_t count = UINT32_MAX;  // number of parts; unlimited if threads need no memory

  // The part of a thread. The calling thread, number 0, has the last one, so that guard zones detect what it writes
  // beyond. A higher number than there are parts occurs only inside another loop, where everything runs on one thread.
  char* part(uint32_t thread) const { return data + (count - 1 - thread % count) * bytes; }
};

// The elementwise body that a kernel applies to its own result while it is still in the cache.
struct Epilogue {
  // Computes `count` elements of the node's outputs from flat index `first` on. `own`: the kernel's result for them;
  // may be the memory of output 0. `local`: the calling thread's part.
  fe_error* (*apply)(const Epilogue* self, int64_t first, int64_t count, const void* own, char* local);
  DType own_dtype;    // of the kernel's result, before the body; float32 where the body's input is a half
  bool own_in_place;  // output 0 has that dtype, so the kernel may write its result there
};

// The elementwise body that computes input 0 of a kernel a block at a time, so that it is never in memory as a whole.
struct Prologue {
  // Computes `count` elements from flat index `first` on, at `to`. `local`: the calling thread's part.
  fe_error* (*compute)(const Prologue* self, int64_t first, int64_t count, void* to, char* local);
};

// A call of a kernel. With a prologue, in[0] is contiguous and has no data. With an epilogue, `out` are the outputs of
// the body, which has its further inputs itself.
struct Call {
  const fe_host* host;
  const Operand* in;
  const Operand* out;
  const void* attributes;
  const Prologue* prologue;
  const Epilogue* epilogue;
  char* scratch;      // `scratch_size` bytes, aligned to 64
  LocalMemory local;  // as of `local_scratch`; for more threads if there is a prologue or epilogue
  uint32_t in_count;
  uint32_t out_count;
  uint32_t thread_limit;
};

// Computes `count` elements. Inputs and output are contiguous; an input is the same memory as the output or disjoint.
using ElementwiseFunction = void (*)(const void* const* in, void* out, size_t count, const void* attributes);

// Returns why these inputs have no result, as a static string; null if they have one.
using ElementwiseRefusal = const char* (*)(const void* const* in, size_t count);

// One output of an elementwise op for one combination of dtypes.
struct ElementwiseKernel {
  ElementwiseFunction run;
  DType in[3];
  uint8_t in_count;
  DType out;
  uint8_t output = 0;                    // index of the output
  ElementwiseRefusal refusal = nullptr;  // called before `run`; null: all inputs have a result
};

struct Kernel {
  const char* name;
  const char* op = nullptr;  // the op that it computes; null: `name` is the op's name
  uint32_t revision = 1;     // highest revision of the op that it implements
  // The kernel accepts the `dtypes` of input 0, restricted by `accepts`.
  DTypes dtypes = plain_dtypes;
  fe_layout layouts[4] = {};  // of inputs 0 to 3; any layout for other inputs
  bool takes_prologue = false;
  bool takes_epilogue = false;
  bool (*accepts)(const Call& call) = nullptr;
  uint64_t (*scratch_size)(const Call& call) = nullptr;
  LocalScratch (*local_scratch)(const Call& call) = nullptr;
  // Size of the packed form of constant input `input` (0: none), with the name of its layout in `key`; and the packing.
  uint64_t (*prepare_size)(const Call& call, uint32_t input, char* key, size_t key_capacity) = nullptr;
  void (*prepare)(const Call& call, uint32_t input, void* to) = nullptr;
  // Offsets of lists and strings in the op's attribute struct, which are copied with it. 0: none.
  uint16_t list_attributes[2] = {};
  uint16_t string_attributes[2] = {};
  // A kernel has either `run`, for whole nodes, or `elementwise_kernels`, for an elementwise op.
  fe_error* (*run)(const Call& call) = nullptr;
  const ElementwiseKernel* elementwise_kernels = nullptr;
  uint32_t elementwise_count = 0;
};

// Copies `count` items of `item_size` bytes, of which every `stride`-th is read; a stride of 0 repeats one item. The
// interpreter of fused bodies uses it.
using GatherFunction = void (*)(void* to, const void* from, int64_t stride, size_t count, size_t item_size);

// The generated table of the kernels of one variant.
struct KernelTable {
  const char* variant;
  const Kernel* const* kernels;
  uint32_t count;
  GatherFunction gather;
};

}  // namespace ferrule::cpu
