// Reductions in an order that depends on the reduced shape alone.
//
// The elements of one output are numbered in C order and cut into chunks of 65536, and chunks into blocks of 4096. A
// block is reduced with four vectors of accumulators and a fixed fold; then blocks and chunks are combined pairwise in
// order. If the contiguous dimension is kept, whole vectors of outputs are reduced side by side instead, in blocks of
// 64 and chunks of 4096. Threads take chunks or outputs; the division among threads does not change the result.
#pragma once

#include "reduction_blocks.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t chunk_elements = 65536;
constexpr int64_t column_block_rows = 64, column_chunk_rows = 4096;

// `at`: the place of the output's first element; `scratch`: the thread's memory. See Source::run for `end`.
template <class Op, class A, class T>
A reduce_chunk(Source<T>& source, const Nest& reduced, int64_t at, int64_t first, int64_t count, int64_t end,
               ScratchArena scratch) {
  const BlockBuffers<T> buffers(scratch, reduced);
  Tree<Op, A> tree;
  for (int64_t i = 0; i < count; i += block_elements) {
    const int64_t n = smaller(block_elements, count - i);
    tree.add(reduce_block<Op, A>(block_of(source, reduced, at, first + i, n, end, buffers), n));
  }
  return tree.total();
}

// Adds rows [first, first + count) of up to column_strip adjacent outputs into `sums`, row by row, in memory order.
constexpr int64_t column_strip = 1024;
template <class A, class T>
struct ColumnBuffers {
  A *sums, *block;
  Computed<T>* wide[4];
  ColumnBuffers(ScratchArena& scratch, int64_t columns)
      : sums(scratch.array<A>(columns)), block(scratch.array<A>(columns)) {
    for (Computed<T>*& row : wide) row = scratch.array<Computed<T>>(is_converted<T> ? columns : 0);
  }
};
template <class Op, class A, class T>
void reduce_columns(Source<T>& source, const Nest& reduced, int64_t at, int64_t first, int64_t count, int64_t columns,
                    const ColumnBuffers<A, T>& buffers) {
  using Value = Computed<T>;
  A *HWY_RESTRICT const sums = buffers.sums, *HWY_RESTRICT const block = buffers.block;
  Value* const* const wide = buffers.wide;
  const int64_t inner = reduced.shape[reduced.rank - 1];
  for (int64_t j = 0; j < columns; ++j) sums[j] = Op::template identity<A>();
  for (int64_t i = first; i < first + count;) {
    const int64_t stop = smaller(first + count, i + column_block_rows);
    for (int64_t j = 0; j < columns; ++j) block[j] = Op::template identity<A>();
    while (i < stop) {
      int64_t run = smaller(stop - i, inner - i % inner), stride = reduced.strides[reduced.rank - 1];
      const T* row = source.rows_at(at + reduced.offset(i), columns, run, stride);
      int64_t r = 0;
      for (; r + 4 <= run; r += 4, row += 4 * stride) {  // four rows at once: fewer passes over the sums
        const Value* r0 = computed(row, columns, wide[0]);
        const Value* r1 = computed(row + stride, columns, wide[1]);
        const Value* r2 = computed(row + 2 * stride, columns, wide[2]);
        const Value* r3 = computed(row + 3 * stride, columns, wide[3]);
        int64_t j = 0;
        if constexpr (is_float<Value>) {
          const Full<Value> d;
          constexpr int64_t n = lanes_of<Value>;
          for (; j + n <= columns; j += n) {
            auto sum = Op::combine(d, hn::Load(d, block + j), hn::LoadU(d, r0 + j));
            sum = Op::combine(d, sum, hn::LoadU(d, r1 + j));
            sum = Op::combine(d, sum, hn::LoadU(d, r2 + j));
            hn::Store(Op::combine(d, sum, hn::LoadU(d, r3 + j)), d, block + j);
          }
        }
        for (; j < columns; ++j) {
          A sum = Op::combine(block[j], static_cast<A>(r0[j]));
          sum = Op::combine(sum, static_cast<A>(r1[j]));
          sum = Op::combine(sum, static_cast<A>(r2[j]));
          block[j] = Op::combine(sum, static_cast<A>(r3[j]));
        }
      }
      for (; r < run; ++r, row += stride) {
        const Value* r0 = computed(row, columns, wide[0]);
        for (int64_t j = 0; j < columns; ++j) block[j] = Op::combine(block[j], static_cast<A>(r0[j]));
      }
      i += run;
    }
    for (int64_t j = 0; j < columns; ++j) sums[j] = Op::combine(sums[j], block[j]);
  }
}

// Reduces one output in the order of reduce_columns, so that a column gives the same bits alone as beside others.
// Reduces eight blocks of rows at once, which hides the latency of an addition.
template <class Op, class A, class T>
A reduce_column(Source<T>& source, const Nest& reduced, int64_t at, int64_t first, int64_t count) {
  constexpr int64_t blocks = is_converted<T> && sizeof(T) > 8 ? 4 : 8;  // their number does not change the result
  alignas(64) T fetched[blocks * column_block_rows];
  alignas(64) Computed<T> wide[is_converted<T> ? blocks * column_block_rows : 1];
  A sum = Op::template identity<A>();
  for (int64_t i = 0; i < count; i += blocks * column_block_rows) {
    const int64_t n = smaller(blocks * column_block_rows, count - i);
    const T* from = fetched;
    if (reduced.contiguous())
      from = source.run(at + first + i, n, at + first + count);
    else
      source.fetch(reduced, at, first + i, n, fetched);
    const Computed<T>* rows = computed(from, n, wide);
    A block[blocks];
    for (int64_t b = 0; b < blocks; ++b) block[b] = Op::template identity<A>();
    if (n == blocks * column_block_rows) {
      for (int64_t r = 0; r < column_block_rows; ++r)
        for (int64_t b = 0; b < blocks; ++b)
          block[b] = Op::combine(block[b], static_cast<A>(rows[b * column_block_rows + r]));
    } else {
      for (int64_t r = 0; r < n; ++r)
        block[r / column_block_rows] = Op::combine(block[r / column_block_rows], static_cast<A>(rows[r]));
    }
    for (int64_t b = 0; b * column_block_rows < n; ++b) sum = Op::combine(sum, block[b]);
  }
  return sum;
}

// A single column is contiguous and looks like a row, but the same column beside others is reduced as a column.
[[maybe_unused]] static bool is_single_column(const Operand& x, uint32_t axes) {
  const int32_t last = x.rank - 1;
  return x.rank > 1 && (axes >> last & 1) == 0 && x.shape[last] == 1 && x.strides[last] <= 1;
}

struct Plan {
  Split dims;
  int64_t outputs, length;
  bool columns;          // reduce vectors of outputs side by side: depends only on the layout of one output's elements
  int64_t column_count;  // outputs that are adjacent in memory
  int64_t chunk, chunks;
  int64_t strip, strips;  // adjacent outputs that a task takes; a task is one strip and one chunk
  int64_t tasks, grain;
  bool is_of_short_rows;  // of contiguous elements
};
[[maybe_unused]] static Plan plan_reduction(const Operand& x, uint32_t axes) {
  Plan p = {split(x, axes), 1, 1, false, 1, 0, 0, 0, 0, 0, 0, false};
  p.outputs = p.dims.kept.count();
  p.length = p.dims.reduced.count();
  const Nest &kept = p.dims.kept, &reduced = p.dims.reduced;
  p.columns = reduced.rank > 0 && (reduced.strides[reduced.rank - 1] != 1 || is_single_column(x, axes));
  if (p.columns && kept.rank > 0 && kept.strides[kept.rank - 1] == 1) p.column_count = kept.shape[kept.rank - 1];
  p.chunk = p.columns ? column_chunk_rows : chunk_elements;
  p.chunks = larger(1, ceil_div(p.length, p.chunk));
  p.is_of_short_rows = !p.columns && reduced.contiguous() && p.length > 0 && p.length <= longest_short_row;
  if (p.outputs == 0) return p;
  p.strip = p.columns ? smaller(p.column_count, column_strip) : 1;
  p.strips = ceil_div(p.column_count, p.strip);
  p.tasks = p.outputs / p.column_count * p.strips * p.chunks;
  p.grain = larger(1, 32768 / (smaller(p.chunk, larger(1, p.length)) * p.strip));
  return p;
}
// The size of the chunks' partial results, in bytes.
template <class A>
uint64_t reduction_scratch(const Plan& p) {
  return p.chunks > 1 ? static_cast<uint64_t>(p.outputs * p.chunks) * sizeof(A) : 0;
}

// The memory of a thread, enough for reduce_columns and for reduce_chunk.
template <class A, class T>
LocalScratch reduction_local(const Call& call, const Plan& p) {
  if (p.outputs == 0) return {};
  ScratchArena scratch(nullptr);
  const Source<T> source(call, scratch, nullptr);
  if (p.strip > 1) {
    const ColumnBuffers<A, T> buffers(scratch, p.strip);
  } else if (!p.columns) {
    const BlockBuffers<T> buffers(scratch, p.dims.reduced);
  }
  return {scratch.bytes(), ceil_div(p.tasks, p.grain)};
}

// Reduces one output, in the order of reduce().
template <class Op, class A, class T>
A reduce_output(const Plan& p, Source<T>& source, int64_t output, const ScratchArena& scratch) {
  const int64_t at = p.dims.kept.offset(output);
  Tree<Op, A> tree;
  for (int64_t first = 0; first < p.length; first += p.chunk) {
    const int64_t count = smaller(p.chunk, p.length - first);
    tree.add(p.columns ? reduce_column<Op, A>(source, p.dims.reduced, at, first, count)
                       : reduce_chunk<Op, A>(source, p.dims.reduced, at, first, count, at + p.length, scratch));
  }
  return tree.total();
}

// out[i] = finish(reduction of the elements of output i, again), where again(E{}) reduces them as elements of type E,
// which has the layout of T. The memory of a thread must be enough for E, too.
template <class Op, class A, class T, class Out, class Finish>
fe_error* reduce(const Call& call, const Plan& p, Finish finish) {
  Out* out = reinterpret_cast<Out*>(call.out[0].data);
  A* partial = reinterpret_cast<A*>(call.scratch);
  if (p.outputs == 0) return nullptr;
  const auto finished = [&](A sum, int64_t output, Source<T>& source, const ScratchArena& scratch) {
    return stored<Out>(finish(sum, [&](auto element) {
      Source<decltype(element)> again(source);
      const A result = reduce_output<Op, A>(p, again, output, scratch);
      source.forget(again.take_error());
      return result;
    }));
  };
  fe_error* error = parallel_with_local(call, p.tasks, p.grain, [&](int64_t begin, int64_t end, char* local) {
    ScratchArena scratch(local);
    Source<T> source(call, scratch, local);
    for (int64_t task = begin; task < end; ++task) {
      if constexpr (is_float<A> && __is_same(A, Computed<T>))
        if (p.is_of_short_rows && end - task >= short_rows<A>) {
          ScratchArena rest = scratch;
          const BlockBuffers<T> buffers(rest, p.dims.reduced);
          const Nest& kept = p.dims.kept;
          A sums[short_rows<A>];
          reduce_short_rows<Op, A>(
              p.length,
              [&](int64_t r) HWY_ATTR {
                const int64_t at = kept.rank == 1 ? (task + r) * kept.strides[0] : kept.offset(task + r);
                return block_of(source, p.dims.reduced, at, 0, p.length, at + (end - task - r) * p.length, buffers);
              },
              sums);
          for (int64_t r = 0; r < short_rows<A>; ++r) out[task + r] = finished(sums[r], task + r, source, scratch);
          task += short_rows<A> - 1;
          continue;
        }
      const int64_t chunk = task % p.chunks, s = task / p.chunks % p.strips, row = task / p.chunks / p.strips;
      const int64_t output = row * p.column_count + s * p.strip, n = smaller(p.strip, p.column_count - s * p.strip);
      const int64_t first = chunk * p.chunk, count = smaller(p.chunk, p.length - first);
      const int64_t at = p.dims.kept.offset(output);
      A single;
      const A* sums = &single;
      if (p.columns && n == 1) {
        single = reduce_column<Op, A>(source, p.dims.reduced, at, first, count);
      } else if (p.columns) {
        ScratchArena rest = scratch;
        const ColumnBuffers<A, T> buffers(rest, p.strip);
        reduce_columns<Op, A>(source, p.dims.reduced, at, first, count, n, buffers);
        sums = buffers.sums;
      } else {
        const int64_t next = at + (p.chunks > 1 ? first + count : (end - task) * p.length);
        single = reduce_chunk<Op, A>(source, p.dims.reduced, at, first, count, next, scratch);
      }
      for (int64_t j = 0; j < n; ++j) {
        if (p.chunks > 1)
          partial[(output + j) * p.chunks + chunk] = sums[j];
        else
          out[output + j] = finished(sums[j], output + j, source, scratch);
      }
    }
    return source.take_error();
  });
  if (error != nullptr || p.chunks == 1) return error;
  return parallel_with_local(call, p.outputs, larger(1, 8192 / p.chunks), [&](int64_t begin, int64_t end, char* local) {
    ScratchArena scratch(local);
    Source<T> source(call, scratch, local);
    for (int64_t i = begin; i < end; ++i) {
      Tree<Op, A> tree;
      for (int64_t chunk = 0; chunk < p.chunks; ++chunk) tree.add(partial[i * p.chunks + chunk]);
      out[i] = finished(tree.total(), i, source, scratch);
    }
    return source.take_error();
  });
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
