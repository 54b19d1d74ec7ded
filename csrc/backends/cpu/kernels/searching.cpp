// Binary search of many elements in a sorted array. Several searches take each step together, so that their loads from
// memory overlap. A step has no branch: which half is searched next is arithmetic on the result of a comparison.
#include "op_attributes.h"
#include "sort_keys.h"
#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t together = 16;

// Writes the number of elements of `sorted` below each of `together` keys, or not above it.
template <bool or_equal, class S>
HWY_INLINE void search(const S* sorted, int64_t n, const KeyOf<S>* keys, int64_t* found) {
  const S* first[together];
  for (int64_t k = 0; k < together; ++k) first[k] = sorted;
  while (n > 1) {
    const int64_t half = n / 2;
    for (int64_t k = 0; k < together; ++k) {
      const KeyOf<S> key = Keys<S>::of(first[k][half - 1]);
      first[k] += half & -static_cast<int64_t>(or_equal ? key <= keys[k] : key < keys[k]);
    }
    n -= half;
  }
  for (int64_t k = 0; k < together; ++k) {
    const KeyOf<S> key = Keys<S>::of(*first[k]);
    found[k] = first[k] - sorted + (or_equal ? key <= keys[k] : key < keys[k]);
  }
}

// The type S is T, or that of T's keys: unsigned integers, whose keys are themselves.
template <bool or_equal, class S, class T>
void search_all(const S* sorted, int64_t n, const T* wanted, int64_t count, int64_t* found) {
  KeyOf<T> keys[together];
  int64_t last[together];
  for (int64_t i = 0; i < count; i += together) {
    const int64_t width = smaller(together, count - i);
    for (int64_t k = 0; k < together; ++k) keys[k] = Keys<T>::of(wanted[i + smaller(k, width - 1)]);
    search<or_equal>(sorted, n, keys, width == together ? found + i : last);
    if (width < together) memcpy(found + i, last, static_cast<size_t>(width) * sizeof(int64_t));
  }
}

// Whether the sorted elements are converted to keys once, instead of in each step of each search.
bool has_keys(const Call& call) { return call.in[0].shape[0] <= count_of(call.in[1]) / 8; }
uint64_t scratch_size(const Call& call) {
  return has_keys(call) ? static_cast<uint64_t>(call.in[0].shape[0]) * sizeof(uint64_t) : 0;
}

template <class T>
fe_error* searchsorted(const Call& call) {
  const Operand &x1 = call.in[0], &x2 = call.in[1];
  const T* const sorted = reinterpret_cast<const T*>(x1.data);
  const T* const wanted = reinterpret_cast<const T*>(x2.data);
  int64_t* const found = reinterpret_cast<int64_t*>(call.out[0].data);
  const int64_t n = x1.shape[0], count = count_of(x2);
  if (n == 0) {
    memset(found, 0, static_cast<size_t>(count) * sizeof(int64_t));
    return nullptr;
  }
  const bool is_right = attributes_of<fe_searchsorted_attributes>(call).side[0] == 'r';
  const auto search_in = [&](const auto* in) {
    return parallel(call, count, 2048, [&](int64_t begin, int64_t end) {
      if (is_right)
        search_all<true>(in, n, wanted + begin, end - begin, found + begin);
      else
        search_all<false>(in, n, wanted + begin, end - begin, found + begin);
    });
  };
  if (!has_keys(call)) return search_in(sorted);
  auto* const keys = reinterpret_cast<KeyOf<T>*>(call.scratch);
  for (int64_t i = 0; i < n; ++i) keys[i] = Keys<T>::of(sorted[i]);
  return search_in(keys);
}

bool accepts(const Call& call) {
  const Operand &x1 = call.in[0], &x2 = call.in[1], &out = call.out[0];
  if (x1.rank != 1 || x2.dtype != x1.dtype || out.dtype != DType::i64 || out.rank != x2.rank) return false;
  for (int32_t axis = 0; axis < x2.rank; ++axis)
    if (out.shape[axis] != x2.shape[axis]) return false;
  bool is_known = false;
  with_type(x1.dtype, [&](auto) { is_known = true; });
  return is_known;
}

}  // namespace

KERNEL(searchsorted, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts,
       .scratch_size = scratch_size, .string_attributes = {offsetof(fe_searchsorted_attributes, side)}) {
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) { error = searchsorted<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
