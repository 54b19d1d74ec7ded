// Matrix products of grouped panels. The sums stay in registers for all of K, so the bits of an element depend only on
// its row of A, its column of B, and K.
//
// Products is what GroupedPanels needs, and
//   Sum, Own                 of the sums, and of what an epilogue reads
//   Engine                   the registers of a thread
//   Products(call)
//   multiply<has_16_rows>(engine, a, b, steps, rows, sums)     sums[32][32] = a * b, of which `rows` are needed
//   correct(panels, a, b, k, rows, columns, sums)
//   put(sums, count, out), put_own(sums, count, own)           the sums of a row, as elements of C or for an epilogue
#pragma once

#include "grouped_panels.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Panels of B that are packed at once: rows of B may lie on different pages, of which each is looked up for all.
constexpr int64_t panels_at_once = 4;

// Rows of A that a task packs. Several blocks, if the second-level cache holds them and not B, which then is read fewer
// times.
inline int64_t rows_at_once(const Product& p, int64_t panel_bytes) {
  constexpr int64_t cache = 1 << 20, most = 4;
  const bool has_small_b = ceil_div(p.n, block) * panel_bytes <= cache;
  const int64_t blocks = has_small_b ? 1 : larger(1, smaller(most, cache / 2 / panel_bytes));
  return smaller(ceil_div(p.m, block), blocks) * block;
}

// The memory of a thread. `b`: panels of B that this thread alone reads.
template <class Products>
struct LocalPanels {
  char *a, *b;
  typename Products::Sum* sums;
  typename Products::Own* own;

  LocalPanels(ScratchArena& scratch, int64_t panel_bytes, int64_t rows, bool packs_b)
      : a(scratch.array<char>(rows / block * panel_bytes)),
        b(scratch.array<char>(packs_b ? panels_at_once * panel_bytes : 0)),
        sums(scratch.array<typename Products::Sum>(block * block)),
        own(scratch.array<typename Products::Own>(block)) {}
};

template <class Products>
struct GroupedProduct {
  using Element = typename Products::Element;
  const Call& call;
  const Product p;
  const Products products;
  const GroupedPanels<Products> panels;
  const bool reads_b_once;  // so that each task packs its panels
  const int64_t count;      // of the panels of B
  const int64_t task_rows;
  int64_t column_blocks;
  char* packed = nullptr;  // [batch or 1][panel]

  explicit GroupedProduct(const Call& given)
      : call(given),
        p(product_of(given)),
        products(given),
        panels(products, p.k),
        reads_b_once(!call.in[1].prepared && p.m <= block && (p.batches == 1 || !p.shared_b)),
        count(ceil_div(p.n, block)),
        task_rows(rows_at_once(p, panels.bytes())) {
    // Enough tasks for the threads, unless each would pack A again for little work.
    const int64_t work = p.m * p.n * p.k, rows = ceil_div(p.m, task_rows) * p.batches;
    column_blocks = smaller(smaller(count, ceil_div(12, larger(1, rows))), larger(1, work >> 24));
  }
  GroupedProduct(const GroupedProduct&) = delete;

  int64_t tasks() const { return p.batches * ceil_div(p.m, task_rows) * column_blocks; }

  // Bytes of B in all panels.
  int64_t packed_bytes() const { return reads_b_once ? 0 : count * (p.shared_b ? 1 : p.batches) * panels.bytes(); }
  // Packs the panels [first, last) of a batch.
  void pack_panels(int64_t batch, int64_t first, int64_t last, char* to) const {
    const auto* b = reinterpret_cast<const Element*>(call.in[1].data) + p.offset(p.b_batch, batch);
    const int64_t columns = smaller(last * block, p.n) - first * block;
    panels.pack_columns(b + first * block * p.b_column, p.b_column, p.b_row, columns, to);
  }
  fe_error* pack_b(char* to) const {
    const int64_t parts = ceil_div(count, panels_at_once), matrices = p.shared_b ? 1 : p.batches;
    const int64_t grain = larger(1, 16384 / larger(1, p.k * block));
    return parallel(call, matrices * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * panels_at_once;
        pack_panels(i / parts, first, smaller(first + panels_at_once, count),
                    to + (i / parts * count + first) * panels.bytes());
      }
    });
  }

  // One task: rows of one batch times a part of the columns.
  fe_error* rows_times_columns(typename Products::Engine& engine, int64_t task, char* local) const {
    ScratchArena scratch(local);
    const LocalPanels<Products> memory(scratch, panels.bytes(), task_rows, reads_b_once);
    const int64_t row_blocks = ceil_div(p.m, task_rows), batch = task / (row_blocks * column_blocks);
    const int64_t row = task / column_blocks % row_blocks * task_rows, part = task % column_blocks;
    const int64_t rows = smaller(task_rows, p.m - row);
    const auto* const a = reinterpret_cast<const Element*>(call.in[0].data) + p.offset(p.a_batch, batch);
    for (int64_t i = 0; i < rows; i += block)
      panels.pack_rows(a + (row + i) * p.a_row, p.a_row, p.a_column, smaller(block, rows - i),
                       memory.a + i / block * panels.bytes());
    const int64_t first = part * count / column_blocks, last = (part + 1) * count / column_blocks;
    for (int64_t panel = first; panel < last; ++panel) {
      char* b = packed + ((p.shared_b ? 0 : batch * count) + panel) * panels.bytes();
      if (reads_b_once) {
        const int64_t place = (panel - first) % panels_at_once;
        if (place == 0) pack_panels(batch, panel, smaller(panel + panels_at_once, last), memory.b);
        b = memory.b + place * panels.bytes();
      }
      for (int64_t i = 0; i < rows; i += block)
        if (fe_error* error = multiply(engine, memory, memory.a + i / block * panels.bytes(), b, batch, row + i, panel,
                                       smaller(block, rows - i), local))
          return error;
    }
    return nullptr;
  }

  // A block of C, from `row` of a batch on.
  fe_error* multiply(typename Products::Engine& engine, const LocalPanels<Products>& memory, char* a, char* b,
                     int64_t batch, int64_t row, int64_t panel, int64_t rows, char* local) const {
    products.multiply(engine, a, b, panels.steps(), rows, memory.sums);
    const int64_t columns = smaller(block, p.n - panel * block);
    products.correct(panels, a, b, p.k, rows, columns, memory.sums);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t at = (batch * p.m + row + i) * p.n + panel * block;
      if (fe_error* error = finish(memory.sums + i * block, at, columns, memory.own, local)) return error;
    }
    return nullptr;
  }

  // Writes a row of a block, through `own` if there is an epilogue.
  fe_error* finish(const typename Products::Sum* sums, int64_t at, int64_t columns, typename Products::Own* own,
                   char* local) const {
    if (call.epilogue == nullptr) {
      Products::put(sums, columns, reinterpret_cast<typename Products::Result*>(call.out[0].data) + at);
      return nullptr;
    }
    Products::put(sums, columns, own);
    return call.epilogue->apply(call.epilogue, at, columns, own, local);
  }

  fe_error* run() {
    packed = call.in[1].prepared ? call.in[1].data : call.scratch;
    if (!call.in[1].prepared && !reads_b_once)
      if (fe_error* error = pack_b(call.scratch)) return error;
    return parallel_with_local(call, tasks(), 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
      typename Products::Engine engine;
      for (int64_t task = begin; task < end; ++task)
        if (fe_error* error = rows_times_columns(engine, task, local)) return error;
      return nullptr;
    });
  }
};

// ---- The functions of a kernel

template <class Products>
fe_error* multiply_groups(const Call& call) {
  if (is_empty(product_of(call))) return nullptr;
  return GroupedProduct<Products>(call).run();
}

template <class Products>
uint64_t grouped_scratch_size(const Call& call) {
  if (call.in[1].prepared || is_empty(product_of(call))) return 0;
  return static_cast<uint64_t>(GroupedProduct<Products>(call).packed_bytes());
}

template <class Products>
LocalScratch grouped_local_scratch(const Call& call) {
  if (is_empty(product_of(call))) return {};
  ScratchArena scratch(nullptr);
  const GroupedProduct<Products> product(call);
  const LocalPanels<Products> memory(scratch, product.panels.bytes(), product.task_rows, product.reads_b_once);
  return LocalScratch{scratch.bytes(), product.tasks()};
}

template <class Products>
uint64_t grouped_prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  snprintf(key, key_capacity, "groups/%d/k%lld:%lld/n%lld:%lld", static_cast<int>(call.in[1].dtype),
           static_cast<long long>(p.k), static_cast<long long>(p.b_row), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  const GroupedProduct<Products> product(call);
  return static_cast<uint64_t>(product.count * product.panels.bytes());
}

template <class Products>
void prepare_groups(const Call& call, uint32_t, void* to) {
  const GroupedProduct<Products> product(call);
  for (int64_t i = 0; i < product.count; i += panels_at_once)
    product.pack_panels(0, i, smaller(i + panels_at_once, product.count),
                        static_cast<char*>(to) + i * product.panels.bytes());
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
