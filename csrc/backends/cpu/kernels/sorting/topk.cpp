// The k greatest or least elements along an axis, sorted.
//
// An element's key is an integer with the order of the elements: NaN has the greatest key, and both zeros have the
// same. A heap holds the best k elements so far with the worst of them on top, so that nearly all others cost one
// comparison. If there are few long rows, they are cut into parts, whose best k elements are then the candidates of the
// row. Keys and indices order all elements, so the result depends neither on parts nor on threads.
#include "../cancellation.h"
#include "../op_attributes.h"
#include "../sort_keys.h"
#include "../strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

template <class Key>
struct Entry {
  Key key;
  int64_t index;
  // The later of two elements with equal keys is worse.
  HWY_INLINE bool is_worse_than(const Entry& other) const {
    return key != other.key ? key < other.key : index > other.index;
  }
};

// Entry 0 is the worst. No entry is better than its children, 2 i + 1 and 2 i + 2.
template <class Key>
void sift(Entry<Key>* heap, int64_t count, int64_t at) {
  const Entry<Key> moved = heap[at];
  for (;;) {
    int64_t below = 2 * at + 1;
    if (below >= count) break;
    if (below + 1 < count && heap[below + 1].is_worse_than(heap[below])) ++below;
    if (!heap[below].is_worse_than(moved)) break;
    heap[at] = heap[below];
    at = below;
  }
  heap[at] = moved;
}
// Asks now and then whether the caller cancels: sifting through a heap larger than the cache takes long.
class Patience {
 public:
  explicit Patience(const Call& call) : call_(call) {}
  HWY_INLINE fe_error* after_sift() { return ++sifts_ % 4096 == 0 ? cancelled(call_) : nullptr; }

 private:
  const Call& call_;
  uint64_t sifts_ = 0;
};

template <class Key>
fe_error* make_heap(Entry<Key>* heap, int64_t count, Patience& patience) {
  for (int64_t i = count / 2; i-- > 0;) {
    sift(heap, count, i);
    if (fe_error* const error = patience.after_sift()) return error;
  }
  return nullptr;
}
// Sorts the heap, best first.
template <class Key>
fe_error* sort_heap(Entry<Key>* heap, int64_t count, Patience& patience) {
  for (int64_t last = count - 1; last > 0; --last) {
    const Entry<Key> worst = heap[0];
    heap[0] = heap[last];
    heap[last] = worst;
    sift(heap, last, 0);
    if (fe_error* const error = patience.after_sift()) return error;
  }
  return nullptr;
}

// One row: `length` elements, `stride` apart.
template <class T>
struct Row {
  using Key = KeyOf<T>;
  const T* data;
  int64_t stride;
  Key flip;  // all bits set, if the least are wanted
  HWY_INLINE Key key(int64_t i) const { return static_cast<Key>(Keys<T>::of(data[i * stride]) ^ flip); }

  bool any_above(Key threshold, int64_t first, int64_t count) const {
    bool any = false;
    for (int64_t i = 0; i < count; ++i) any |= static_cast<Key>(Keys<T>::of(data[first + i]) ^ flip) > threshold;
    return any;
  }

  // Makes a heap of the best k elements of [first, end); there must be at least k.
  fe_error* collect(int64_t first, int64_t end, Entry<Key>* heap, int64_t k, Patience& patience) const {
    constexpr int64_t run = 64;  // nearly always, none of these elements enters the heap
    for (int64_t i = 0; i < k; ++i) heap[i] = {key(first + i), first + i};
    if (fe_error* const error = make_heap(heap, k, patience)) return error;
    for (int64_t i = first + k; i < end;) {
      const int64_t n = smaller(run, end - i);
      if (stride == 1 && !any_above(heap[0].key, i, n)) {
        i += n;
        continue;
      }
      for (const int64_t stop = i + n; i < stop; ++i) {
        const Entry<Key> entry{key(i), i};
        if (entry.key <= heap[0].key) continue;
        heap[0] = entry;
        sift(heap, k, 0);
        if (fe_error* const error = patience.after_sift()) return error;
      }
    }
    return nullptr;
  }
};

struct Search {
  int64_t k, length, stride, inner, rows, parts, grain;
  Nest kept;
  explicit Search(const Call& call) {
    const auto& attributes = attributes_of<fe_topk_attributes>(call);
    const Operand& x = call.in[0];
    k = attributes.k;
    length = x.shape[attributes.axis];
    stride = x.strides[attributes.axis];
    kept = split(x, uint32_t{1} << attributes.axis).kept;
    inner = 1;
    for (int32_t i = static_cast<int32_t>(attributes.axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
    rows = kept.count();
    parts = rows >= 16 ? 1 : larger(1, smaller(16, length / larger(16384, 4 * k)));
    grain = larger(1, 16384 / larger(1, length));
  }
  int64_t first_of(int64_t part) const { return length / parts * part + smaller(part, length % parts); }
  int64_t place_of(int64_t row) const { return row / inner * k * inner + row % inner; }
};

template <class T>
void write(const Call& call, const Search& search, const Row<T>& row, int64_t number,
           const Entry<typename Row<T>::Key>* sorted) {
  T* const values = reinterpret_cast<T*>(call.out[0].data) + search.place_of(number);
  int64_t* const indices = reinterpret_cast<int64_t*>(call.out[1].data) + search.place_of(number);
  for (int64_t i = 0; i < search.k; ++i) {
    values[i * search.inner] = row.data[sorted[i].index * search.stride];
    indices[i * search.inner] = sorted[i].index;
  }
}

template <class T>
fe_error* topk(const Call& call) {
  using Key = typename Row<T>::Key;
  const Search search(call);
  const Key flip = attributes_of<fe_topk_attributes>(call).largest != 0 ? Key{0} : static_cast<Key>(~Key{0});
  const auto row_of = [&](int64_t number) {
    return Row<T>{reinterpret_cast<const T*>(call.in[0].data) + search.kept.offset(number), search.stride, flip};
  };
  const int64_t k = search.k;
  if (search.parts == 1)
    return parallel_with_local(call, search.rows, search.grain, [&](int64_t begin, int64_t end, char* local) {
      auto* const heap = reinterpret_cast<Entry<Key>*>(local);
      Patience patience(call);
      for (int64_t i = begin; i < end; ++i) {
        const Row<T> row = row_of(i);
        if (fe_error* const error = row.collect(0, search.length, heap, k, patience)) return error;
        if (fe_error* const error = sort_heap(heap, k, patience)) return error;
        write(call, search, row, i, heap);
      }
      return static_cast<fe_error*>(nullptr);
    });
  auto* const heaps = reinterpret_cast<Entry<Key>*>(call.scratch);
  fe_error* const error = parallel(call, search.rows * search.parts, 1, [&](int64_t begin, int64_t end) {
    Patience patience(call);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t part = i % search.parts, first = search.first_of(part), last = search.first_of(part + 1);
      if (fe_error* const error = row_of(i / search.parts).collect(first, last, heaps + i * k, k, patience))
        return error;
    }
    return static_cast<fe_error*>(nullptr);
  });
  if (error != nullptr) return error;
  return parallel(call, search.rows, 1, [&](int64_t begin, int64_t end) {
    Patience patience(call);
    for (int64_t i = begin; i < end; ++i) {
      Entry<Key>* const heap = heaps + i * search.parts * k;
      for (const Entry<Key>* other = heap + k; other < heap + search.parts * k; ++other) {
        if (!heap[0].is_worse_than(*other)) continue;
        heap[0] = *other;
        sift(heap, k, 0);
        if (fe_error* const error = patience.after_sift()) return error;
      }
      if (fe_error* const error = sort_heap(heap, k, patience)) return error;
      write(call, search, row_of(i), i, heap);
    }
    return static_cast<fe_error*>(nullptr);
  });
}

constexpr uint64_t entry_bytes = sizeof(Entry<uint64_t>);  // an upper bound for entries with narrower keys
static_assert(sizeof(Entry<uint32_t>) == entry_bytes);

uint64_t scratch_size(const Call& call) {
  const Search search(call);
  return search.parts == 1 ? 0 : static_cast<uint64_t>(search.rows * search.parts * search.k) * entry_bytes;
}
LocalScratch local_scratch(const Call& call) {
  const Search search(call);
  if (search.parts > 1) return {};
  return {static_cast<uint64_t>(search.k) * entry_bytes, ceil_div(search.rows, search.grain)};
}

bool accepts(const Call& call) {
  const auto& attributes = attributes_of<fe_topk_attributes>(call);
  const Operand& x = call.in[0];
  if (call.out_count != 2 || call.out[0].dtype != x.dtype || call.out[1].dtype != DType::i64) return false;
  if (attributes.k < 0 || attributes.k > x.shape[attributes.axis]) return false;
  for (uint32_t i = 0; i < 2; ++i) {
    if (call.out[i].rank != x.rank) return false;
    for (int32_t axis = 0; axis < x.rank; ++axis)
      if (call.out[i].shape[axis] != (axis == attributes.axis ? attributes.k : x.shape[axis])) return false;
  }
  bool is_known = false;
  with_type(x.dtype, [&](auto) { is_known = true; });
  return is_known;
}

}  // namespace

KERNEL(topk, .accepts = accepts, .scratch_size = scratch_size, .local_scratch = local_scratch) {
  fe_error* error = nullptr;
  with_type(call.in[0].dtype, [&](auto zero) { error = topk<decltype(zero)>(call); });
  return error;
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
