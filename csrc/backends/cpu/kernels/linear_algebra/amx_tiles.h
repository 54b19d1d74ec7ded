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
    x_ = scratch.array<BFloat16>(3 * part * larger(places, parts * sections * smaller(rows, most_in_one)));
    sums_ = scratch.array<float>(has_rest ? places * sections : 0);
    left_out_ = scratch.array<uint16_t>(tiles * parts);
    buffers_ = scratch.array<float>(3 * page);
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
    holds_ = tall_ <= most_in_one ? Holds::all_sections : 3 * tall_ <= tile_rows ? Holds::one_section : Holds::third;
    is_complete_ = true;
    shape_registers();
    BFloat16* to = x_;
    for (int64_t i = 0; i < p_.k / part * tiles_; ++i, to += vectors_of_row() * tall_ * part) {
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
  // Whether AMX multiplies all parts of all rows, or a part of all, or that of a row.
  bool is_complete() const { return is_complete_; }
  bool leaves_out(int64_t number) const {
    for (int64_t tile = 0; tile < tiles_; ++tile)
      if (left_out_[number * tiles_ + tile] != 0) return true;
    return false;
  }
  bool is_left_out(int64_t row, int64_t number) const {
    return (left_out_[number * tiles_ + row / tall_] >> row % tall_ & 1) != 0;
  }

  // Products with a panel: c[rows][panel_columns] += the sum of multiply(number) for all parts. When
  // multiply(number) is called, weights(number) is written, that of the next part may be, and none after it.
  void begin(float* c) {
    c_ = c;
    turn_ = 0;
  }
  HWY_INLINE Weights weights(int64_t number) const {
    // Scales of as many parts as are decoded and not added yet.
    float* const half = buffers_ + number % 2 * page / 2;
    float* const scale = half + 2 * page + number / 2 % 2 * page / 4;
    return {reinterpret_cast<uint32_t*>(half), scale, scale + sections * panel_columns};
  }
  void multiply(int64_t number) {
    if (holds_ == Holds::all_sections)
      multiply_part<Holds::all_sections>(number);
    else if (holds_ == Holds::one_section)
      multiply_part<Holds::one_section>(number);
    else
      multiply_part<Holds::third>(number);
  }
  void finish() {
    if (holds_ == Holds::all_sections)
      finish<Holds::all_sections>();
    else if (holds_ == Holds::one_section)
      finish<Holds::one_section>();
    else
      finish<Holds::third>();
  }
  // All of that for one row, whose sums stay in vector registers. `decode` writes the weights of a part.
  template <class Decode>
  void multiply_row(int64_t parts, const Decode& decode) {
    const Full<float> d;
    Lanes sum[vectors] = {hn::Zero(d), hn::Zero(d)};
    for (int64_t step = 0; step < parts + 3; ++step) {
      if (step < parts) decode(step);
      step % 2 == 0 ? row_step<0>(step, parts, sum) : row_step<1>(step, parts, sum);
    }
    for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE { hn::Store(sum[v.value], d, c_ + v.value * lanes); });
  }

 private:
  // Each float32 of x is three bfloat16 numbers, its thirds. A register of x holds one third of each row of the tile,
  // for one section; or all three, one below the other; or all three for each section, one section below the other,
  // with zeros in the columns of k that belong to another section.
  enum class Holds { third, one_section, all_sections };
  static constexpr int64_t blocks_of(Holds holds) {
    return holds == Holds::third ? 1 : holds == Holds::one_section ? 3 : 3 * sections;
  }
  static constexpr int64_t most_in_one = tile_rows / (3 * sections);  // rows of x, all of which are in one register

  static constexpr int64_t per_scale = part / sections;
  static constexpr int64_t register_size = column_tiles * tile_rows * 16;  // elements of those beside each other
  // Three pages of numbers: pairs of two parts, products of two turns, scales. A load waits for an earlier store at the
  // same place of another page. So with one row what is read after the pairs of a part were written lies in the half of
  // its page in which the other part has them.
  static constexpr int64_t page = 1024;
  static_assert(2 * register_size <= page && 8 * sections * panel_columns <= page);
  HWY_INLINE float* products(int turn) const { return buffers_ + page + (1 - turn) * page / 2; }

  struct Job {
    float* c = nullptr;
    const float *scale = nullptr, *rest = nullptr, *sums = nullptr;
    int64_t rows = 0;
  };

  static int64_t tall_of(int64_t rows) { return ceil_div(rows, larger(1, ceil_div(rows, tile_rows))); }

  int64_t vectors_of_row() const { return larger(3, blocks_of(holds_)); }

  void shape_registers() {
    TileShapes shapes;
    const auto height = static_cast<uint8_t>(blocks_of(holds_) * tall_);
    const int64_t elements = holds_ == Holds::all_sections ? part : per_scale;
    for (int t = 0; t < 6; ++t) shapes.rows[t] = height;
    for (int t = 4; t < 6; ++t) shapes.row_bytes[t] = static_cast<uint16_t>(2 * elements);
    for (int t = 6; t < 8; ++t) shapes.rows[t] = static_cast<uint8_t>(elements / 2);
    registers_.set(shapes);
  }

  // Returns false if AMX cannot multiply the part of a row.
  bool pack_row(const float* x, int64_t row_of_tile, int64_t place, BFloat16* to) {
    const Full<float> d;
    if (!split(x, to, tall_ * part)) return false;
    if (sections == 2 && holds_ == Holds::all_sections)
      for (int third = 0; third < 3; ++third) {
        BFloat16 *const first = to + third * tall_ * part, *const second = first + 3 * tall_ * part;
        constexpr size_t bytes = per_scale * sizeof(BFloat16);
        memset(second, 0, bytes);
        memcpy(second + per_scale, first + per_scale, bytes);
        memset(first + per_scale, 0, bytes);
      }
    if constexpr (has_rest)
      for (int64_t section = 0; section < sections; ++section) {
        Lanes sum = hn::Zero(d);
        for (int64_t i = 0; i < per_scale; i += lanes) sum = hn::Add(sum, hn::LoadU(d, x + section * per_scale + i));
        sums_[(place * sections + section) * tall_ + row_of_tile] = hn::GetLane(hn::SumOfLanes(d, sum));
      }
    return true;
  }
  void leave_out(int64_t row_of_tile, int64_t place, BFloat16* to) {
    for (int64_t i = 0; i < vectors_of_row(); ++i) memset(to + i * tall_ * part, 0, part * sizeof(BFloat16));
    if constexpr (has_rest)
      for (int64_t section = 0; section < sections; ++section)
        sums_[(place * sections + section) * tall_ + row_of_tile] = 0;
  }

  template <Holds holds>
  void finish() {
    for (int i = 0; i < 2; ++i) {
      turn_ ^= 1;
      turn_ == 0 ? go_on<holds, 0>() : go_on<holds, 1>();
    }
  }
  template <Holds holds>
  HWY_NOINLINE void multiply_part(int64_t number) {
    // Members are read again after each access to a register.
    const int64_t tall = tall_, tiles = tiles_, rows = rows_, third = tall * part, tile_size = vectors_of_row() * third;
    const Weights w = weights(number);
    const BFloat16* x = x_ + number * tiles * tile_size;
    const float* sums = sums_ + number * tiles * sections * tall;
    for (int64_t section = 0; section < (holds == Holds::all_sections ? 1 : sections); ++section) {
      const uint32_t* const pairs = w.pairs + section * per_scale / 2 * 16;
      registers_.template load<6>(pairs);
      if constexpr (column_tiles == 2) registers_.template load<7>(pairs + tile_rows * 16);
      Job job{c_, w.scale + section * panel_columns, w.rest + section * panel_columns, sums + section * tall, tall};
      for (int64_t tile = 0; tile < tiles; ++tile) {
        job.rows = smaller(tall, rows - tile * tall);
        turn_ ^= 1;
        turn_ == 0 ? multiply_tile<holds, 0>(x + tile * tile_size + section * per_scale, third, job)
                   : multiply_tile<holds, 1>(x + tile * tile_size + section * per_scale, third, job);
        job.c += tall * panel_columns;
        job.sums += sections * tall;
      }
    }
  }
  // Begins with part step - 1, stores the products of the part before, and adds those of the one before that.
  template <int turn>
  HWY_INLINE void row_step(int64_t step, int64_t parts, Lanes* sum) {
    constexpr int c = 2 * turn, other = 2 * (1 - turn);
    constexpr int64_t blocks = blocks_of(Holds::all_sections);
    if (step > 0 && step <= parts) {
      const uint32_t* const pairs = weights(step - 1).pairs;
      registers_.template load<6>(pairs);
      if constexpr (column_tiles == 2) registers_.template load<7>(pairs + tile_rows * 16);
      registers_.template zero<c>();
      registers_.template zero<c + 1>();
      registers_.template load<4>(x_ + (step - 1) * larger(3, blocks) * part);
      add_products<c, 4>();
    }
    if (step > 1 && step <= parts + 1) {
      float* const to = products(1 - turn);
      registers_.template store<other>(to, tile_row_bytes);
      if constexpr (column_tiles == 2) registers_.template store<other + 1>(to + blocks * 16, tile_row_bytes);
    }
    if (step > 2) {
      const Weights w = weights(step - 3);
      const Factors<Holds::all_sections> factors(w.scale, w.rest);
      for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE {
        const float* const at = products(turn) + place_of_vector(v.value, blocks);
        sum[v.value] = factors.template add_to<v.value>(sum[v.value], at, 1, sums_ + (step - 3) * sections);
      });
    }
  }
  // Multiplies with the loaded weights. `third`: elements between the thirds of x
  template <Holds holds, int turn>
  HWY_INLINE void multiply_tile(const BFloat16* x, int64_t third, const Job& job) {
    constexpr int c = 2 * turn;
    registers_.template zero<c>();
    registers_.template zero<c + 1>();
    registers_.template load<4>(x);
    add_products<c, 4>();
    if constexpr (holds == Holds::third) {
      registers_.template load<5>(x + third);
      add_products<c, 5>();
      registers_.template load<4>(x + 2 * third);
      add_products<c, 4>();
    }
    go_on<holds, turn>();
    jobs_[turn] = job;
  }
  template <int c, int a>
  HWY_INLINE void add_products() {
    registers_.template add_products_bf16<c, a, 6>();
    if constexpr (column_tiles == 2) registers_.template add_products_bf16<c + 1, a, 7>();
  }

  // Stores the products of the other turn, and adds those of this one, which were stored before.
  template <Holds holds, int turn>
  HWY_INLINE void go_on() {
    constexpr int other = 1 - turn;
    if (jobs_[other].c != nullptr) {
      float* const to = products(other);
      registers_.template store<2 * other>(to, tile_row_bytes);
      if constexpr (column_tiles == 2)
        registers_.template store<2 * other + 1>(to + blocks_of(holds) * tall_ * 16, tile_row_bytes);
    }
    if (jobs_[turn].c != nullptr) add<holds>(jobs_[turn], products(turn));
    jobs_[turn].c = nullptr;
  }
  // c += scale * products + rest * sums, for each section
  template <Holds holds>
  HWY_INLINE void add(const Job& job, const float* from) {
    const Full<float> d;
    const int64_t tall = tall_, height = blocks_of(holds) * tall;
    float* to = job.c;
    const Factors<holds> factors(job.scale, job.rest);
    for (int64_t i = 0; i < job.rows; ++i, to += panel_columns)
      for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE {
        const float* const at = from + place_of_vector(v.value, height) + i * 16;
        const Lanes before = hn::Load(d, to + v.value * lanes);
        hn::Store(factors.template add_to<v.value>(before, at, tall, job.sums + i), d, to + v.value * lanes);
      });
  }
  // Scales and rests of the sections that a register holds.
  template <Holds holds>
  struct Factors {
    static constexpr int64_t count = holds == Holds::all_sections ? sections : 1;
    Lanes scale[count][vectors], rest[count][vectors];

    HWY_INLINE Factors(const float* scales, const float* rests) {
      const Full<float> d;
      for (int64_t s = 0; s < count; ++s)
        for_vectors_of_panel([&](auto v) FERRULE_ALWAYS_INLINE {
          scale[s][v.value] = hn::Load(d, scales + s * panel_columns + v.value * lanes);
          if constexpr (has_rest) rest[s][v.value] = hn::Load(d, rests + s * panel_columns + v.value * lanes);
        });
    }
    // `at`: products of vector v of a row, `tall` rows of 16 from those of the next third
    template <int v>
    HWY_INLINE Lanes add_to(Lanes sum, const float* at, int64_t tall, const float* sums) const {
      const Full<float> d;
      for (int64_t s = 0; s < count; ++s, at += 3 * tall * 16) {
        Lanes product = hn::Load(d, at);
        if constexpr (holds != Holds::third)
          product = hn::Add(hn::Add(product, hn::Load(d, at + tall * 16)), hn::Load(d, at + 2 * tall * 16));
        sum = hn::MulAdd(product, scale[s][v], sum);
        if constexpr (has_rest) sum = hn::MulAdd(hn::Set(d, sums[s * tall]), rest[s][v], sum);
      }
      return sum;
    }
  };

  const Product& p_;
  BFloat16* x_;         // [part][tile][third][row of the tile][32], or [part][section][third][row][32]
  float* sums_;         // [part][tile][section][row of the tile], of the elements of a part
  uint16_t* left_out_;  // [part][tile]: a bit for each row that AMX does not multiply
  float *buffers_, *row_;
  const float* given_ = nullptr;
  float* c_ = nullptr;
  int64_t rows_ = 0, tiles_ = 0, tall_ = 0;  // tall_: rows of a tile
  Holds holds_ = Holds::third;
  bool is_complete_ = true;
  int turn_ = 0;
  Job jobs_[2];
  Tiles registers_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
