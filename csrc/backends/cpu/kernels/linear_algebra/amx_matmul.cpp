// Matrix products of bfloat16, and of bytes modulo 256, by the tile registers of AMX. Only variants with AMX have it.
//
// A block of C is 32 x 32: four registers, to which two registers of A and two of B are added in each step of K. A is
// packed by 32 rows, B by panels of 32 columns, both [step][2 registers][1024 bytes] and filled up with zeros. The sums
// stay in registers for all of K, so the bits of an element depend only on its row of A, its column of B, and K.
//
// The instructions take subnormal numbers for zeros, in A, in B and in sums. A sum of normal numbers loses at most
// 2^-126 with each product, which is less than by rounding if no product or the result is smaller than 2^-102. So
// packing notes the smallest magnitude of each row of A and column of B, and an element for which they and the result
// are too small is computed again without AMX.
#include "../../amx_permission.h"
#include "amx_registers.h"
#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t block = 2 * tile_rows;  // rows and columns of a block of C

struct Bfloat16Products {
  using Element = BFloat16;
  using Sum = float;
  using Own = float;                   // what an epilogue reads
  static constexpr int64_t group = 2;  // elements of a column that are side by side in B

  static uint16_t bits(BFloat16 x) { return x.bits; }
  static Own own(Sum sum) { return sum; }
  static BFloat16 result(Sum sum) { return narrow_bf16(sum); }
  // The bits of the magnitude; of zero the greatest, as it makes no small product.
  static uint16_t magnitude(BFloat16 x) {
    const auto bits = static_cast<uint16_t>(x.bits & 0x7fffu);
    return bits == 0 ? uint16_t{0x7fff} : bits;
  }
  static bool is_lossy(uint16_t a, uint16_t b, Sum sum) {
    const int of_a = a >> 7, of_b = b >> 7;  // biased exponents, which are 0 for subnormal numbers
    return of_a == 0 || of_b == 0 || (of_a + of_b < 2 * 127 - 102 && __builtin_fabsf(sum) < 0x1p-102f);
  }
};
struct ByteProducts {
  using Element = uint8_t;
  using Sum = uint32_t;
  using Own = uint8_t;
  static constexpr int64_t group = 4;

  static uint8_t bits(uint8_t x) { return x; }
  static Own own(Sum sum) { return static_cast<uint8_t>(sum); }
  static uint8_t result(Sum sum) { return static_cast<uint8_t>(sum); }
  static uint16_t magnitude(uint8_t) { return 0; }
};

// Bytes of 32 packed rows or columns: the registers, and then the smallest magnitudes.
template <class P>
constexpr int64_t steps_of(int64_t k) {
  return ceil_div(k, tile_rows * P::group);
}
template <class P>
constexpr int64_t panel_bytes(int64_t k) {
  return steps_of<P>(k) * 2 * tile_bytes + block * static_cast<int64_t>(sizeof(uint16_t));
}
template <class P>
uint16_t* smallest_of(char* panel, int64_t k) {
  return reinterpret_cast<uint16_t*>(panel + steps_of<P>(k) * 2 * tile_bytes);
}

// The byte at which element k of row or column i of a packed panel begins.
template <class P>
int64_t place_in_a(int64_t i, int64_t k) {
  constexpr int64_t depth = tile_rows * P::group;
  return (k / depth * 2 + i / tile_rows) * tile_bytes + i % tile_rows * tile_row_bytes +
         k % depth * static_cast<int64_t>(sizeof(typename P::Element));
}
template <class P>
int64_t place_in_b(int64_t i, int64_t k) {
  constexpr int64_t depth = tile_rows * P::group;
  return (k / depth * 2 + i / tile_rows) * tile_bytes + k % depth / P::group * tile_row_bytes +
         (i % tile_rows * P::group + k % P::group) * static_cast<int64_t>(sizeof(typename P::Element));
}

constexpr uint16_t least(uint16_t a, uint16_t b) { return a < b ? a : b; }

template <class P>
uint16_t smallest_in(const typename P::Element* from, int64_t stride, int64_t count) {
  uint16_t smallest = 0x7fff;
  if (stride == 1)
    for (int64_t j = 0; j < count; ++j) smallest = least(smallest, P::magnitude(from[j]));
  else
    for (int64_t j = 0; j < count; ++j) smallest = least(smallest, P::magnitude(from[j * stride]));
  return smallest;
}

// Packs up to 32 rows of A, or columns of B, whose elements along K are `k_stride` apart.
template <class P>
void pack_rows(const typename P::Element* from, int64_t stride, int64_t k_stride, int64_t count, int64_t k, char* to) {
  using Element = typename P::Element;
  constexpr int64_t depth = tile_rows * P::group;
  memset(to, 0, panel_bytes<P>(k));
  for (int64_t i = 0; i < count; ++i) {
    const Element* const row = from + i * stride;
    smallest_of<P>(to, k)[i] = smallest_in<P>(row, k_stride, k);
    for (int64_t j = 0; j < k; j += depth) {
      const int64_t many = smaller(depth, k - j);
      auto* const here = reinterpret_cast<Element*>(to + place_in_a<P>(i, j));
      if (k_stride == 1)
        memcpy(here, row + j, static_cast<size_t>(many) * sizeof(Element));
      else
        for (int64_t q = 0; q < many; ++q) here[q] = row[(j + q) * k_stride];
    }
  }
}
// A word of the registers is a group of K of one column.
template <class P>
void pack_columns(const typename P::Element* from, int64_t stride, int64_t k_stride, int64_t count, int64_t k,
                  char* to) {
  using Element = typename P::Element;
  constexpr int64_t group = P::group, bits = 8 * sizeof(Element);
  static_assert(group * bits == 32);
  uint16_t* const smallest = smallest_of<P>(to, k);
  memset(to, 0, panel_bytes<P>(k));
  for (int64_t i = 0; i < count; ++i) smallest[i] = 0x7fff;
  const auto word_at = [&](int64_t i, int64_t j) { return reinterpret_cast<uint32_t*>(to + place_in_b<P>(i, j)); };
  static constexpr Element zeros[tile_rows]{};
  if (stride == 1) {
    constexpr int64_t ahead = 64;  // rows, which lie on different pages
    for (int64_t j = 0; j < k; j += group) {
      for (int64_t g = 0; g < group; ++g) __builtin_prefetch(from + (j + g + ahead) * k_stride);
      for (int64_t first = 0; first < count; first += tile_rows) {
        const int64_t columns = smaller(tile_rows, count - first);
        const Element* rows[group];
        for (int64_t g = 0; g < group; ++g) rows[g] = j + g < k ? from + first + (j + g) * k_stride : zeros;
        uint32_t* const words = word_at(first, j);
        for (int64_t i = 0; i < columns; ++i) {
          uint32_t word = 0;
          for (int64_t g = 0; g < group; ++g) word |= uint32_t{P::bits(rows[g][i])} << bits * g;
          words[i] = word;
        }
        for (int64_t g = 0; g < group; ++g)
          for (int64_t i = 0; i < columns; ++i)
            smallest[first + i] = least(smallest[first + i], P::magnitude(rows[g][i]));
      }
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    const Element* const column = from + i * stride;
    smallest[i] = smallest_in<P>(column, k_stride, k);
    for (int64_t j = 0; j < k; j += group) {
      uint32_t word = 0;
      if (k_stride == 1 && j + group <= k)
        memcpy(&word, column + j, sizeof word);
      else
        for (int64_t g = 0; g < group && j + g < k; ++g)
          word |= uint32_t{P::bits(column[(j + g) * k_stride])} << bits * g;
      *word_at(i, j) = word;
    }
  }
}

template <int c, int a, int b>
void add_products(Bfloat16Products, Tiles& tiles) {
  tiles.add_products_bf16<c, a, b>();
}
template <int c, int a, int b>
void add_products(ByteProducts, Tiles& tiles) {
  tiles.add_products_u8<c, a, b>();
}

// sums[32][32] = a * b, of which the last 16 rows may be left out.
template <class P, bool has_16_rows>
void multiply_block(Tiles& tiles, const char* a, const char* b, int64_t steps, typename P::Sum* sums) {
  tiles.zero<0>();
  tiles.zero<1>();
  if constexpr (!has_16_rows) {
    tiles.zero<2>();
    tiles.zero<3>();
  }
  for (int64_t step = 0; step < steps; ++step, a += 2 * tile_bytes, b += 2 * tile_bytes) {
    // Few rows wait for the memory of B.
    if constexpr (has_16_rows)
      for (int64_t i = 0; i < 2 * tile_bytes; i += 64) __builtin_prefetch(b + 4 * tile_bytes + i);
    tiles.load<4>(a);
    tiles.load<6>(b);
    tiles.load<7>(b + tile_bytes);
    add_products<0, 4, 6>(P{}, tiles);
    add_products<1, 4, 7>(P{}, tiles);
    if constexpr (!has_16_rows) {
      tiles.load<5>(a + tile_bytes);
      add_products<2, 5, 6>(P{}, tiles);
      add_products<3, 5, 7>(P{}, tiles);
    }
  }
  constexpr int64_t pitch = block * static_cast<int64_t>(sizeof(typename P::Sum));
  tiles.store<0>(sums, pitch);
  tiles.store<1>(sums + tile_rows, pitch);
  if constexpr (!has_16_rows) {
    tiles.store<2>(sums + tile_rows * block, pitch);
    tiles.store<3>(sums + tile_rows * block + tile_rows, pitch);
  }
}

// The memory of a thread. `b`: a panel of B that this thread alone reads.
template <class P>
struct Local {
  char *a, *b;
  typename P::Sum* sums;
  typename P::Own* own;

  Local(ScratchArena& scratch, int64_t k, bool packs_b)
      : a(scratch.array<char>(panel_bytes<P>(k))),
        b(scratch.array<char>(packs_b ? panel_bytes<P>(k) : 0)),
        sums(scratch.array<typename P::Sum>(block * block)),
        own(scratch.array<typename P::Own>(block)) {}
};

template <class P>
struct Multiplication {
  using Element = typename P::Element;
  using Sum = typename P::Sum;
  const Call& call;
  const Product p;
  char* packed;       // [batch or 1][panel]
  bool reads_b_once;  // so that each task packs its panels
  int64_t column_blocks = 1;

  Multiplication(const Call& call, const Product& product)
      : call(call),
        p(product),
        packed(nullptr),
        reads_b_once(!call.in[1].prepared && p.m <= block && (p.batches == 1 || !p.shared_b)) {
    // Enough tasks for the threads, unless each would pack A again for little work.
    const int64_t work = p.m * p.n * p.k, rows = ceil_div(p.m, block) * p.batches;
    column_blocks = smaller(smaller(panels(), ceil_div(12, larger(1, rows))), larger(1, work >> 24));
  }

  int64_t panels() const { return ceil_div(p.n, block); }
  int64_t tasks() const { return p.batches * ceil_div(p.m, block) * column_blocks; }

  // Bytes of B in all panels.
  int64_t packed_bytes() const {
    return reads_b_once ? 0 : panels() * (p.shared_b ? 1 : p.batches) * panel_bytes<P>(p.k);
  }
  // Panel i of those of all batches.
  void pack_panel_of_b(int64_t i, char* to) const {
    const auto* b = reinterpret_cast<const Element*>(call.in[1].data) + p.offset(p.b_batch, i / panels());
    const int64_t column = i % panels() * block;
    pack_columns<P>(b + column * p.b_column, p.b_column, p.b_row, smaller(block, p.n - column), p.k, to);
  }
  fe_error* pack_b(char* to) const {
    const int64_t matrices = p.shared_b ? 1 : p.batches, grain = larger(1, 65536 / larger(1, p.k * block));
    return parallel(call, matrices * panels(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack_panel_of_b(i, to + i * panel_bytes<P>(p.k));
    });
  }

  // One task: 32 rows of one batch times a part of the columns.
  fe_error* rows_times_columns(Tiles& tiles, int64_t task, char* local) const {
    ScratchArena scratch(local);
    const Local<P> memory(scratch, p.k, reads_b_once);
    const int64_t row_blocks = ceil_div(p.m, block), batch = task / (row_blocks * column_blocks);
    const int64_t row = task / column_blocks % row_blocks * block, part = task % column_blocks;
    const int64_t rows = smaller(block, p.m - row);
    pack_rows<P>(reinterpret_cast<const Element*>(call.in[0].data) + p.offset(p.a_batch, batch) + row * p.a_row,
                 p.a_row, p.a_column, rows, p.k, memory.a);
    for (int64_t panel = part * panels() / column_blocks; panel < (part + 1) * panels() / column_blocks; ++panel) {
      const int64_t number = (p.shared_b ? 0 : batch * panels()) + panel;
      char* const b = reads_b_once ? memory.b : packed + number * panel_bytes<P>(p.k);
      if (reads_b_once) pack_panel_of_b(number, b);
      rows <= tile_rows ? multiply_block<P, true>(tiles, memory.a, b, steps_of<P>(p.k), memory.sums)
                        : multiply_block<P, false>(tiles, memory.a, b, steps_of<P>(p.k), memory.sums);
      const int64_t columns = smaller(block, p.n - panel * block);
      if constexpr (__is_same(Sum, float)) repeat_lossy(memory.a, b, rows, columns, memory.sums);
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t at = (batch * p.m + row + i) * p.n + panel * block;
        if (fe_error* error = finish(memory.sums + i * block, at, columns, memory.own, local)) return error;
      }
    }
    return nullptr;
  }

  void repeat_lossy(char* a, char* b, int64_t rows, int64_t columns, float* sums) const {
    const uint16_t *of_a = smallest_of<P>(a, p.k), *of_b = smallest_of<P>(b, p.k);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        if (!P::is_lossy(of_a[i], of_b[j], sums[i * block + j])) continue;
        float sum = 0;
        for (int64_t k = 0; k < p.k; ++k) {
          Element x, y;
          memcpy(&x, a + place_in_a<P>(i, k), sizeof x);
          memcpy(&y, b + place_in_b<P>(j, k), sizeof y);
          sum += widen(x) * widen(y);
        }
        sums[i * block + j] = sum;
      }
  }

  // Writes a row of a block, through `own` if there is an epilogue.
  fe_error* finish(const Sum* sums, int64_t at, int64_t count, typename P::Own* own, char* local) const {
    if (call.epilogue == nullptr) {
      auto* const out = reinterpret_cast<Element*>(call.out[0].data) + at;
      for (int64_t j = 0; j < count; ++j) out[j] = P::result(sums[j]);
      return nullptr;
    }
    for (int64_t j = 0; j < count; ++j) own[j] = static_cast<typename P::Own>(sums[j]);
    return call.epilogue->apply(call.epilogue, at, count, own, local);
  }

  fe_error* run() const {
    return parallel_with_local(call, tasks(), 1, [&](int64_t begin, int64_t end, char* local) -> fe_error* {
      Tiles tiles;
      tiles.set(TileShapes());
      for (int64_t task = begin; task < end; ++task)
        if (fe_error* error = rows_times_columns(tiles, task, local)) return error;
      return nullptr;
    });
  }
};

template <class F>
auto with_products(const Call& call, F f) {
  return call.in[0].dtype == DType::bf16 ? f(Bfloat16Products{}) : f(ByteProducts{});
}

template <class P>
fe_error* multiply(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return nullptr;
  Multiplication<P> product(call, p);
  product.packed = call.in[1].prepared ? call.in[1].data : call.scratch;
  if (!call.in[1].prepared && !product.reads_b_once)
    if (fe_error* error = product.pack_b(call.scratch)) return error;
  return product.run();
}

uint64_t scratch_size(const Call& call) {
  const Product p = product_of(call);
  if (call.in[1].prepared || is_empty(p)) return 0;
  return with_products(call,
                       [&]<class P>(P) { return static_cast<uint64_t>(Multiplication<P>(call, p).packed_bytes()); });
}

LocalScratch local_scratch(const Call& call) {
  const Product p = product_of(call);
  if (is_empty(p)) return {};
  return with_products(call, [&]<class P>(P) {
    ScratchArena scratch(nullptr);
    const Multiplication<P> product(call, p);
    const Local<P> memory(scratch, p.k, product.reads_b_once);
    return LocalScratch{scratch.bytes(), product.tasks()};
  });
}

uint64_t prepare_size(const Call& call, uint32_t input, char* key, size_t key_capacity) {
  if (input != 1 || call.in[1].rank < 1) return 0;
  const Product p = product_of(call);
  if (!p.shared_b || p.k == 0 || p.n == 0) return 0;
  snprintf(key, key_capacity, "amx_matmul/%s/k%lld:%lld/n%lld:%lld", call.in[0].dtype == DType::bf16 ? "bf16" : "bytes",
           static_cast<long long>(p.k), static_cast<long long>(p.b_row), static_cast<long long>(p.n),
           static_cast<long long>(p.b_column));
  return with_products(call,
                       [&]<class P>(P) { return static_cast<uint64_t>(ceil_div(p.n, block) * panel_bytes<P>(p.k)); });
}
void prepare(const Call& call, uint32_t, void* to) {
  with_products(call, [&]<class P>(P) {
    const Multiplication<P> product(call, product_of(call));
    for (int64_t i = 0; i < product.panels(); ++i)
      product.pack_panel_of_b(i, static_cast<char*>(to) + i * panel_bytes<P>(product.p.k));
  });
}

bool accepts(const Call& call) {
  return may_use_amx() && call.in_count >= 2 && call.in[0].dtype == call.in[1].dtype && call.in[0].rank > 0 &&
         call.in[1].rank > 0;
}

}  // namespace

KERNEL(amx_matmul, .op = "matmul", .dtypes = one_of(DType::bf16) | one_of(DType::i8) | one_of(DType::u8),
       .takes_epilogue = true, .accepts = accepts, .scratch_size = scratch_size, .local_scratch = local_scratch,
       .prepare_size = prepare_size, .prepare = prepare) {
  return with_products(call, [&]<class P>(P) { return multiply<P>(call); });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
