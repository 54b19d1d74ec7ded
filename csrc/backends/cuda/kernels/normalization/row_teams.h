// Device code of rows.h: vectors of a row, and reductions over a team.
#pragma once

#include "kernels/device.h"
#include "kernels/normalization/rows.h"

namespace ferrule::cuda {

// V adjacent items.
template <class Item, uint32_t V>
struct alignas(sizeof(Item) * V) Items {
  static_assert(V == 1 || sizeof(Item) * V == 16);
  Item at[V];
};

// A row in memory, with a stride.
template <class Pointed, uint32_t V>
struct MemoryRow {
  using Item = std::remove_const_t<Pointed>;
  Pointed* first;
  int64_t stride;
  bool has_vectors;

  __device__ MemoryRow(Pointed* first_, int64_t stride_)
      : first(first_),
        stride(stride_),
        has_vectors(stride_ == 1 && reinterpret_cast<uintptr_t>(first_) % (V * sizeof(Item)) == 0) {}

  __device__ __forceinline__ Items<Item, V> load(uint64_t vector) const {
    return has_vectors ? load_whole(vector) : load_items(vector);
  }
  // Requires has_vectors.
  __device__ __forceinline__ Items<Item, V> load_whole(uint64_t vector) const {
    Items<Item, V> items;
    if constexpr (V == 1) {
      items.at[0] = first[vector];
    } else {
      const uint4 loaded = reinterpret_cast<const uint4*>(first)[vector];
      memcpy(&items, &loaded, sizeof items);
    }
    return items;
  }
  __device__ __forceinline__ Items<Item, V> load_items(uint64_t vector) const {
    Items<Item, V> items;
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) items.at[i] = first[static_cast<int64_t>(vector * V + i) * stride];
    return items;
  }
  __device__ __forceinline__ void store(uint64_t vector, const float (&values)[V]) const {
    Items<Item, V> items;
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) items.at[i] = from_float<Item>(values[i]);
    if (V > 1 && has_vectors) {
      uint4 stored;
      memcpy(&stored, &items, sizeof items);
      *reinterpret_cast<uint4*>(first + vector * V) = stored;
      return;
    }
#pragma unroll
    for (uint32_t i = 0; i < V; ++i) first[vector * V + i] = items.at[i];  // outputs are contiguous
  }
};

struct Sum {
  static __device__ __forceinline__ float of(float a, float b) { return a + b; }
  static constexpr float nothing = 0;
};
struct Greatest {
  static __device__ __forceinline__ float of(float a, float b) { return fmaxf(a, b); }
  static constexpr float nothing = -INFINITY;
};

// The total over the team, for all of its threads. All threads of the block call it. A team of more than a warp is the
// whole block; it uses 32 floats of shared memory, which no later call may use.
template <class Operation>
__device__ __forceinline__ float total_of_team(float value, uint32_t team, float* shared) {
  for (uint32_t lanes = (team < 32 ? team : 32) / 2; lanes > 0; lanes /= 2)
    value = Operation::of(value, __shfl_xor_sync(0xffffffffu, value, static_cast<int>(lanes)));
  if (team <= 32) return value;
  if (threadIdx.x % 32 == 0) shared[threadIdx.x / 32] = value;
  __syncthreads();
  value = threadIdx.x % 32 < team / 32 ? shared[threadIdx.x % 32] : Operation::nothing;
#pragma unroll
  for (int lanes = 16; lanes > 0; lanes /= 2) value = Operation::of(value, __shfl_xor_sync(0xffffffffu, value, lanes));
  return value;
}

// The sum of V values, pairwise.
template <uint32_t V>
__device__ __forceinline__ float pairwise_sum(float (&values)[V]) {
#pragma unroll
  for (uint32_t gap = 1; gap < V; gap *= 2) {
#pragma unroll
    for (uint32_t i = 0; i + gap < V; i += 2 * gap) values[i] += values[i + gap];
  }
  return values[0];
}

// The row of a thread, if it has one, and its place in the team.
struct OwnRow {
  uint64_t row;
  uint32_t lane;
  bool exists;
  __device__ explicit OwnRow(const RowParameters& p)
      : row(p.team > 32 ? blockIdx.x : thread_number() / p.team),
        lane(p.team > 32 ? threadIdx.x : threadIdx.x % p.team),
        exists(row < p.row_count) {}
};

// The vectors of a row that is held in registers.
template <class Item, uint32_t V, uint32_t N>
struct HeldRow {
  float at[N][V];

  // Vectors from `count` on are `absent`.
  __device__ __forceinline__ void load(const MemoryRow<const Item, V>& row, uint32_t lane, uint32_t team,
                                       uint32_t count, float absent) {
    Items<Item, V> loaded[N] = {};
    if (row.has_vectors) {
#pragma unroll
      for (uint32_t n = 0; n < N; ++n)
        if (lane + n * team < count) loaded[n] = row.load_whole(lane + n * team);
    } else {
#pragma unroll
      for (uint32_t n = 0; n < N; ++n)
        if (lane + n * team < count) loaded[n] = row.load_items(lane + n * team);
    }
#pragma unroll
    for (uint32_t n = 0; n < N; ++n)
#pragma unroll
      for (uint32_t i = 0; i < V; ++i) at[n][i] = lane + n * team < count ? to_float(loaded[n].at[i]) : absent;
  }
};

// ---- long rows, one for each block
// Vectors of a thread that are in flight in passes after the first: more would need too many registers.
template <class Item>
inline constexpr uint32_t later_batch = sizeof(Item) == 2 ? 1 : 2;

// The vectors of a row that a pass loads. `batch` loads are in flight.
template <class Item, uint32_t V, uint32_t kBatch>
struct WholeVectors {
  static constexpr uint32_t batch = kBatch;
  const MemoryRow<const Item, V>& row;
  __device__ __forceinline__ Items<Item, V> load(uint64_t vector) const { return row.load_whole(vector); }
};
template <class Item, uint32_t V>
struct SingleItems {
  static constexpr uint32_t batch = V == 1 ? 8 : 1;
  const MemoryRow<const Item, V>& row;
  __device__ __forceinline__ Items<Item, V> load(uint64_t vector) const { return row.load_items(vector); }
};
template <class Item, uint32_t V>
struct SharedVectors {
  static constexpr uint32_t batch = later_batch<Item>;
  const Items<Item, V>* vectors;
  __device__ __forceinline__ Items<Item, V> load(uint64_t vector) const { return vectors[vector]; }
};

// Calls use(vector, items) for the vectors of the thread, in order.
template <class Item, uint32_t V, class Source, class Use>
__device__ __forceinline__ void for_each_vector(const Source& source, uint64_t count, const Use& use) {
  constexpr uint32_t batch = Source::batch;
#pragma unroll 1
  for (uint64_t first = threadIdx.x; first < count; first += batch * blockDim.x) {
    Items<Item, V> loaded[batch] = {};
#pragma unroll
    for (uint32_t i = 0; i < batch; ++i)
      if (first + i * blockDim.x < count) loaded[i] = source.load(first + i * blockDim.x);
#pragma unroll
    for (uint32_t i = 0; i < batch; ++i)
      if (first + i * blockDim.x < count) use(first + i * blockDim.x, loaded[i]);
  }
}

// A row that several passes read: the first pass keeps it in shared memory, if that has room.
template <class Item, uint32_t V>
struct LongRow {
  MemoryRow<const Item, V> memory;
  Items<Item, V>* shared;  // null if there is no room
  uint64_t count;

  template <class Use>
  __device__ __forceinline__ void first_pass(const Use& use) const {
    pass_over_memory<4>([&](uint64_t vector, const Items<Item, V>& items) {
      if (shared != nullptr) shared[vector] = items;  // the thread that reads it later is this one
      use(vector, items);
    });
  }
  template <class Use>
  __device__ __forceinline__ void pass(const Use& use) const {
    if (shared != nullptr)
      for_each_vector<Item, V>(SharedVectors<Item, V>{shared}, count, use);
    else
      pass_over_memory<later_batch<Item>>(use);  // from the second-level cache, as a rule
  }

 private:
  template <uint32_t kBatch, class Use>
  __device__ __forceinline__ void pass_over_memory(const Use& use) const {
    if (V > 1 && memory.has_vectors)
      for_each_vector<Item, V>(WholeVectors<Item, V, kBatch>{memory}, count, use);
    else
      for_each_vector<Item, V>(SingleItems<Item, V>{memory}, count, use);
  }
};

}  // namespace ferrule::cuda
