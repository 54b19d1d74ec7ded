// Sorting along the last axis. The keys of the elements are sorted, or indices that are packed behind keys, so the
// result depends neither on the algorithm nor on threads.
#include "../op_attributes.h"
#include "../sorted_keys.h"
#include "../sorted_order.h"
#include "../strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// The rows along the last axis of a contiguous operand. Each row is sorted by all threads, or by one if it is short.
struct Rows {
  int64_t length, count, grain;
  explicit Rows(const Operand& x)
      : length(x.shape[x.rank - 1]),
        count(length == 0 ? 0 : count_of(x) / length),
        grain(larger(1, 4096 / larger(1, length))) {}
  // Several rows are better sorted side by side, unless they are much larger than a cache.
  bool are_long() const { return length > (count < 4 ? longest_block : 8 * longest_block); }
  int64_t threads() const { return are_long() ? INT32_MAX : ceil_div(count, grain); }
};

template <class T>
KeyOf<T> flip_of(bool descending) {
  return static_cast<KeyOf<T>>((descending ? ~KeyOf<T>{0} : KeyOf<T>{0}) ^ SortedAs<T>::flip);
}

template <class T>
fe_error* sort(const Call& call, KeyOf<T> flip) {
  const Rows rows(call.in[0]);
  const T* const x = reinterpret_cast<const T*>(call.in[0].data);
  T* const y = reinterpret_cast<T*>(call.out[0].data);
  if (!rows.are_long())
    return parallel_with_local(call, rows.count, rows.grain, [&](int64_t begin, int64_t end, char* local) {
      ScratchArena scratch(local);
      const KeyBlockMemory<T> memory(scratch, rows.length);
      for (int64_t i = begin; i < end; ++i)
        sort_block_of_elements(x + i * rows.length, rows.length, flip, y + i * rows.length, memory);
      return static_cast<fe_error*>(nullptr);
    });
  ScratchArena scratch(call.scratch);
  LongKeyMemory<T> memory(scratch, rows.length);
  for (int64_t i = 0; i < rows.count; ++i)
    if (fe_error* const error =
            sort_elements(call, x + i * rows.length, rows.length, flip, y + i * rows.length, memory))
      return error;
  return nullptr;
}

template <class T>
fe_error* argsort(const Call& call, KeyOf<T> flip) {
  const Rows rows(call.in[0]);
  const T* const x = reinterpret_cast<const T*>(call.in[0].data);
  int64_t* const y = reinterpret_cast<int64_t*>(call.out[0].data);
  if (!rows.are_long())
    return parallel_with_local(call, rows.count, rows.grain, [&](int64_t begin, int64_t end, char* local) {
      ScratchArena scratch(local);
      uint32_t* const tables = scratch.array<uint32_t>(block_tables);
      uint64_t* const a = scratch.array<uint64_t>(rows.length);
      uint64_t* const b = scratch.array<uint64_t>(rows.length);
      for (int64_t i = begin; i < end; ++i) {
        order_block(KeyWords<T>{x + i * rows.length, flip}, rows.length, a, b, tables);
        for (int64_t k = 0; k < rows.length; ++k) y[i * rows.length + k] = index_in(a[k]);
      }
      return static_cast<fe_error*>(nullptr);
    });
  ScratchArena scratch(call.scratch);
  uint64_t* const other = scratch.array<uint64_t>(rows.length);
  OrderMemory memory(scratch, rows.length, stage_count<KeyWords<T>>);
  for (int64_t i = 0; i < rows.count; ++i) {
    int64_t* const row = y + i * rows.length;
    fe_error* error = order_long(call, KeyWords<T>{x + i * rows.length, flip}, rows.length,
                                 reinterpret_cast<uint64_t*>(row), other, memory);
    if (error == nullptr)
      error = parallel(call, rows.length, Parts::least, [&](int64_t begin, int64_t end) {
        for (int64_t k = begin; k < end; ++k) row[k] &= 0xffffffff;
      });
    if (error != nullptr) return error;
  }
  return nullptr;
}

uint64_t sort_scratch(const Call& call) {
  const Rows rows(call.in[0]);
  uint64_t bytes = 0;
  if (rows.are_long())
    with_type(call.in[0].dtype, [&](auto zero) {
      ScratchArena scratch(nullptr);
      const LongKeyMemory<decltype(zero)> memory(scratch, rows.length);
      bytes = scratch.bytes();
    });
  return bytes;
}
LocalScratch sort_local(const Call& call) {
  const Rows rows(call.in[0]);
  ScratchArena scratch(nullptr);
  if (rows.are_long())
    scratch.array<uint32_t>(block_tables);
  else
    with_type(call.in[0].dtype, [&](auto zero) { const KeyBlockMemory<decltype(zero)> memory(scratch, rows.length); });
  return {scratch.bytes(), rows.threads()};
}

uint64_t argsort_scratch(const Call& call) {
  const Rows rows(call.in[0]);
  if (!rows.are_long()) return 0;
  ScratchArena scratch(nullptr);
  scratch.array<uint64_t>(rows.length);
  const OrderMemory memory(scratch, rows.length, 2);
  return scratch.bytes();
}
LocalScratch argsort_local(const Call& call) {
  const Rows rows(call.in[0]);
  ScratchArena scratch(nullptr);
  scratch.array<uint32_t>(block_tables);
  if (!rows.are_long()) {
    scratch.array<uint64_t>(rows.length);
    scratch.array<uint64_t>(rows.length);
  }
  return {scratch.bytes(), rows.threads()};
}

bool accepts(const Call& call) {
  const Operand &x = call.in[0], &y = call.out[0];
  if (call.out_count != 1 || x.rank == 0 || y.rank != x.rank || x.shape[x.rank - 1] >= most_indices) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (y.shape[axis] != x.shape[axis]) return false;
  bool is_known = false;
  with_type(x.dtype, [&](auto) { is_known = true; });
  return is_known;
}
bool accepts_sort(const Call& call) { return accepts(call) && call.out[0].dtype == call.in[0].dtype; }
bool accepts_argsort(const Call& call) { return accepts(call) && call.out[0].dtype == DType::i64; }

}  // namespace

KERNEL(sort, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_sort, .scratch_size = sort_scratch,
       .local_scratch = sort_local) {
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    error = sort<typename SortedAs<T>::Type>(call, flip_of<T>(attributes_of<fe_sort_attributes>(call).descending != 0));
  });
  return error;
}

KERNEL(argsort, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_argsort, .scratch_size = argsort_scratch,
       .local_scratch = argsort_local) {
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) {
    using T = decltype(zero);
    error = argsort<typename SortedAs<T>::Type>(call,
                                                flip_of<T>(attributes_of<fe_argsort_attributes>(call).descending != 0));
  });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
