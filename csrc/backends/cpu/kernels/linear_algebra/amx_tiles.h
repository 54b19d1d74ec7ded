// Rows of x for products by the tile registers of AMX with weights that are decoded to bfloat16; amx_linear.cpp says
// how.
#pragma once

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

// Splits `part` elements into three times as many: to[third * pitch + element]. Returns whether all are in the range
// that AMX keeps.
[[maybe_unused]] static HWY_INLINE bool split(const float* x, BFloat16* to, int64_t pitch) {
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

// Rows of x as bfloat16, and their products with a panel whose weights are decoded part by part. A part has `sections`
// scales for each column, and with `has_rest` as many numbers that are added to each weight.
//
// The products of a tile of rows with a section are a job: they are computed in registers, stored, scaled and added. A
// step begins when the step before it has begun for the next job, so that none waits.
template <int64_t sections, bool has_rest>
class AmxTiles {
 public:
  // Weights of a part: the integers as pairs of elements, [column tile][16 pairs][16 columns], and
  // [section][panel_columns] of the others.
  struct Weights {
    uint32_t* pairs;
    float *scale, *rest;

    bool are_finite() const { return all_sections_finite<sections, has_rest>(scale, rest); }
    void leave_out() {
      memset(scale, 0, sections * panel_columns * sizeof(float));
      memset(rest, 0, sections * panel_columns * sizeof(float));
    }
  };

  // As many rows as stay in the second-level cache, in groups of equal height.
  static int64_t together(const Product& p) {
    constexpr int64_t cache = 3 << 19;
    const int64_t most = larger(1, smaller(16, cache / (larger(1, p.k) * 6 * tile_rows))) * tile_rows;
    return ceil_div(p.m, larger(1, ceil_div(p.m, most)));
  }

  AmxTiles(ScratchArena& scratch, const Product& product) : p_(product) {
    const int64_t rows = together(p_), tiles = ceil_div(rows, tile_rows), parts = p_.k / part;
    const int64_t places = tiles * tall_of(rows) * parts;
    x_ = scratch.array<BFloat16>(places * 3 * part);
    sums_ = scratch.array<float>(has_rest ? places * sections : 0);
    left_out_ = scratch.array<uint16_t>(tiles * parts);
    pairs_ = scratch.array<uint32_t>(2 * register_size);
    scales_ = scratch.array<float>(buffers * sections * panel_columns);
    rests_ = scratch.array<float>(buffers * sections * panel_columns);
    products_ = scratch.array<float>(2 * register_size);
    row_ = scratch.array<float>(part);
  }

  int64_t rows() const { return rows_; }
  // Part `number` of a row, of which no other may be read at the same time.
  const float* part_of(int64_t row, int64_t number) {
    const float* const x = given_ + row * p_.a_row + number * part * p_.a_column;
    if (p_.a_column == 1) return x;
    for (int64_t i = 0; i < part; ++i) row_[i] = x[i * p_.a_column];
    return row_;
  }

  // `x`: the first row
  void pack_rows(const float* x, int64_t rows) {
    given_ = x;
    rows_ = rows;
    tiles_ = ceil_div(rows, tile_rows);
    tall_ = tall_of(rows);
    is_short_ = 3 * tall_ <= tile_rows;
    is_complete_ = true;
    shape_registers();
    BFloat16* to = x_;
    for (int64_t i = 0; i < p_.k / part * tiles_; ++i, to += 3 * tall_ * part) {
      const int64_t first = i % tiles_ * tall_;
      left_out_[i] = 0;
      for (int64_t row = 0; row < tall_; ++row) {
        const bool is_row = first + row < rows;
        if (is_row && pack_row(part_of(first + row, i / tiles_), row, i, to + row * part)) continue;
        leave_out(row, i, to + row * part);
        if (!is_row) continue;
        left_out_[i] = static_cast<uint16_t>(left_out_[i] | 1 << row);
        is_complete_ = false;
      }
    }
  }
  // Whether AMX multiplies all parts of all rows, or that of a row.
  bool is_complete() const { return is_complete_; }
  bool is_left_out(int64_t row, int64_t number) const {
    return (left_out_[number * tiles_ + row / tall_] >> row % tall_ & 1) != 0;
  }

  // Products with a panel: c[rows][panel_columns] += the sum of multiply(number) for all parts. weights(number) is
  // written before, and may be overwritten when two more parts were multiplied.
  void begin(float* c) { c_ = c; }
  Weights weights(int64_t number) const {
    const int64_t scale = number % buffers * sections * panel_columns;
    return {pairs_ + number % 2 * register_size, scales_ + scale, rests_ + scale};
  }
  void multiply(int64_t number) { is_short_ ? multiply_part<true>(number) : multiply_part<false>(number); }
  void finish() {
    for (int i = 0; i < 2; ++i) {
      turn_ ^= 1;
      if (is_short_)
        turn_ == 0 ? go_on<true, 0>() : go_on<true, 1>();
      else
        turn_ == 0 ? go_on<false, 0>() : go_on<false, 1>();
    }
  }

 private:
  static constexpr int64_t per_scale = part / sections;
  static constexpr int64_t register_size = column_tiles * tile_rows * 16;  // elements of those beside each other
  static constexpr int64_t buffers = 4;  // of scales: as many parts as are decoded and not added yet, rounded up

  struct Job {
    float* c = nullptr;
    const float *scale = nullptr, *rest = nullptr, *sums = nullptr;
    int64_t rows = 0;
  };

  static int64_t tall_of(int64_t rows) { return ceil_div(rows, larger(1, ceil_div(rows, tile_rows))); }

  void shape_registers() {
    TileShapes shapes;
    const auto height = static_cast<uint8_t>(is_short_ ? 3 * tall_ : tall_);
    for (int t = 0; t < 6; ++t) shapes.rows[t] = height;
    for (int t = 4; t < 6; ++t) shapes.row_bytes[t] = static_cast<uint16_t>(2 * per_scale);
    for (int t = 6; t < 8; ++t) shapes.rows[t] = static_cast<uint8_t>(per_scale / 2);
    registers_.set(shapes);
  }

  // Returns false if AMX cannot multiply the part of a row.
  bool pack_row(const float* x, int64_t row_of_tile, int64_t place, BFloat16* to) {
    const Full<float> d;
    if (!split(x, to, tall_ * part)) return false;
    if constexpr (has_rest)
      for (int64_t section = 0; section < sections; ++section) {
        Lanes sum = hn::Zero(d);
        for (int64_t i = 0; i < per_scale; i += lanes) sum = hn::Add(sum, hn::LoadU(d, x + section * per_scale + i));
        sums_[(place * sections + section) * tall_ + row_of_tile] = hn::GetLane(hn::SumOfLanes(d, sum));
      }
    return true;
  }
  void leave_out(int64_t row_of_tile, int64_t place, BFloat16* to) {
    for (int third = 0; third < 3; ++third) memset(to + third * tall_ * part, 0, part * sizeof(BFloat16));
    if constexpr (has_rest)
      for (int64_t section = 0; section < sections; ++section)
        sums_[(place * sections + section) * tall_ + row_of_tile] = 0;
  }

  template <bool is_short>
  HWY_NOINLINE void multiply_part(int64_t number) {
    // Members are read again after each access to a register.
    const int64_t tall = tall_, tiles = tiles_, rows = rows_;
    const Weights w = weights(number);
    const BFloat16* x = x_ + number * tiles * 3 * tall * part;
    const float* sums = sums_ + number * tiles * sections * tall;
    for (int64_t section = 0; section < sections; ++section) {
      const uint32_t* const pairs = w.pairs + section * per_scale / 2 * 16;
      registers_.template load<6>(pairs);
      if constexpr (column_tiles == 2) registers_.template load<7>(pairs + tile_rows * 16);
      Job job{c_, w.scale + section * panel_columns, w.rest + section * panel_columns, sums + section * tall, tall};
      for (int64_t tile = 0; tile < tiles; ++tile) {
        job.rows = smaller(tall, rows - tile * tall);
        turn_ ^= 1;
        turn_ == 0 ? multiply_tile<is_short, 0>(x + tile * 3 * tall * part + section * per_scale, tall * part, job)
                   : multiply_tile<is_short, 1>(x + tile * 3 * tall * part + section * per_scale, tall * part, job);
        job.c += tall * panel_columns;
        job.sums += sections * tall;
      }
    }
  }
  // Multiplies with the loaded weights. `third`: elements between the thirds of x
  template <bool is_short, int turn>
  HWY_INLINE void multiply_tile(const BFloat16* x, int64_t third, const Job& job) {
    constexpr int c = 2 * turn;
    registers_.template zero<c>();
    registers_.template zero<c + 1>();
    registers_.template load<4>(x);
    add_products<c, 4>();
    if constexpr (!is_short) {
      registers_.template load<5>(x + third);
      add_products<c, 5>();
      registers_.template load<4>(x + 2 * third);
      add_products<c, 4>();
    }
    go_on<is_short, turn>();
    jobs_[turn] = job;
  }
  template <int c, int a>
  HWY_INLINE void add_products() {
    registers_.template add_products_bf16<c, a, 6>();
    if constexpr (column_tiles == 2) registers_.template add_products_bf16<c + 1, a, 7>();
  }

  // Stores the products of the other turn, and adds those of this one, which were stored before.
  template <bool is_short, int turn>
  HWY_INLINE void go_on() {
    constexpr int other = 1 - turn;
    if (jobs_[other].c != nullptr) {
      float* const to = products_ + other * register_size;
      registers_.template store<2 * other>(to, tile_row_bytes);
      if constexpr (column_tiles == 2)
        registers_.template store<2 * other + 1>(to + (is_short ? 3 : 1) * tall_ * 16, tile_row_bytes);
    }
    if (jobs_[turn].c != nullptr) add<is_short>(jobs_[turn], products_ + turn * register_size);
    jobs_[turn].c = nullptr;
  }
  // c += scale * products + rest * sums
  template <bool is_short>
  HWY_INLINE void add(const Job& job, const float* from) {
    const Full<float> d;
    const int64_t tall = tall_, height = (is_short ? 3 : 1) * tall, count = job.rows;
    float* to = job.c;
    const float* const sums = job.sums;
    Lanes scale[vectors], rest[vectors];
    for_vectors_of_panel([&](auto v) {
      scale[v.value] = hn::Load(d, job.scale + v.value * lanes);
      if constexpr (has_rest) rest[v.value] = hn::Load(d, job.rest + v.value * lanes);
    });
    for (int64_t i = 0; i < count; ++i, to += panel_columns)
      for_vectors_of_panel([&](auto v) {
        const float* const at = from + place_of_vector(v.value, height) + i * 16;
        Lanes sum = hn::Load(d, at);
        if constexpr (is_short)
          sum = hn::Add(hn::Add(sum, hn::Load(d, at + tall * 16)), hn::Load(d, at + 2 * tall * 16));
        Lanes all = hn::MulAdd(sum, scale[v.value], hn::Load(d, to + v.value * lanes));
        if constexpr (has_rest) all = hn::MulAdd(hn::Set(d, sums[i]), rest[v.value], all);
        hn::Store(all, d, to + v.value * lanes);
      });
  }

  const Product& p_;
  BFloat16* x_;             // [part][tile][third][row of the tile][32]
  float* sums_;             // [part][tile][section][row of the tile], of the elements of a part
  uint16_t* left_out_;      // [part][tile]: a bit for each row that AMX does not multiply
  uint32_t* pairs_;         // of two parts, so that the one is decoded while the other is multiplied
  float *scales_, *rests_;  // of as many parts as may be decoded and not be added yet
  float *products_, *row_;
  const float* given_ = nullptr;
  float* c_ = nullptr;
  int64_t rows_ = 0, tiles_ = 0, tall_ = 0;  // tall_: rows of a tile
  bool is_short_ = false;                    // all thirds are rows of one register
  bool is_complete_ = true;
  int turn_ = 0;
  Job jobs_[2];
  Tiles registers_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
