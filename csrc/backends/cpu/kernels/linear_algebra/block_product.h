// x @ w.T with weights in blocks, for kernels that differ in how a panel of weights is multiplied with rows of x.
//
// A kernel gives a template `Rows<dtype>`, the packed rows of x:
//   static int64_t together(const Product&);   how many rows are packed at once
//   Rows(ScratchArena&, const Product&);
//   void pack_rows(const float* x, int64_t rows);   rows of x from `x` on, with the strides of the product
//   void multiply(const BlockPanel<dtype>* panels, int64_t blocks, float* c);
//     c[rows][panel_columns] = products of the packed rows with the columns of `blocks` panels, which follow along K
#pragma once

#include "column_call.h"
#include "part_products.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Asks for what is read some parts after part `number` of panels that follow each other: processors look ahead less,
// and not beyond a page.
template <class Panel>
HWY_INLINE void prefetch_parts(const Panel* panels, int64_t number, int64_t parts_of_panel) {
  constexpr int64_t ahead = 4096, line = 64;
  const int64_t bytes = static_cast<int64_t>(sizeof(Panel)) / parts_of_panel;
  const char* const next = reinterpret_cast<const char*>(panels) + number * bytes + ahead;
  for (int64_t i = 0; i < bytes; i += line) __builtin_prefetch(next + i);
}

// The memory of a thread.
template <template <DType> class Rows, DType dtype>
struct ProductMemory {
  Rows<dtype> rows;
  float* c;
  BlockPanel<dtype>* panels;

  ProductMemory(ScratchArena& scratch, const Product& p, bool is_prepared)
      : rows(scratch, p),
        c(scratch.array<float>(Rows<dtype>::together(p) * panel_columns)),
        panels(scratch.array<BlockPanel<dtype>>(is_prepared ? 0 : p.k / Block<dtype>::elements)) {}
};

template <template <DType> class Rows, DType dtype>
struct BlockProduct {
  const Call& call;
  const Product& p;
  const float* x;
  const Block<dtype>* w;
  const BlockPanel<dtype>* packed;  // [panel][block of k], or null
  float* c;

  using Memory = ProductMemory<Rows, dtype>;
  static constexpr int64_t elements = Block<dtype>::elements;
  int64_t blocks() const { return p.k / elements; }

  void multiply_panel(int64_t batch, int64_t panel, Memory& memory) const {
    const BlockPanel<dtype>* panels = packed + panel * blocks();
    if (packed == nullptr) {
      const Block<dtype>* const from = w + (p.offset(p.b_batch, batch) + panel * panel_columns * p.b_column) / elements;
      fill_panels(dtype, from, p.b_column / elements, blocks(), smaller(panel_columns, p.n - panel * panel_columns),
                  memory.panels);
      panels = memory.panels;
    }
    memory.rows.multiply(panels, blocks(), memory.c);
  }

  // Rows of x: all of a task.
  struct RowsOfTask {
    int64_t batch, first, count;
  };

  void store(const RowsOfTask& rows, int64_t panel, const float* from) const {
    const int64_t begin = panel * panel_columns, width = smaller(panel_columns, p.n - begin);
    float* to = c + (rows.batch * p.m + rows.first) * p.n + begin;
    for (int64_t i = 0; i < rows.count; ++i, from += panel_columns, to += p.n)
      __builtin_memcpy(to, from, static_cast<size_t>(width) * sizeof(float));
  }
  fe_error* apply_epilogue(const RowsOfTask& rows, int64_t first_panel, int64_t last_panel, char* local) const {
    const int64_t begin = first_panel * panel_columns, width = smaller(last_panel * panel_columns, p.n) - begin;
    for (int64_t i = 0; i < rows.count; ++i) {
      const int64_t at = (rows.batch * p.m + rows.first + i) * p.n + begin;
      if (fe_error* error = call.epilogue->apply(call.epilogue, at, width, c + at, local)) return error;
    }
    return nullptr;
  }

  fe_error* run() const {
    const int64_t together = Rows<dtype>::together(p), row_blocks = ceil_div(p.m, together), panels = panels_of(p);
    // Each range packs its rows again. So ranges are long, some milliseconds, where there are enough for all threads.
    const int64_t threads = thread_count(call), products = larger(1, p.k) * panel_columns * together;
    const bool are_many = threads == 1 || p.batches * row_blocks >= 4 * threads;
    const int64_t grain = larger(1, are_many ? smaller(panels, (lanes << 25) / products) : (1 << 18) / products);
    return parallel_with_local(
        call, p.batches * row_blocks * panels, grain, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
          ScratchArena scratch(local);
          Memory memory(scratch, p, packed != nullptr);
          // Panels to which the epilogue is applied at once, as a call takes longer than the columns of one.
          const int64_t at_once = larger(1, (1 << 14) / (panel_columns * together));
          while (begin < end) {
            const int64_t number = begin / panels, first = number % row_blocks * together;
            const RowsOfTask rows{number / row_blocks, first, smaller(together, p.m - first)};
            memory.rows.pack_rows(x + p.offset(p.a_batch, rows.batch) + first * p.a_row, rows.count);
            const int64_t last = smaller(end, (number + 1) * panels) - number * panels;
            for (int64_t panel = begin - number * panels; panel < last;) {
              const int64_t from = panel, to = smaller(last, from + at_once);
              for (; panel < to; ++panel) {
                multiply_panel(rows.batch, panel, memory);
                store(rows, panel, memory.c);
              }
              if (call.epilogue == nullptr) continue;
              if (fe_error* error = apply_epilogue(rows, from, to, local)) return error;
            }
            begin = number * panels + last;
          }
          return nullptr;
        });
  }
};

[[maybe_unused]] static uint64_t product_scratch_size(const Call& call) {
  const ColumnProduct product(call);
  const Product& p = product.p;
  return has_own_result(call) ? static_cast<uint64_t>(p.batches * p.m * p.n) * sizeof(float) : 0;
}

// Whether a kernel takes weights of a dtype.
template <template <DType> class Rows, DType dtype>
constexpr bool takes = has_block<dtype>;

// f is called with an integral constant, the dtype.
template <template <DType> class Rows, class F>
void with_weights(const Call& call, F f) {
  with_block_dtype(call.in[1].dtype, [&](auto dtype) {
    if constexpr (takes<Rows, static_cast<DType>(dtype.value)>) f(dtype);
  });
}

template <template <DType> class Rows>
LocalScratch product_local_scratch(const Call& call) {
  LocalScratch local;
  const ColumnProduct product(call);
  with_weights<Rows>(call, [&](auto dtype) {
    constexpr DType kind = static_cast<DType>(dtype.value);
    ScratchArena scratch(nullptr);
    const ProductMemory<Rows, kind> memory(scratch, product.p, call.in[1].prepared);
    local = {scratch.bytes(),
             product.p.batches * ceil_div(product.p.m, Rows<kind>::together(product.p)) * panels_of(product.p)};
  });
  return local;
}

template <template <DType> class Rows>
bool accepts_blocks(const Call& call) {
  bool accepts = false;
  if (call.in_count == 2 && call.in[0].rank > 0) with_weights<Rows>(call, [&](auto) { accepts = true; });
  return accepts;
}

template <template <DType> class Rows>
fe_error* multiply_blocks(const Call& call) {
  const ColumnProduct product(call);
  if (is_empty(product.p)) return nullptr;
  fe_error* error = nullptr;
  with_weights<Rows>(call, [&](auto dtype) {
    constexpr DType kind = static_cast<DType>(dtype.value);
    const bool is_prepared = call.in[1].prepared;
    error =
        BlockProduct<Rows, kind>{
            call,
            product.p,
            reinterpret_cast<const float*>(call.in[0].data),
            is_prepared ? nullptr : reinterpret_cast<const Block<kind>*>(call.in[1].data),
            is_prepared ? reinterpret_cast<const BlockPanel<kind>*>(call.in[1].data) : nullptr,
            reinterpret_cast<float*>(has_own_result(call) ? call.scratch : call.out[0].data),
        }
            .run();
  });
  return error;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
