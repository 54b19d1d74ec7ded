// x @ w.T with weights in blocks by the tile registers of AMX. Only variants with AMX have it.
//
// A float32 is exactly the sum of three bfloat16 numbers, and the integers of a block are bfloat16 numbers. So a part
// of 32 elements of k, or 16 where a scale is for 16, is three products for each row of x, whose sums are float32.
//
// Invariance: element (i, j) is, for each such part in order, the sum of the three products, which is scaled and added
// to the sum of the earlier parts; then the rest of the weights times the sum of the part of x is added. So the bits
// depend on row i of x, row j of w and K alone, although up to 5 rows take one register for all three products and more
// rows take three: a register is added to with one rounding.
//
// The instructions take subnormal numbers for zeros. So a part of a row with an element outside 2^-100 to 2^100 is
// multiplied without them, and so is a part with a scale that is not finite. These are added last, in order.
#include "../../amx_permission.h"
#include "amx_registers.h"
#include "block_product.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t tile_columns = panel_columns < 16 ? panel_columns : 16;
constexpr int64_t column_tiles = panel_columns / tile_columns;
static_assert(column_tiles == 1 || column_tiles == 2);

// The address of vector v of a row of 32-bit elements in [column tile][tile_rows][16], for a tile of `rows` rows.
constexpr int64_t place_of_vector(int v, int64_t rows) {
  return v * lanes / tile_columns * rows * 16 + v * lanes % tile_columns;
}

// Integers as pairs of bfloat16, [column tile][16 pairs of elements][16 columns].
struct BFloat16Pairs {
  uint32_t* pairs;
  float *scale, *rest;
  Words even[vectors];

  template <int v>
  HWY_INLINE void add(Lanes integers, int64_t element) {
    const Full<uint32_t> d;
    const Words bits = hn::BitCast(d, integers);
    if (element % 2 == 0)
      even[v] = hn::ShiftRight<16>(bits);
    else
      hn::Store(hn::OrAnd(even[v], bits, hn::Set(d, 0xffff0000)), d,
                pairs + place_of_vector(v, tile_rows) + element / 2 * 16);
  }
#if HWY_MAX_BYTES == 64
  template <int v>
  HWY_INLINE void add_pair(Halves both, int64_t pair) {
    const Full<uint32_t> d;
    hn::Store(hn::BitCast(d, both), d, pairs + place_of_vector(v, tile_rows) + pair * 16);
  }
#endif
};

// Splits `part` elements into three times as many: to[third * pitch + element]. Returns whether all are in the range
// that AMX keeps.
HWY_INLINE bool split(const float* x, BFloat16* to, int64_t pitch) {
  const Full<float> d;
  const Full<uint16_t> d16;
  const auto high = hn::Set(Full<uint32_t>(), 0xffff0000);
  const auto top = [&](Lanes y) { return hn::BitCast(d, hn::And(hn::BitCast(Full<uint32_t>(), y), high)); };
  auto is_normal = hn::Eq(hn::Zero(d), hn::Zero(d));
  for (int64_t i = 0; i < part; i += 2 * lanes) {
    Lanes left[2] = {hn::LoadU(d, x + i), hn::LoadU(d, x + i + lanes)};
    for (const Lanes y : left) {
      const auto size = hn::Abs(y);
      const auto is_in_range = hn::And(hn::Ge(size, hn::Set(d, 0x1p-100f)), hn::Lt(size, hn::Set(d, 0x1p100f)));
      is_normal = hn::And(is_normal, hn::Or(is_in_range, hn::Eq(size, hn::Zero(d))));
    }
    for (int third = 0; third < 3; ++third) {
      const auto halves = hn::ConcatOdd(d16, hn::BitCast(d16, left[1]), hn::BitCast(d16, left[0]));
      hn::StoreU(halves, d16, reinterpret_cast<uint16_t*>(to + third * pitch + i));
      for (Lanes& y : left) y = hn::Sub(y, top(y));
    }
  }
  return hn::AllTrue(d, is_normal);
}

// Rows of x as bfloat16 in tiles of equal height: [part][tile][third][row of the tile][32].
template <DType dtype>
class AmxRows {
 public:
  using Panel = BlockPanel<dtype>;

  // As many rows as stay in the second-level cache, in groups of equal height.
  static int64_t together(const Product& p) {
    constexpr int64_t cache = 3 << 19;
    const int64_t most = larger(1, smaller(16, cache / (larger(1, p.k) * 6 * tile_rows))) * tile_rows;
    return ceil_div(p.m, larger(1, ceil_div(p.m, most)));
  }

  AmxRows(ScratchArena& scratch, const Product& product) : p_(product) {
    const int64_t rows = together(p_), tiles = ceil_div(rows, tile_rows), parts = p_.k / part;
    const int64_t places = tiles * tall_of(rows) * parts;
    x_ = scratch.array<BFloat16>(places * 3 * part);
    sums_ = scratch.array<float>(Panel::has_rest ? places * sections : 0);
    left_out_ = scratch.array<uint16_t>(tiles * parts);
    pairs_ = scratch.array<uint32_t>(2 * pairs);
    scales_ = scratch.array<float>(buffers * sections * panel_columns);
    rests_ = scratch.array<float>(buffers * sections * panel_columns);
    products_ = scratch.array<float>(2 * products);
    row_ = scratch.array<float>(part);
    w_ = scratch.array<float>(part * panel_columns);
  }

  void pack_rows(const float* x, int64_t rows) {
    given_ = x;
    rows_ = rows;
    tiles_ = ceil_div(rows, tile_rows);
    tall_ = tall_of(rows);
    is_complete_ = true;
    shape_registers();
    BFloat16* to = x_;
    for (int64_t i = 0; i < p_.k / part * tiles_; ++i, to += 3 * tall_ * part) {
      const int64_t first = i % tiles_ * tall_;
      left_out_[i] = 0;
      for (int64_t row = 0; row < tall_; ++row)
        if (first + row >= rows || !pack_row(first + row, i / tiles_, row, i, to + row * part)) {
          leave_out(row, i, to + row * part);
          if (first + row < rows) {
            left_out_[i] = static_cast<uint16_t>(left_out_[i] | 1 << row);
            is_complete_ = false;
          }
        }
    }
  }

  void multiply(const Panel* panels, int64_t blocks, float* c) {
    memset(c, 0, static_cast<size_t>(rows_ * panel_columns) * sizeof(float));
    const bool has_finite_scales = 3 * tall_ <= tile_rows ? multiply_tiles<true>(panels, blocks * parts_of_block, c)
                                                          : multiply_tiles<false>(panels, blocks * parts_of_block, c);
    if (is_complete_ && has_finite_scales) return;
    for (int64_t number = 0; number < blocks * parts_of_block; ++number)
      add_left_out(panels[number / parts_of_block], number, c);
  }

 private:
  static constexpr int64_t sections = Panel::scales_per_part, per_scale = part / sections;
  static constexpr int64_t parts_of_block = Block<dtype>::elements / part;
  static constexpr int64_t pairs = column_tiles * tile_rows * 16, pairs_of_section = per_scale / 2 * 16;
  static constexpr int64_t products = column_tiles * tile_rows * 16;
  static constexpr int64_t scales = sections * panel_columns;
  static constexpr int64_t buffers = 4;  // of scales: as many parts as are decoded and not added yet, rounded up

  static int64_t tall_of(int64_t rows) { return ceil_div(rows, larger(1, ceil_div(rows, tile_rows))); }

  void shape_registers() {
    TileShapes shapes;
    const auto height = static_cast<uint8_t>(3 * tall_ <= tile_rows ? 3 * tall_ : tall_);
    for (int t = 0; t < 6; ++t) shapes.rows[t] = height;
    for (int t = 4; t < 6; ++t) shapes.row_bytes[t] = static_cast<uint16_t>(2 * per_scale);
    for (int t = 6; t < 8; ++t) shapes.rows[t] = static_cast<uint8_t>(per_scale / 2);
    registers_.set(shapes);
  }

  // Returns false if AMX cannot multiply the part of the row.
  bool pack_row(int64_t row, int64_t number, int64_t row_of_tile, int64_t place, BFloat16* to) {
    const Full<float> d;
    const float* const x = part_of(row, number);
    if (!split(x, to, tall_ * part)) return false;
    if constexpr (Panel::has_rest)
      for (int64_t section = 0; section < sections; ++section) {
        Lanes sum = hn::Zero(d);
        for (int64_t i = 0; i < per_scale; i += lanes) sum = hn::Add(sum, hn::LoadU(d, x + section * per_scale + i));
        sums_[(place * sections + section) * tall_ + row_of_tile] = hn::GetLane(hn::SumOfLanes(d, sum));
      }
    return true;
  }
  void leave_out(int64_t row_of_tile, int64_t place, BFloat16* to) {
    for (int third = 0; third < 3; ++third) memset(to + third * tall_ * part, 0, part * sizeof(BFloat16));
    if constexpr (Panel::has_rest)
      for (int64_t section = 0; section < sections; ++section)
        sums_[(place * sections + section) * tall_ + row_of_tile] = 0;
  }
  const float* part_of(int64_t row, int64_t number) {
    const float* const x = given_ + row * p_.a_row + number * part * p_.a_column;
    if (p_.a_column == 1) return x;
    for (int64_t i = 0; i < part; ++i) row_[i] = x[i * p_.a_column];
    return row_;
  }

  static bool all_finite(const float* scale, const float* rest) {
    bool are_all = true;
    for (int64_t j = 0; j < scales; j += panel_columns)
      are_all = are_all && are_finite(scale + j) && (!Panel::has_rest || are_finite(rest + j));
    return are_all;
  }

  // Multiplies what AMX can. Returns false if some scales are not finite; their parts are left out. Local variables
  // stay in registers: members are read again after each access to a tile register.
  template <bool is_short>
  bool multiply_tiles(const Panel* panels, int64_t parts, float* c) {
    float *const all_scales = scales_, *const all_rests = rests_;
    uint32_t* const all_pairs = pairs_;
    bool has_finite_scales = true;
    Jobs<is_short> jobs(*this, c);
    for (int64_t number = 0; number < parts; ++number) {
      float *const scale = all_scales + number % buffers * scales, *const rest = all_rests + number % buffers * scales;
      BFloat16Pairs sink{all_pairs + number % 2 * pairs, scale, rest, {}};
      panels[number / parts_of_block].decode_integers(number % parts_of_block, sink);
      if (!all_finite(scale, rest)) {
        has_finite_scales = false;
        memset(scale, 0, scales * sizeof(float));
        memset(rest, 0, scales * sizeof(float));
      }
      // A register that is loaded right after its memory was written would wait for it.
      if (number > 0) jobs.multiply(number - 1);
    }
    if (parts > 0) jobs.multiply(parts - 1);
    jobs.finish();
    return has_finite_scales;
  }

  // Adds the products with a part that AMX does not multiply.
  void add_left_out(const Panel& panel, int64_t number, float* c) {
    BFloat16Pairs sink{pairs_, scales_, rests_, {}};
    panel.decode_integers(number % parts_of_block, sink);
    const bool are_all = !all_finite(scales_, rests_);
    for (int64_t row = 0; row < rows_; ++row)
      if (are_all || (left_out_[number * tiles_ + row / tall_] >> row % tall_ & 1) != 0) {
        alignas(64) float scale[panel_columns];
        decode_floats(panel, number % parts_of_block, w_, scale);
        multiply_part<1, Panel::is_scaled>(part_of(row, number), w_, scale, false, c + row * panel_columns);
      }
  }

  // The products of one panel, of which each tile of rows and each scale is a job: the products are computed in
  // registers, stored, scaled and added. A step begins when the step before it has begun for the next job, so that none
  // waits.
  template <bool is_short>
  class Jobs {
   public:
    Jobs(AmxRows& rows, float* c)
        : rows_(rows), c_(c), x_(rows.x_), products_(rows.products_), tall_(rows.tall_), tiles_(rows.tiles_) {}

    // The products with the weights of a part.
    HWY_INLINE void multiply(int64_t number) {
      for (int64_t section = 0; section < sections; ++section) {
        const uint32_t* const weights = rows_.pairs_ + number % 2 * pairs + section * pairs_of_section;
        const int64_t scale = (number % buffers * sections + section) * panel_columns;
        rows_.registers_.template load<6>(weights);
        if constexpr (column_tiles == 2) rows_.registers_.template load<7>(weights + tile_rows * 16);
        for (int64_t tile = 0; tile < tiles_; ++tile) {
          const int64_t place = number * tiles_ + tile;
          const BFloat16* const x = x_ + place * 3 * tall_ * part + section * per_scale;
          const Job job{c_ + tile * tall_ * panel_columns, rows_.scales_ + scale, rows_.rests_ + scale,
                        rows_.sums_ + (place * sections + section) * tall_, smaller(tall_, rows_.rows_ - tile * tall_)};
          turn_ ^= 1;
          turn_ == 0 ? begin<0>(x, job) : begin<1>(x, job);
        }
      }
    }
    void finish() {
      for (int i = 0; i < 2; ++i) {
        turn_ ^= 1;
        turn_ == 0 ? go_on<0>() : go_on<1>();
      }
    }

   private:
    struct Job {
      float* c = nullptr;
      const float *scale = nullptr, *rest = nullptr, *sums = nullptr;
      int64_t rows = 0;
    };

    // Multiplies a tile of rows with the loaded weights.
    template <int turn>
    HWY_INLINE void begin(const BFloat16* x, const Job& job) {
      constexpr int c = 2 * turn;
      const int64_t third = tall_ * part;
      Tiles& tiles = rows_.registers_;
      tiles.zero<c>();
      tiles.zero<c + 1>();
      tiles.load<4>(x);
      add_products<c, 4>();
      if constexpr (!is_short) {
        tiles.load<5>(x + third);
        add_products<c, 5>();
        tiles.load<4>(x + 2 * third);
        add_products<c, 4>();
      }
      go_on<turn>();
      jobs_[turn] = job;
    }
    template <int c, int a>
    HWY_INLINE void add_products() {
      rows_.registers_.template add_products_bf16<c, a, 6>();
      if constexpr (column_tiles == 2) rows_.registers_.template add_products_bf16<c + 1, a, 7>();
    }

    // Stores the products of the other turn, and adds those of this one, which were stored before.
    template <int turn>
    HWY_INLINE void go_on() {
      constexpr int other = 1 - turn;
      if (jobs_[other].c != nullptr) {
        float* const to = products_ + other * products;
        rows_.registers_.template store<2 * other>(to, tile_row_bytes);
        if constexpr (column_tiles == 2) rows_.registers_.template store<2 * other + 1>(to + height(), tile_row_bytes);
      }
      if (jobs_[turn].c != nullptr) add(jobs_[turn], products_ + turn * products);
      jobs_[turn].c = nullptr;
    }

    // c += scale * products + rest * sums
    HWY_INLINE void add(const Job& job, const float* from) {
      const Full<float> d;
      const int64_t third = tall_ * 16;
      Lanes scale[vectors], rest[vectors];
      for_vectors_of_panel([&](auto v) {
        scale[v.value] = hn::Load(d, job.scale + v.value * lanes);
        if constexpr (Panel::has_rest) rest[v.value] = hn::Load(d, job.rest + v.value * lanes);
      });
      for (int64_t i = 0; i < job.rows; ++i)
        for_vectors_of_panel([&](auto v) {
          const float* const at = from + place_of_vector(v.value, height() / 16) + i * 16;
          Lanes sum = hn::Load(d, at);
          if constexpr (is_short) sum = hn::Add(hn::Add(sum, hn::Load(d, at + third)), hn::Load(d, at + 2 * third));
          float* const to = job.c + i * panel_columns + v.value * lanes;
          Lanes all = hn::MulAdd(sum, scale[v.value], hn::Load(d, to));
          if constexpr (Panel::has_rest) all = hn::MulAdd(hn::Set(d, job.sums[i]), rest[v.value], all);
          hn::Store(all, d, to);
        });
    }
    int64_t height() const { return (is_short ? 3 : 1) * tall_ * 16; }  // elements of a stored register

    AmxRows& rows_;
    float* const c_;
    const BFloat16* const x_;
    float* const products_;
    const int64_t tall_, tiles_;
    int turn_ = 0;
    Job jobs_[2];
  };

  const Product& p_;
  BFloat16* x_;
  float* sums_;             // [part][tile][section][row], of the elements of a part
  uint16_t* left_out_;      // [part][tile]: a bit for each row that AMX does not multiply
  uint32_t* pairs_;         // of two parts, so that the one is decoded while the other is multiplied
  float *scales_, *rests_;  // of as many parts as may be decoded and not be added yet
  float *products_, *row_, *w_;
  const float* given_ = nullptr;
  int64_t rows_ = 0, tiles_ = 0, tall_ = 0;
  bool is_complete_ = true;
  Tiles registers_;
};

template <DType dtype>
constexpr bool takes<AmxRows, dtype> = has_block<dtype>&& has_integers<dtype>;

bool accepts(const Call& call) { return may_use_amx() && accepts_blocks<AmxRows>(call); }

}  // namespace

KERNEL(amx_linear, .op = "linear", .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS}, .takes_epilogue = true,
       .accepts = accepts, .scratch_size = product_scratch_size, .local_scratch = product_local_scratch<AmxRows>,
       .prepare_size = panels_size<AmxRows>, .prepare = prepare_panels<AmxRows>) {
  return multiply_blocks<AmxRows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
