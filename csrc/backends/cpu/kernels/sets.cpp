// The distinct elements of an array. Equal elements lie side by side once the array is sorted, so each run of them is
// counted and written. Only where indices are wanted, or elements have no key of 64 bits, indices are sorted instead of
// keys.
//
// The length of a run is never taken from memory that the owner of x may overwrite meanwhile.
#include "sorted_keys.h"
#include "sorted_order.h"
#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t chunk = 16384;

template <class F>
void with_set_type(DType dtype, F f) {
  if (dtype == DType::f8_e4m3fn) f(Float8E4M3{});
  if (dtype == DType::f8_e5m2) f(Float8E5M2{});
  with_complex_type(dtype, f);
  with_type(dtype, f);
}

// The outputs of a call; null: not one of them.
template <class T>
struct Outputs {
  T* values;
  int64_t *counts = nullptr, *indices = nullptr, *inverse = nullptr, *count;
  int64_t size;
  explicit Outputs(const Call& call)
      : values(reinterpret_cast<T*>(call.out[0].data)),
        count(integers(call, call.out_count - 1)),
        size(call.out[0].shape[0]) {}
  static int64_t* integers(const Call& call, uint32_t output) {
    return reinterpret_cast<int64_t*>(call.out[output].data);
  }
  // Fills the outputs behind the last distinct element.
  void finish(int64_t found) const {
    *count = found;
    if (found >= size) return;
    memset(static_cast<void*>(values + found), 0, static_cast<size_t>(size - found) * sizeof(T));
    for (int64_t* const output : {counts, indices})
      if (output != nullptr) memset(output + found, 0, static_cast<size_t>(size - found) * sizeof(int64_t));
  }
};

// The runs of equal elements among n sorted ones, found chunk by chunk.
struct Runs {
  int64_t n, chunks;
  uint8_t* begins;  // whether a run begins at each element
  int64_t* ranks;   // of each chunk: the number of runs before it; the last entry is the number of all
  int64_t* starts;  // of each chunk: where its first run begins, or the first run of those after it
  Runs(ScratchArena& scratch, int64_t length)
      : n(length),
        chunks(ceil_div(length, chunk)),
        begins(scratch.array<uint8_t>(length)),
        ranks(scratch.array<int64_t>(chunks + 1)),
        starts(scratch.array<int64_t>(chunks + 1)) {}
  int64_t first(int64_t number) const { return smaller(n, number * chunk); }
  int64_t count() const { return ranks[chunks]; }

  template <class Differs>  // whether elements i - 1 and i are not equal
  fe_error* find(const Call& call, Differs differs) const {
    fe_error* const error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        int64_t found = 0;
        for (int64_t i = first(k); i < first(k + 1); ++i) {
          begins[i] = i == 0 || differs(i);
          found += begins[i];
        }
        ranks[k + 1] = found;
        int64_t start = first(k);
        while (found > 0 && begins[start] == 0) ++start;
        starts[k] = found > 0 ? start : -1;
      }
    });
    if (error != nullptr) return error;
    ranks[0] = 0;
    for (int64_t k = 0; k < chunks; ++k) ranks[k + 1] += ranks[k];
    starts[chunks] = n;
    for (int64_t k = chunks; k-- > 0;)
      if (starts[k] < 0) starts[k] = starts[k + 1];
    return nullptr;
  }

  // Calls write(rank, start, end) for each of the first `limit` runs.
  template <class Write>
  fe_error* for_each(const Call& call, int64_t limit, Write write) const {
    return parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        int64_t rank = ranks[k], start = starts[k];
        const int64_t stop = starts[k + 1];
        while (start < stop && rank < limit) {
          int64_t next = start + 1;
          while (next < first(k + 1) && begins[next] == 0) ++next;
          if (next >= first(k + 1)) next = stop;  // the chunk's last run extends to the first one after it
          write(rank++, start, next);
          start = next;
        }
      }
    });
  }
};

template <class T>
bool differ(T a, T b) {
  const KeyOf<T> key = Keys<T>::of(a);
  return key != Keys<T>::of(b) || Keys<T>::is_nan(key);
}

// Sorts the elements and writes the first of each run.
template <class T>
fe_error* unique_by_keys(const Call& call, const Outputs<T>& out) {
  const T* const x = reinterpret_cast<const T*>(call.in[0].data);
  const int64_t n = call.in[0].shape[0];
  ScratchArena scratch(call.scratch);
  T* const sorted = scratch.array<T>(n);
  const Runs runs(scratch, n);
  fe_error* error = nullptr;
  using U = typename SortedAs<T>::Type;
  const U* const from = reinterpret_cast<const U*>(x);
  U* const to = reinterpret_cast<U*>(sorted);
  if (n <= longest_block) {
    sort_block_of_elements(from, n, SortedAs<T>::flip, to, KeyBlockMemory<U>(scratch, n));
  } else {
    LongKeyMemory<U> memory(scratch, n);
    error = sort_elements(call, from, n, SortedAs<T>::flip, to, memory);
  }
  if (error == nullptr) error = runs.find(call, [&](int64_t i) { return differ(sorted[i - 1], sorted[i]); });
  if (error == nullptr)
    error = runs.for_each(call, out.size, [&](int64_t rank, int64_t start, int64_t end) {
      out.values[rank] = sorted[start];
      if (out.counts != nullptr) out.counts[rank] = end - start;
    });
  out.finish(runs.count());
  return error;
}

// Sorts the indices of the elements.
template <class T>
fe_error* unique_by_order(const Call& call, const Outputs<T>& out) {
  using Source = KeyWords<T>;
  const T* const x = reinterpret_cast<const T*>(call.in[0].data);
  const int64_t n = call.in[0].shape[0];
  Source source{};
  source.x = x;
  ScratchArena scratch(call.scratch);
  uint64_t* const order = scratch.array<uint64_t>(n);
  uint64_t* const other = scratch.array<uint64_t>(n);
  const Runs runs(scratch, n);
  fe_error* error = nullptr;
  if (n <= longest_block) {
    order_block(source, n, order, other, scratch.array<uint32_t>(block_tables));
  } else {
    OrderMemory memory(scratch, n, stage_count<Source>);
    error = order_long(call, source, n, order, other, memory);
  }
  if (error == nullptr)
    error = runs.find(call, [&](int64_t i) {
      const int64_t a = index_in(order[i - 1]), b = index_in(order[i]);
      const uint64_t key = source.word(a, 0);
      if (Source::is_nan(key) || key != source.word(b, 0)) return true;
      return Source::words == 2 && source.word(a, 1) != source.word(b, 1);
    });
  if (error == nullptr)
    error = runs.for_each(call, out.size, [&](int64_t rank, int64_t start, int64_t end) {
      const int64_t index = index_in(order[start]);
      out.values[rank] = x[index];
      if (out.indices != nullptr) out.indices[rank] = index;
      if (out.counts != nullptr) out.counts[rank] = end - start;
    });
  if (error == nullptr && out.inverse != nullptr)
    error = parallel(call, runs.chunks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t k = begin; k < end; ++k) {
        int64_t rank = runs.ranks[k] - 1;
        for (int64_t i = runs.first(k); i < runs.first(k + 1); ++i) {
          rank += runs.begins[i];
          out.inverse[index_in(order[i])] = rank;
        }
      }
    });
  out.finish(runs.count());
  return error;
}

template <class T>
uint64_t scratch_by_order(int64_t n) {
  ScratchArena scratch(nullptr);
  scratch.array<uint64_t>(2 * round_up(n, 8));
  const Runs runs(scratch, n);
  if (n <= longest_block)
    scratch.array<uint32_t>(block_tables);
  else
    const OrderMemory memory(scratch, n, stage_count<KeyWords<T>>);
  return scratch.bytes();
}
template <class T>
uint64_t scratch_by_keys(int64_t n) {
  ScratchArena scratch(nullptr);
  scratch.array<T>(n);
  const Runs runs(scratch, n);
  if (n <= longest_block)
    const KeyBlockMemory<T> memory(scratch, n);
  else
    const LongKeyMemory<T> memory(scratch, n);
  return scratch.bytes();
}

template <class T>
constexpr bool has_key = !is_complex<T>;

template <bool by_order>
uint64_t scratch_size(const Call& call) {
  uint64_t bytes = 0;
  with_set_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (by_order || !has_key<T>)
      bytes = scratch_by_order<T>(call.in[0].shape[0]);
    else
      bytes = scratch_by_keys<T>(call.in[0].shape[0]);
  });
  return bytes;
}
LocalScratch local_scratch(const Call& call) {
  if (call.in[0].shape[0] <= longest_block) return {};
  return {block_tables * sizeof(uint32_t), INT32_MAX};
}

// Computes the elements, and their counts if those are an output, without indices.
fe_error* unique_elements(const Call& call) {
  fe_error* error = nullptr;
  with_set_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Outputs<T> out(call);
    if (call.out_count == 3) out.counts = Outputs<T>::integers(call, 1);
    if constexpr (has_key<T>)
      error = unique_by_keys(call, out);
    else
      error = unique_by_order(call, out);
  });
  return error;
}

bool accepts_outputs(const Call& call, uint32_t count, uint32_t bounded, bool inverse) {
  const Operand& x = call.in[0];
  if (x.rank != 1 || x.shape[0] >= most_indices || call.out_count != count || call.out[0].dtype != x.dtype)
    return false;
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& out = call.out[i];
    if (i > 0 && out.dtype != DType::i64) return false;
    if (out.rank != (i + 1 == count ? 0 : 1)) return false;
    if (i < bounded && out.shape[0] != call.out[0].shape[0]) return false;
    if (inverse && i + 2 == count && out.shape[0] != x.shape[0]) return false;
  }
  bool is_known = false;
  with_set_type(x.dtype, [&](auto) { is_known = true; });
  return is_known;
}
bool accepts_unique_values(const Call& call) { return accepts_outputs(call, 2, 1, false); }
bool accepts_unique_counts(const Call& call) { return accepts_outputs(call, 3, 2, false); }
bool accepts_unique_inverse(const Call& call) { return accepts_outputs(call, 3, 1, true); }
bool accepts_unique_all(const Call& call) { return accepts_outputs(call, 5, 3, true); }

}  // namespace

KERNEL(unique_values, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_unique_values,
       .scratch_size = scratch_size<false>, .local_scratch = local_scratch) {
  return unique_elements(call);
}

KERNEL(unique_counts, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_unique_counts,
       .scratch_size = scratch_size<false>, .local_scratch = local_scratch) {
  return unique_elements(call);
}

KERNEL(unique_inverse, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_unique_inverse,
       .scratch_size = scratch_size<true>, .local_scratch = local_scratch) {
  fe_error* error = nullptr;
  with_set_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Outputs<T> out(call);
    out.inverse = Outputs<T>::integers(call, 1);
    error = unique_by_order(call, out);
  });
  return error;
}

KERNEL(unique_all, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_unique_all, .scratch_size = scratch_size<true>,
       .local_scratch = local_scratch) {
  fe_error* error = nullptr;
  with_set_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    Outputs<T> out(call);
    out.indices = Outputs<T>::integers(call, 1);
    out.counts = Outputs<T>::integers(call, 2);
    out.inverse = Outputs<T>::integers(call, 3);
    error = unique_by_order(call, out);
  });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
