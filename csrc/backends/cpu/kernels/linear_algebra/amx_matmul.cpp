// Matrix products of bfloat16, and of bytes modulo 256, by the tile registers of AMX. Only variants with AMX have it.
//
// A block of C is 32 x 32: four registers, to which two registers of A and two of B are added in each step of K. A is
// packed by 32 rows, B by panels of 32 columns, both [step][2 registers][1024 bytes] and filled up with zeros. The sums
// stay in registers for all of K, so the bits of an element depend only on its row of A, its column of B, and K.
//
// The instructions take subnormal numbers for zeros, in A, in B and in sums. If no product is smaller than 2^-102, a
// sum loses less by it than by rounding. So packing notes the smallest exponent of each row of A and column of B, and
// an element for which they are too small is computed again without AMX.
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

  static Own own(Sum sum) { return sum; }
  static BFloat16 result(Sum sum) { return narrow_bf16(sum); }
  // The biased exponent, which is 0 for subnormal numbers; of zero the greatest, as it makes no small product.
  static uint8_t exponent(BFloat16 x) {
    return (x.bits & 0x7fffu) == 0 ? 255 : static_cast<uint8_t>(x.bits >> 7 & 0xffu);
  }
  static bool is_lossy(uint8_t a, uint8_t b) { return a == 0 || b == 0 || a + b < 2 * 127 - 102; }
};
struct ByteProducts {
  using Element = uint8_t;
  using Sum = uint32_t;
  using Own = uint8_t;
  static constexpr int64_t group = 4;

  static Own own(Sum sum) { return static_cast<uint8_t>(sum); }
  static uint8_t result(Sum sum) { return static_cast<uint8_t>(sum); }
  static uint8_t exponent(uint8_t) { return 255; }
  static bool is_lossy(uint8_t, uint8_t) { return false; }
};

// Bytes of 32 packed rows or columns: the registers, and then the smallest exponents.
template <class P>
constexpr int64_t steps_of(int64_t k) {
  return ceil_div(k, tile_rows * P::group);
}
template <class P>
constexpr int64_t panel_bytes(int64_t k) {
  return steps_of<P>(k) * 2 * tile_bytes + 64;
}
template <class P>
uint8_t* exponents_of(char* panel, int64_t k) {
  return reinterpret_cast<uint8_t*>(panel + steps_of<P>(k) * 2 * tile_bytes);
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

// Packs up to 32 rows of A, or columns of B.
template <class P, int64_t (*place)(int64_t i, int64_t k)>
void pack_panel(const typename P::Element* from, int64_t stride, int64_t k_stride, int64_t count, int64_t k, char* to) {
  memset(to, 0, panel_bytes<P>(k));
  uint8_t* const exponents = exponents_of<P>(to, k);
  for (int64_t i = 0; i < block; ++i) {
    uint8_t smallest = 255;
    for (int64_t j = 0; i < count && j < k; ++j) {
      const typename P::Element x = from[i * stride + j * k_stride];
      memcpy(to + place(i, j), &x, sizeof x);
      const uint8_t exponent = P::exponent(x);
      smallest = exponent < smallest ? exponent : smallest;
    }
    exponents[i] = smallest;
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

// sums[32][32] = a * b
template <class P>
void multiply_block(Tiles& tiles, const char* a, const char* b, int64_t steps, typename P::Sum* sums) {
  tiles.zero<0>();
  tiles.zero<1>();
  tiles.zero<2>();
  tiles.zero<3>();
  for (int64_t step = 0; step < steps; ++step, a += 2 * tile_bytes, b += 2 * tile_bytes) {
    tiles.load<4>(a);
    tiles.load<5>(a + tile_bytes);
    tiles.load<6>(b);
    tiles.load<7>(b + tile_bytes);
    add_products<0, 4, 6>(P{}, tiles);
    add_products<1, 4, 7>(P{}, tiles);
    add_products<2, 5, 6>(P{}, tiles);
    add_products<3, 5, 7>(P{}, tiles);
  }
  constexpr int64_t pitch = block * static_cast<int64_t>(sizeof(typename P::Sum));
  tiles.store<0>(sums, pitch);
  tiles.store<1>(sums + tile_rows, pitch);
  tiles.store<2>(sums + tile_rows * block, pitch);
  tiles.store<3>(sums + tile_rows * block + tile_rows, pitch);
}

// The memory of a thread.
template <class P>
struct Local {
  char* a;
  typename P::Sum* sums;
  typename P::Own* own;

  Local(ScratchArena& scratch, int64_t k)
      : a(scratch.array<char>(panel_bytes<P>(k))),
        sums(scratch.array<typename P::Sum>(block * block)),
        own(scratch.array<typename P::Own>(block)) {}
};

template <class P>
struct Multiplication {
  using Element = typename P::Element;
  using Sum = typename P::Sum;
  const Call& call;
  const Product p;
  char* packed;  // [batch or 1][panel]
  int64_t column_blocks = 1;

  Multiplication(const Call& call, const Product& product) : call(call), p(product), packed(nullptr) {
    // Enough tasks for the threads, unless each would pack A again for little work.
    const int64_t work = p.m * p.n * p.k, rows = ceil_div(p.m, block) * p.batches;
    column_blocks = smaller(smaller(panels(), ceil_div(12, larger(1, rows))), larger(1, work >> 24));
  }

  int64_t panels() const { return ceil_div(p.n, block); }
  int64_t tasks() const { return p.batches * ceil_div(p.m, block) * column_blocks; }

  // Bytes of B in all panels.
  int64_t packed_bytes() const { return panels() * (p.shared_b ? 1 : p.batches) * panel_bytes<P>(p.k); }
  void pack_panel_of_b(int64_t i, char* to) const {
    const auto* b = reinterpret_cast<const Element*>(call.in[1].data) + p.offset(p.b_batch, i / panels());
    const int64_t column = i % panels() * block;
    pack_panel<P, place_in_b<P>>(b + column * p.b_column, p.b_column, p.b_row, smaller(block, p.n - column), p.k,
                                 to + i * panel_bytes<P>(p.k));
  }
  fe_error* pack_b(char* to) const {
    const int64_t matrices = p.shared_b ? 1 : p.batches, grain = larger(1, 65536 / larger(1, p.k * block));
    return parallel(call, matrices * panels(), grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) pack_panel_of_b(i, to);
    });
  }

  // One task: 32 rows of one batch times a part of the columns.
  fe_error* rows_times_columns(Tiles& tiles, int64_t task, char* local) const {
    ScratchArena scratch(local);
    const Local<P> memory(scratch, p.k);
    const int64_t row_blocks = ceil_div(p.m, block), batch = task / (row_blocks * column_blocks);
    const int64_t row = task / column_blocks % row_blocks * block, part = task % column_blocks;
    const int64_t rows = smaller(block, p.m - row);
    pack_panel<P, place_in_a<P>>(
        reinterpret_cast<const Element*>(call.in[0].data) + p.offset(p.a_batch, batch) + row * p.a_row, p.a_row,
        p.a_column, rows, p.k, memory.a);
    for (int64_t panel = part * panels() / column_blocks; panel < (part + 1) * panels() / column_blocks; ++panel) {
      char* const b = packed + ((p.shared_b ? 0 : batch * panels()) + panel) * panel_bytes<P>(p.k);
      multiply_block<P>(tiles, memory.a, b, steps_of<P>(p.k), memory.sums);
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
    const uint8_t *of_a = exponents_of<P>(a, p.k), *of_b = exponents_of<P>(b, p.k);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        if (!P::is_lossy(of_a[i], of_b[j])) continue;
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
  if (!call.in[1].prepared)
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
    const Local<P> memory(scratch, p.k);
    return LocalScratch{scratch.bytes(), Multiplication<P>(call, p).tasks()};
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
    for (int64_t i = 0; i < product.panels(); ++i) product.pack_panel_of_b(i, static_cast<char*>(to));
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
