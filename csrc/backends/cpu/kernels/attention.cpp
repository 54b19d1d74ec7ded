// Scaled dot-product attention (attention.h), and rotary positions.
#include "attention.h"
#include "op_attributes.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

bool is_length(const Operand& x) { return x.dtype == DType::i32 || x.dtype == DType::i64; }
bool has_length(const Call& call) { return call.in_count > 3 && is_length(call.in[call.in_count - 1]); }
bool has_mask(const Call& call) { return call.in_count > 3 && !is_length(call.in[3]); }

bool accepts(const Call& call) {
  const Operand &q = call.in[0], &v = call.in[2];
  if (call.in_count < 3 || q.rank < 2) return false;
  for (uint32_t i = 1; i < 3; ++i)
    if (call.in[i].dtype != q.dtype) return false;
  if (call.in_count != 3u + has_mask(call) + has_length(call)) return false;
  if (has_mask(call) && call.in[3].dtype != q.dtype && call.in[3].dtype != DType::boolean) return false;
  if (has_length(call) && call.in[call.in_count - 1].rank != 0) return false;
  return q.shape[q.rank - 1] <= max_head && v.shape[v.rank - 1] <= max_head;
}

// Offset of a batch in an operand; the mask's leading axes broadcast.
int64_t batch_offset(const Operand& x, const Operand& shape, int64_t batch) {
  int64_t at = 0;
  for (int32_t axis = shape.rank - 2; axis-- > 0;) {
    const int32_t own = axis - (shape.rank - x.rank);
    const int64_t index = batch % shape.shape[axis];
    batch /= shape.shape[axis];
    if (own >= 0 && x.shape[own] != 1) at += index * x.strides[own];
  }
  return at;
}
int64_t stride_of(const Operand& x, int32_t from_end) {
  return x.rank < from_end || x.shape[x.rank - from_end] == 1 ? 0 : x.strides[x.rank - from_end];
}

// A task is a block of queries of one batch.
template <class T>
int64_t task_count(const Operand& q) {
  int64_t batches = 1;
  for (int32_t i = 0; i < q.rank - 2; ++i) batches *= q.shape[i];
  return batches * ceil_div(q.shape[q.rank - 2], query_block<T>);
}

template <class T>
LocalScratch local_of(const Call& call) {
  const Operand &q = call.in[0], &v = call.in[2];
  ScratchArena scratch(nullptr);
  const QueryBlock<T> work(scratch, q.shape[q.rank - 1], v.shape[v.rank - 1]);
  return {scratch.bytes(), task_count<T>(q)};
}
LocalScratch local_scratch(const Call& call) {
  return with_floating(call.in[0].dtype, [&]<class T>(T) { return local_of<T>(call); });
}

// Sets `keys` to the number of keys, which may be given by an operand.
fe_error* count_keys(const Call& call, int64_t most, int64_t& keys) {
  keys = most;
  if (!has_length(call)) return nullptr;
  const Operand& given = call.in[call.in_count - 1];
  keys = given.dtype == DType::i32 ? *reinterpret_cast<const volatile int32_t*>(given.data)
                                   : *reinterpret_cast<const volatile int64_t*>(given.data);
  if (keys >= 0 && keys <= most) return nullptr;
  char message[160];
  snprintf(message, sizeof message, "scaled_dot_product_attention: kv_length %lld is not between 0 and %lld",
           static_cast<long long>(keys), static_cast<long long>(most));
  return call.host->error_create(FE_INVALID_ARGUMENT, message);
}

template <class T>
fe_error* run(const Call& call) {
  const Operand &q = call.in[0], &k = call.in[1], &v = call.in[2], &out = call.out[0];
  const auto& attributes = attributes_of<fe_scaled_dot_product_attention_attributes>(call);
  Head<T> head = {};
  head.queries = q.shape[q.rank - 2];
  if (fe_error* error = count_keys(call, k.shape[k.rank - 2], head.keys)) return error;
  head.head = q.shape[q.rank - 1];
  head.value_head = v.shape[v.rank - 1];
  head.q_row = q.strides[q.rank - 2];
  head.k_row = k.strides[k.rank - 2];
  head.v_row = v.strides[v.rank - 2];
  head.out_row = out.strides[out.rank - 2];
  const double scale =
      attributes.scale > 0 ? attributes.scale : 1 / __builtin_sqrt(static_cast<double>(larger(1, head.head)));
  int exponent = 0;
  frexp(scale, &exponent);
  const double power = ldexp(1.0, static_cast<int>(larger(-100, smaller(0, exponent - 1))));
  head.query_scale = static_cast<Computed<T>>(power);
  head.scale = static_cast<Computed<T>>(scale / power);
  head.causal = attributes.causal != 0;
  head.causal_offset = head.keys - head.queries;
  if (head.value_head == 0) return nullptr;
  const int64_t blocks = ceil_div(head.queries, query_block<T>);
  return parallel_with_local(call, task_count<T>(q), 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
    ScratchArena scratch(local);
    const QueryBlock<T> work(scratch, head.head, head.value_head);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t batch = task / blocks;
      Head<T> h = head;
      h.q = reinterpret_cast<const T*>(q.data) + batch_offset(q, q, batch);
      h.k = reinterpret_cast<const T*>(k.data) + batch_offset(k, q, batch);
      h.v = reinterpret_cast<const T*>(v.data) + batch_offset(v, q, batch);
      h.out = reinterpret_cast<T*>(out.data) + batch * head.queries * head.value_head;
      if (has_mask(call)) {
        const Operand& mask = call.in[3];
        const int64_t at = batch_offset(mask, q, batch);
        h.mask_row = stride_of(mask, 2);
        h.mask_column = stride_of(mask, 1);
        if (mask.dtype == DType::boolean)
          h.allowed = reinterpret_cast<const uint8_t*>(mask.data) + at;
        else
          h.mask = reinterpret_cast<const T*>(mask.data) + at;
      }
      const int64_t first_query = task % blocks * query_block<T>;
      // Values near the end of the range can overflow in sums whose mean is in range.
      if (!attend(h, work, first_query, Computed<T>(1))) attend(h, work, first_query, Range<Computed<T>>::shrink);
    }
    return nullptr;
  });
}

// Turns `pairs` pairs of a row. Products are rounded before they are added, as in the decomposition.
template <class T, bool interleaved>
HWY_INLINE void turn_row(const T* x, const T* cosines, const T* sines, int64_t pairs, T* y) {
  const Full<T> d;
  constexpr int64_t n = lanes_of<T>;
  constexpr int64_t step = interleaved ? 2 : 1;
  const int64_t other = interleaved ? 1 : pairs;
  int64_t i = 0;
  for (; i + n <= pairs; i += n) {
    auto left = hn::Zero(d), right = left;
    if constexpr (interleaved) {
      hn::LoadInterleaved2(d, x + 2 * i, left, right);
    } else {
      left = hn::LoadU(d, x + i);
      right = hn::LoadU(d, x + pairs + i);
    }
    const auto cosine = hn::LoadU(d, cosines + i), sine = hn::LoadU(d, sines + i);
    const auto first = hn::Sub(hn::Mul(left, cosine), hn::Mul(right, sine));
    const auto second = hn::Add(hn::Mul(left, sine), hn::Mul(right, cosine));
    if constexpr (interleaved) {
      hn::StoreInterleaved2(first, second, d, y + 2 * i);
    } else {
      hn::StoreU(first, d, y + i);
      hn::StoreU(second, d, y + pairs + i);
    }
  }
  for (; i < pairs; ++i) {
    const T left = x[step * i], right = x[step * i + other];
    y[step * i] = left * cosines[i] - right * sines[i];
    y[step * i + other] = left * sines[i] + right * cosines[i];
  }
}

// Offset of a row of x in a table, whose leading axes broadcast.
int64_t table_offset(const Operand& table, const Operand& x, int64_t row) {
  int64_t at = 0;
  for (int32_t axis = x.rank - 1; axis-- > 0;) {
    const int32_t own = axis - (x.rank - table.rank);
    if (own >= 0 && table.shape[own] != 1) at += row % x.shape[axis] * table.strides[own];
    row /= x.shape[axis];
  }
  return at;
}

template <class T, bool interleaved>
fe_error* turn(const Call& call) {
  const Operand &x = call.in[0], &table = call.in[1];
  const int64_t width = x.shape[x.rank - 1], pairs = table.shape[table.rank - 1];
  int64_t rows = 1;
  for (int32_t axis = 0; axis + 1 < x.rank; ++axis) rows *= x.shape[axis];
  return parallel(call, rows, larger(1, 16384 / larger(1, width)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      const T* const from = reinterpret_cast<const T*>(x.data) + table_offset(x, x, row);
      T* const to = reinterpret_cast<T*>(call.out[0].data) + row * width;
      turn_row<T, interleaved>(from, reinterpret_cast<const T*>(table.data) + table_offset(table, x, row),
                               reinterpret_cast<const T*>(call.in[2].data) + table_offset(call.in[2], x, row), pairs,
                               to);
      __builtin_memcpy(to + 2 * pairs, from + 2 * pairs, static_cast<size_t>(width - 2 * pairs) * sizeof(T));
    }
  });
}

bool accepts_tables(const Call& call) {
  return call.in_count == 3 && call.in[0].rank > 0 && call.in[1].rank > 0 && call.in[1].dtype == call.in[0].dtype &&
         call.in[2].dtype == call.in[0].dtype;
}

}  // namespace

KERNEL(rope, .dtypes = f32 | f64, .layouts = {FE_LAYOUT_ROWS, FE_LAYOUT_ROWS, FE_LAYOUT_ROWS},
       .accepts = accepts_tables) {
  const bool interleaved = attributes_of<fe_rope_attributes>(call).interleaved != 0;
  if (call.in[0].dtype == DType::f32) return interleaved ? turn<float, true>(call) : turn<float, false>(call);
  return interleaved ? turn<double, true>(call) : turn<double, false>(call);
}

KERNEL(scaled_dot_product_attention, .dtypes = f32 | f64 | halves,
       .layouts = {FE_LAYOUT_ROWS, FE_LAYOUT_ROWS, FE_LAYOUT_ROWS}, .accepts = accepts,
       .local_scratch = local_scratch) {
  return with_floating(call.in[0].dtype, [&]<class T>(T) { return run<T>(call); });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
