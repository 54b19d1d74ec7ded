// Adds up the sums of the segments of K, in order, and runs the ops that are fused to the product. Limit: bytes of the
// sums, and instructions of the interpreter.
#include "kernels/linear_algebra/run_epilogue.h"

namespace ferrule::cuda {
namespace {

template <class Value>
__device__ __forceinline__ void join_with_epilogue(const MatmulSegmentsEpilogueParameters& q) {
  constexpr uint32_t together = 4;
  const MatmulSegmentsParameters& p = q.segments;
  const Value* const partials = pointer<const Value>(p.partials);
  for (uint64_t i = thread_number() * together; i < p.count; i += thread_count() * together) {
    const uint64_t left = p.count - i;
    const EpilogueElements<together> elements = {i, 1, left < together ? static_cast<uint32_t>(left) : together};
    Pack<Value, together> sums = {};
    if (elements.are_whole() && p.count % together == 0) {
#pragma unroll 4
      for (uint32_t segment = 0; segment < p.segments; ++segment) {
        const auto more = *reinterpret_cast<const Pack<Value, together>*>(partials + segment * p.count + i);
#pragma unroll
        for (uint32_t k = 0; k < together; ++k) sums.of[k] += more.of[k];
      }
    } else {
#pragma unroll 1
      for (uint32_t segment = 0; segment < p.segments; ++segment)
#pragma unroll
        for (uint32_t k = 0; k < together; ++k)
          if (k < elements.count) sums.of[k] += partials[segment * p.count + i + k];
    }
    run_epilogue(q.epilogue, elements, sums);
  }
}

}  // namespace

// The program says to which dtype a sum is rounded.
FERRULE_KERNEL(matmul_segments_epilogue_f32, MatmulSegmentsEpilogueParameters, 256) { join_with_epilogue<float>(p); }
FERRULE_KERNEL(matmul_segments_epilogue_u32, MatmulSegmentsEpilogueParameters, 256) { join_with_epilogue<uint32_t>(p); }

}  // namespace ferrule::cuda
