// Elements at indices along an axis. Negative indices count from the end. An index out of bounds is an error.
#include "../strided_copy.h"
#include "../op_attributes.h"
#include "../quantized_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Finds indices out of bounds while elements are taken. Where there is one, element 0 is taken instead, and the result
// is an error: that of the first of them, whichever thread found one.
template <class I>
class CheckedIndices {
 public:
  CheckedIndices(const Call& call, const char* op, int64_t axis)
      : call_(call),
        op_(op),
        axis_(axis),
        size_(call.in[0].shape[axis]),
        count_(count_of(call.in[1])),
        indices_(reinterpret_cast<const I*>(call.in[1].data)) {}

  // Calls take(begin, end, any_wrong) for ranges of [0, n), and returns an error if an index was wrong.
  template <class Take>
  fe_error* parallel_take(int64_t n, int64_t grain, Take take) {
    if (n > 0 && size_ == 0) return first_error();
    fe_error* const error = parallel(call_, n, grain, [&](int64_t begin, int64_t end) {
      bool any_wrong = false;
      take(begin, end, any_wrong);
      if (any_wrong) __atomic_store_n(&is_wrong_, true, __ATOMIC_RELAXED);
    });
    return error == nullptr && __atomic_load_n(&is_wrong_, __ATOMIC_RELAXED) ? first_error() : error;
  }

  // The element at place i. Reads the index exactly once, so that the value that is checked is the one that is used.
  HWY_INLINE int64_t at(int64_t i, bool& any_wrong) const {
    const int64_t given = static_cast<const volatile I&>(indices_[i]), place = given + (given < 0 ? size_ : 0);
    const bool is_within = static_cast<uint64_t>(place) < static_cast<uint64_t>(size_);
    any_wrong |= !is_within;
    return is_within ? place : 0;
  }

 private:
  fe_error* first_error() const {
    int64_t index = indices_[0];
    for (int64_t i = 0; i < count_; ++i)
      if (const int64_t given = indices_[i]; given < -size_ || given >= size_) {
        index = given;
        break;
      }
    char message[160];
    snprintf(message, sizeof message, "%s: index %lld is out of bounds for axis %lld with size %lld", op_,
             static_cast<long long>(index), static_cast<long long>(axis_), static_cast<long long>(size_));
    return call_.host->error_create(FE_INVALID_ARGUMENT, message);
  }

  const Call& call_;
  const char* op_;
  int64_t axis_, size_, count_;
  const I* indices_;
  bool is_wrong_ = false;
};

// Takes single elements: x is [outer][size], and the result [outer][count]. Each row has its own indices, or all have
// the same.
template <class T, class I>
fe_error* take_elements(const Call& call, CheckedIndices<I>& indices, int64_t outer, int64_t size, int64_t count,
                        bool own_indices) {
  const T* const x = reinterpret_cast<const T*>(call.in[0].data);
  T* const y = reinterpret_cast<T*>(call.out[0].data);
  return indices.parallel_take(outer * count, 8192, [&](int64_t begin, int64_t end, bool& any_wrong) {
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / count, place = i % count, width = smaller(end - i, count - place);
      const T* const from = x + row * size;
      const int64_t first = own_indices ? i : place;
      // Many elements are on their way from memory at the same time.
      constexpr int64_t together = 64;
      const T* places[together];
      for (int64_t k = 0; k < width; k += together) {
        const int64_t some = smaller(together, width - k);
        for (int64_t j = 0; j < some; ++j) {
          places[j] = from + indices.at(first + k + j, any_wrong);
          __builtin_prefetch(places[j]);
        }
        for (int64_t j = 0; j < some; ++j) y[i + k + j] = *places[j];
      }
      i += width;
    }
  });
}

// `elements`: of an item, which is an element or a block.
template <class I>
fe_error* take(const Call& call, int64_t elements) {
  const Operand& x = call.in[0];
  const int64_t axis = attributes_of<fe_take_attributes>(call).axis, size = x.shape[axis];
  const int64_t count = count_of(call.in[1]);
  // x as [outer][axis][inner]; a row of inner elements is moved as one item.
  int64_t outer = 1, inner = 1;
  for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  const int64_t item = x.item_size, row = inner / elements * item;
  if (outer == 0 || inner == 0) return nullptr;
  CheckedIndices<I> indices(call, "take", axis);
  if (inner == 1) {
    fe_error* error = nullptr;
    with_item(static_cast<size_t>(item),
              [&](auto zero) { error = take_elements<decltype(zero)>(call, indices, outer, size, count, false); });
    return error;
  }
  const int64_t grain = larger(1, 32768 / row);
  return indices.parallel_take(outer * count, grain, [&](int64_t begin, int64_t end, bool& any_wrong) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = indices.at(i % count, any_wrong);
      memcpy(call.out[0].data + i * row, x.data + (i / count * size + at) * row, static_cast<size_t>(row));
    }
  });
}

fe_error* take_items(const Call& call, int64_t elements) {
  return call.in[1].dtype == DType::i32 ? take<int32_t>(call, elements) : take<int64_t>(call, elements);
}

bool accepts(const Call& call) {
  return call.in[0].dtype == call.out[0].dtype && (call.in[1].dtype == DType::i32 || call.in[1].dtype == DType::i64);
}

// x as [outer][size][inner] and the indices as [outer][count][inner].
template <class T, class I>
fe_error* take_along_axis(const Call& call) {
  const Operand& x = call.in[0];
  const int64_t axis = attributes_of<fe_take_along_axis_attributes>(call).axis;
  const int64_t size = x.shape[axis], count = call.in[1].shape[axis], total = count_of(call.in[1]);
  int64_t inner = 1;
  for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  CheckedIndices<I> indices(call, "take_along_axis", axis);
  if (total == 0) return nullptr;
  if (inner == 1) return take_elements<T>(call, indices, total / count, size, count, true);
  const T* const from = reinterpret_cast<const T*>(x.data);
  T* const to = reinterpret_cast<T*>(call.out[0].data);
  return indices.parallel_take(total, 8192, [&](int64_t begin, int64_t end, bool& any_wrong) {
    // [outer * count] rows of `inner` elements; a range may begin and end inside a row.
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / inner, first = i % inner, width = smaller(end - i, inner - first);
      const T* const plane = from + row / count * size * inner + first;
      for (int64_t k = 0; k < width; ++k) to[i + k] = plane[indices.at(i + k, any_wrong) * inner + k];
      i += width;
    }
  });
}

bool accepts_along_axis(const Call& call) {
  const Operand &x = call.in[0], &indices = call.in[1], &out = call.out[0];
  const int64_t along = attributes_of<fe_take_along_axis_attributes>(call).axis;
  if (!accepts(call) || indices.rank != x.rank || out.rank != x.rank) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (out.shape[axis] != indices.shape[axis] || (axis != along && indices.shape[axis] != x.shape[axis])) return false;
  return true;
}

}  // namespace

KERNEL(take_along_axis, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_along_axis) {
  fe_error* error = nullptr;
  with_item(call.in[0].item_size, [&](auto zero) {
    using T = decltype(zero);
    error = call.in[1].dtype == DType::i32 ? take_along_axis<T, int32_t>(call) : take_along_axis<T, int64_t>(call);
  });
  return error;
}

KERNEL(take, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts) {
  return take_items(call, 1);
}

KERNEL(take_blocks, .op = "take", .dtypes = block_dtypes, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS},
       .accepts = accepts) {
  return with_block(call.in[0].dtype, [&](auto block) { return take_items(call, decltype(block)::elements); });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
