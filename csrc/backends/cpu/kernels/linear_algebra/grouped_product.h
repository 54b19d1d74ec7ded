// Matrix products of grouped panels, in pieces of K. The sums of a piece stay in registers, so the bits of an element
// depend only on its row of A, its column of B, and K.
//
// Products is what GroupedPanels needs, and
//   Sum, Result, Own         the types of sums, of elements of C, and of what an epilogue reads
//   Engine                   the registers of a thread
//   Products(call)
//   multiply(engine, a, b, steps, rows, sums)               sums[32][32] = a * b, of which `rows` are needed
//   correct(panels, a, b, k, rows, columns, sums)
//   put(sums, count, to)                                    the sums of a row, as Result or Own
#pragma once

#include "grouped_panels.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Panels of B that are packed at once: rows of B may lie on different pages, of which each is looked up for all.
constexpr int64_t panels_at_once = 4;
// Panels whose sums are kept for an epilogue: a call for 32 columns takes longer than the columns do.
constexpr int64_t panels_of_epilogue = 16;

constexpr int64_t steps_of_piece = 64;

// Rows of A that a task packs. Several blocks, if the second-level cache holds them and not B, which then is read fewer
// times.
inline int64_t rows_at_once(const Product& p, int64_t panel_bytes) {
  constexpr int64_t of_a = 1 << 19, of_b = 3 << 19, most = 4;
  const bool has_small_b = ceil_div(p.n, block) * panel_bytes <= of_b;
  const int64_t blocks = has_small_b ? 1 : larger(1, smaller(most, of_a / panel_bytes));
  return smaller(ceil_div(p.m, block), blocks) * block;
}

template <class Products>
struct GroupedProduct {
  using Element = typename Products::Element;
  using Sum = typename Products::Sum;
  using Panels = GroupedPanels<Products>;
  static constexpr int64_t piece_length = steps_of_piece * Panels::depth;

  const Call& call;
  const Product p;
  const Products products;
  const int64_t pieces, piece_bytes;  // of a panel
  const bool reads_b_once;            // so that each task packs its panels, a piece at a time
  const int64_t count;                // of the panels of B
  const int64_t task_rows;
  int64_t column_blocks;
  char* packed = nullptr;  // [batch or 1][panel][piece]

  explicit GroupedProduct(const Call& given)
      : call(given),
        p(product_of(given)),
        products(given),
        pieces(larger(1, ceil_div(p.k, piece_length))),
        piece_bytes(panels_of(0).bytes()),
        reads_b_once(!call.in[1].prepared && p.m <= block && (p.batches == 1 || !p.shared_b)),
        count(ceil_div(p.n, block)),
        task_rows(rows_at_once(p, panel_bytes())) {
    // Enough tasks for the threads, unless each would pack A again for little work.
    const int64_t work = p.m * p.n * p.k, rows = ceil_div(p.m, task_rows) * p.batches;
    column_blocks = smaller(smaller(count, ceil_div(12, larger(1, rows))), larger(1, work >> 24));
  }
  GroupedProduct(const GroupedProduct&) = delete;

  int64_t tasks() const { return p.batches * ceil_div(p.m, task_rows) * column_blocks; }

  int64_t length_of(int64_t piece) const { return smaller(piece_length, p.k - piece * piece_length); }
  Panels panels_of(int64_t piece) const { return Panels(products, length_of(piece)); }
  int64_t panel_bytes() const { return pieces * piece_bytes; }
  // Bytes of B in all panels.
  int64_t packed_bytes() const { return reads_b_once ? 0 : count * (p.shared_b ? 1 : p.batches) * panel_bytes(); }

  // A piece of the panels [first, last) of a batch.
  void pack_columns(int64_t batch, int64_t piece, int64_t first, int64_t last, char* to, int64_t pitch) const {
    const auto* const b = reinterpret_cast<const Element*>(call.in[1].data) + p.offset(p.b_batch, batch);
    panels_of(piece).pack_columns(b + first * block * p.b_column + piece * piece_length * p.b_row, p.b_column, p.b_row,
                                  smaller(last * block, p.n) - first * block, to, pitch);
  }
  void pack_panels(int64_t batch, int64_t first, int64_t last, char* to) const {
    for (int64_t piece = 0; piece < pieces; ++piece)
      pack_columns(batch, piece, first, last, to + piece * piece_bytes, panel_bytes());
  }
  fe_error* pack_b(char* to) const {
    const int64_t parts = ceil_div(count, panels_at_once), matrices = p.shared_b ? 1 : p.batches;
    const int64_t grain = larger(1, 16384 / larger(1, p.k * block));
    return parallel(call, matrices * parts, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * panels_at_once;
        pack_panels(i / parts, first, smaller(first + panels_at_once, count),
                    to + (i / parts * count + first) * panel_bytes());
      }
    });
  }

  // The memory of a thread: blocks of A, panels of B that this thread alone reads, sums of panels and those of a piece.
  struct Local {
    char *a, *b;
    Sum *totals, *sums;
    typename Products::Own* own;

    Local(ScratchArena& scratch, const GroupedProduct& product) {
      const int64_t together = product.panels_of_task();
      a = scratch.array<char>(product.task_rows / block * product.pieces_of_a() * product.piece_bytes);
      b = scratch.array<char>(product.reads_b_once ? together * product.piece_bytes : 0);
      totals = scratch.array<Sum>(together * block * block);
      sums = scratch.array<Sum>(block * block);
      own = scratch.array<typename Products::Own>(together * block);
    }
  };
  int64_t panels_of_task() const {
    return smaller(count, reads_b_once ? panels_at_once : call.epilogue != nullptr ? panels_of_epilogue : 1);
  }
  int64_t pieces_of_a() const { return reads_b_once ? 1 : pieces; }  // that are kept

  // One task: rows of one batch times a part of the columns.
  struct Task {
    const GroupedProduct& product;
    const Local& memory;
    typename Products::Engine& engine;
    char* local;
    int64_t batch, first_row, rows;

    void pack_rows(int64_t row, int64_t piece, char* to) const {
      const Product& p = product.p;
      const auto* const a = reinterpret_cast<const Element*>(product.call.in[0].data) + p.offset(p.a_batch, batch);
      product.panels_of(piece).pack_rows(a + (first_row + row) * p.a_row + piece * piece_length * p.a_column, p.a_row,
                                         p.a_column, smaller(block, rows - row), to);
    }
    char* piece_of_a(int64_t row, int64_t piece) const {
      return memory.a + (row / block * product.pieces_of_a() + piece % product.pieces_of_a()) * product.piece_bytes;
    }

    fe_error* run(int64_t first, int64_t last) const {
      const bool keeps_a = product.pieces_of_a() == product.pieces;
      if (keeps_a)
        for (int64_t row = 0; row < rows; row += block)
          for (int64_t piece = 0; piece < product.pieces; ++piece) pack_rows(row, piece, piece_of_a(row, piece));
      for (int64_t panel = first; panel < last; panel += product.panels_of_task()) {
        const int64_t end = smaller(last, panel + product.panels_of_task());
        for (int64_t row = 0; row < rows; row += block) {
          for (int64_t piece = 0; piece < product.pieces; ++piece) {
            if (!keeps_a) pack_rows(row, piece, piece_of_a(row, piece));
            multiply(row, piece, panel, end);
          }
          if (fe_error* error = finish(row, panel, end)) return error;
        }
      }
      return nullptr;
    }

    // Adds the products of a piece to the totals of the panels [first, last).
    void multiply(int64_t row, int64_t piece, int64_t first, int64_t last) const {
      const int64_t k = product.length_of(piece), many = smaller(block, rows - row);
      if (product.reads_b_once) product.pack_columns(batch, piece, first, last, memory.b, product.piece_bytes);
      const Panels panels = product.panels_of(piece);
      char* const a = piece_of_a(row, piece);
      for (int64_t panel = first; panel < last; ++panel) {
        const int64_t number = (product.p.shared_b ? 0 : batch * product.count) + panel;
        char* const b = product.reads_b_once
                            ? memory.b + (panel - first) * product.piece_bytes
                            : product.packed + number * product.panel_bytes() + piece * product.piece_bytes;
        Sum *const totals = memory.totals + (panel - first) * block * block, *const to =
                                                                                 piece == 0 ? totals : memory.sums;
        product.products.multiply(engine, a, b, panels.steps(), many, to);
        product.products.correct(panels, a, b, k, many, smaller(block, product.p.n - panel * block), to);
        if (piece > 0)
          for (int64_t i = 0; i < many * block; ++i) totals[i] += to[i];
      }
    }

    // Writes rows of C, through `own` if there is an epilogue.
    fe_error* finish(int64_t row, int64_t first, int64_t last) const {
      const Product& p = product.p;
      const Call& call = product.call;
      const int64_t begin = first * block, columns = smaller(last * block, p.n) - begin;
      for (int64_t i = 0; i < smaller(block, rows - row); ++i) {
        const int64_t at = (batch * p.m + first_row + row + i) * p.n + begin;
        for (int64_t j = 0; j < columns; j += block) {
          const Sum* const sums = memory.totals + (j + i) * block;
          if (call.epilogue == nullptr)
            Products::put(sums, smaller(block, columns - j),
                          reinterpret_cast<typename Products::Result*>(call.out[0].data) + at + j);
          else
            Products::put(sums, smaller(block, columns - j), memory.own + j);
        }
        if (call.epilogue == nullptr) continue;
        if (fe_error* error = call.epilogue->apply(call.epilogue, at, columns, memory.own, local)) return error;
      }
      return nullptr;
    }
  };

  fe_error* run() {
    packed = call.in[1].prepared ? call.in[1].data : call.scratch;
    if (!call.in[1].prepared && !reads_b_once)
      if (fe_error* error = pack_b(call.scratch)) return error;
    return parallel_with_local(call, tasks(), 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
      typename Products::Engine engine;
      ScratchArena scratch(local);
      const Local memory(scratch, *this);
      const int64_t row_blocks = ceil_div(p.m, task_rows);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t batch = task / (row_blocks * column_blocks), part = task % column_blocks;
        const int64_t row = task / column_blocks % row_blocks * task_rows;
        const Task one{*this, memory, engine, local, batch, row, smaller(task_rows, p.m - row)};
        if (fe_error* error = one.run(part * count / column_blocks, (part + 1) * count / column_blocks)) return error;
      }
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
  const typename GroupedProduct<Products>::Local memory(scratch, product);
  return LocalScratch{scratch.bytes(), product.tasks()};
}

template <class Products>
uint64_t grouped_prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n < tile_rows) return 0;  // few columns would take many times their memory
  snprintf(key, key_capacity, "groups/%d/k%lld:%lld/n%lld:%lld", static_cast<int>(call.in[1].dtype),
           static_cast<long long>(p.k), static_cast<long long>(p.b_row), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  const GroupedProduct<Products> product(call);
  return static_cast<uint64_t>(product.count * product.panel_bytes());
}

template <class Products>
void prepare_groups(const Call& call, uint32_t, void* to) {
  const GroupedProduct<Products> product(call);
  for (int64_t i = 0; i < product.count; i += panels_at_once)
    product.pack_panels(0, i, smaller(i + panels_at_once, product.count),
                        static_cast<char*>(to) + i * product.panel_bytes());
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
