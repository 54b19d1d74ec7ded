// argmax and argmin: the index of the first extreme; the first NaN, if there is one.
#include "../cancellation.h"
#include "../op_attributes.h"
#include "../reduction_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

static_assert(sizeof(fe_argmax_attributes) == sizeof(fe_argmin_attributes));

// True if b replaces an earlier a. NaN is more extreme than anything but an earlier NaN.
template <class Op, class T>
HWY_INLINE bool replaces(T a, T b) {
  if (a != a) return false;
  if (b != b) return true;
  return __is_same(Op, Max) ? b > a : b < a;
}

// Finds the extreme of each block with vectors, and its index only if it replaces the best so far. The owner of
// borrowed memory may write to it meanwhile: if the extreme is no longer there, the index of the block's last element
// is used.
template <class Op, class T>
fe_error* extreme_index(const Call& call, Source<T>& source, const Nest& reduced, int64_t at, int64_t length,
                        const BlockBuffers<T>& buffers, int64_t& index) {
  using Value = Computed<T>;
  Value best{};
  index = -1;
  for (int64_t first = 0; first < length; first += block_elements) {
    if (first % (256 * block_elements) == 0 && first > 0)
      if (fe_error* const error = cancelled(call)) return error;
    const int64_t n = smaller(block_elements, length - first);
    const Value* block = block_of(source, reduced, at, first, n, at + length, buffers);
    const Value extreme = reduce_block<Op, Value>(block, n);
    if (index >= 0 && !replaces<Op>(best, extreme)) continue;
    int64_t i = 0;
    if (extreme == extreme)
      while (i < n - 1 && block[i] != extreme) ++i;
    else
      while (i < n - 1 && block[i] == block[i]) ++i;
    best = extreme;
    index = first + i;
  }
  return nullptr;
}

constexpr int64_t together = 64;

struct Search {
  Split dims;
  int64_t outputs, length, grain;
  bool is_together;  // several outputs are found at once: lines are short, or lie side by side
  explicit Search(const Call& call)
      : dims(split(call.in[0], uint32_t{1} << attributes_of<fe_argmax_attributes>(call).axis)),
        outputs(dims.kept.count()),
        length(dims.reduced.count()),
        grain(larger(1, 16384 / larger(1, length))) {
    const int32_t last = dims.kept.rank - 1;
    const bool lie_side_by_side = last >= 0 && dims.kept.strides[last] == 1 && dims.kept.shape[last] >= 8;
    is_together = length <= INT32_MAX && (length <= together || lie_side_by_side);
    if (is_together) grain = larger(grain, together);
  }
};

// Finds up to `together` outputs from number `first` on, element by element of their lines; returns how many.
template <class Op, class T>
int64_t extreme_indices(const Search& search, const T* x, int64_t first, int64_t end, int64_t* out) {
  const Nest &kept = search.dims.kept, &reduced = search.dims.reduced;
  const int64_t step = reduced.rank > 0 ? reduced.strides[0] : 0, length = search.length;
  const int32_t last = kept.rank - 1;
  const int64_t row = last < 0 ? 1 : kept.shape[last], stride = last < 0 ? 0 : kept.strides[last];
  const int64_t count = smaller(smaller(together, end - first), row - first % row);
  const T* from = x + kept.offset(first);
  T best[together];
  int32_t index[together];
  for (int64_t j = 0; j < count; ++j) {
    best[j] = from[j * stride];
    index[j] = 0;
  }
  const auto look = [&](int64_t k, int64_t apart) HWY_ATTR {
    for (int64_t j = 0; j < count; ++j) {
      const T value = from[j * apart];
      const bool is_better = replaces<Op>(best[j], value);
      best[j] = is_better ? value : best[j];
      index[j] = is_better ? static_cast<int32_t>(k) : index[j];
    }
  };
  for (int64_t k = 1; k < length; ++k) {
    from += step;
    if (stride == 1)
      look(k, 1);
    else
      look(k, stride);
  }
  for (int64_t j = 0; j < count; ++j) out[first + j] = index[j];
  return count;
}

template <class Op, class T>
fe_error* find(const Call& call) {
  const Search search(call);
  const T* x = reinterpret_cast<const T*>(call.in[0].data);
  int64_t* out = reinterpret_cast<int64_t*>(call.out[0].data);
  if (search.length == 0 && search.outputs > 0)
    return call.host->error_create(FE_INVALID_ARGUMENT, "argmax, argmin: no elements to choose from");
  if constexpr (__is_same(Computed<T>, T)) {
    if (search.is_together)
      return parallel(call, search.outputs, search.grain, [&](int64_t begin, int64_t end) -> fe_error* {
        const int64_t blocks = larger(1, (int64_t{1} << 22) / (together * search.length));  // some milliseconds
        for (int64_t i = begin, block = 0; i < end; ++block) {
          if (block % blocks == blocks - 1)
            if (fe_error* const error = cancelled(call)) return error;
          i += extreme_indices<Op>(search, x, i, end, out);
        }
        return nullptr;
      });
  }
  return parallel_with_local(call, search.outputs, search.grain, [&](int64_t begin, int64_t end, char* local) {
    ScratchArena scratch(local);
    Source<T> source(call, scratch, local);
    const BlockBuffers<T> buffers(scratch, search.dims.reduced);
    fe_error* error = nullptr;
    for (int64_t i = begin; i < end && error == nullptr; ++i)
      error = extreme_index<Op, T>(call, source, search.dims.reduced, search.dims.kept.offset(i), search.length,
                                   buffers, out[i]);
    return error;
  });
}

template <class Op>
fe_error* find_in(const Call& call) {
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) { error = find<Op, decltype(zero)>(call); });
  return error;
}
LocalScratch local_scratch(const Call& call) {
  const Search search(call);
  ScratchArena scratch(nullptr);
  with_type(call.in[0].dtype,
            [&](auto zero) { const BlockBuffers<decltype(zero)> buffers(scratch, search.dims.reduced); });
  return {scratch.bytes(), ceil_div(search.outputs, search.grain)};
}
bool accepts(const Call& call) {
  bool is_known = false;
  with_type(call.in[0].dtype, [&](auto) { is_known = true; });
  return is_known && call.out[0].dtype == DType::i64;
}

}  // namespace

KERNEL(argmax, .accepts = accepts, .local_scratch = local_scratch) { return find_in<Max>(call); }
KERNEL(argmin, .accepts = accepts, .local_scratch = local_scratch) { return find_in<Min>(call); }

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
