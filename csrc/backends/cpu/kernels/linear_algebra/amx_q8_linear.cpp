// x @ w.T with weights in blocks and rows of x that are rounded to blocks of q8_0 (q8_rows.h), by the tile registers of
// AMX: the bits of q8_linear, for more rows. Only variants with AMX have it.
//
// Some parts of a panel are decoded to the second-level cache. Then the sums of 16 rows and 16 columns stay in vector
// registers for all these parts. A step begins the products of a section in a tile register, stores those of the
// section before, and scales those of the one before that, so that none waits.
#include "../../amx_permission.h"
#include "amx_tiles.h"
#include "q8_rows.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Decoded parts, as signed bytes.
template <class Form>
struct DecodedParts {
  static constexpr int64_t most = 64, floats = Form::sections * panel_columns;
  uint32_t* bytes;               // [part][quad][panel_columns]
  float *scale, *rest, *centre;  // [part][section][panel_columns]

  explicit DecodedParts(ScratchArena& scratch)
      : bytes(scratch.array<uint32_t>(most * quads * panel_columns)),
        scale(scratch.array<float>(most * floats)),
        rest(scratch.array<float>(most * floats)),
        centre(scratch.array<float>(most * floats)) {}

  HWY_INLINE ColumnPart part(int64_t number) const {
    const int64_t at = number * floats;
    return {bytes + number * quads * panel_columns, scale + at, rest + at, centre + at};
  }
};

// Stores bytes minus `above`, which are signed.
template <int above>
struct SignedPart : ColumnPart {
  explicit SignedPart(const ColumnPart& to) : ColumnPart(to) {}
  template <int v, int q>
  HWY_INLINE void add_quad(Words quad) {
    const Full<uint8_t> d;
    const auto signed_bytes = hn::Sub(hn::BitCast(d, quad), hn::Set(d, static_cast<uint8_t>(above)));
    ColumnPart::add_quad<v, q>(hn::BitCast(Full<uint32_t>(), signed_bytes));
  }
};

template <class Form>
class ByteTiles {
 public:
  explicit ByteTiles(ScratchArena& scratch) : sums_(scratch.array<int32_t>(2 * tile_rows * 16)) {}

  void begin() {
    TileShapes shapes;
    for (int t = 0; t < 2; ++t) shapes.row_bytes[t] = 4 * tile_columns;
    for (int t = 4; t < 6; ++t) shapes.row_bytes[t] = 4 * per_section;
    for (int t = 6; t < 8; ++t) {
      shapes.rows[t] = per_section;
      shapes.row_bytes[t] = 4 * tile_columns;
    }
    registers_.set(shapes);
  }

  // c[rows][panel_columns] += the products of parts. `x`: the rows of the first part; those of the next one are
  // `x_pitch` further, and 16 of each can be read
  HWY_NOINLINE void multiply(const RowPart* x, int64_t x_pitch, int64_t rows, const DecodedParts<Form>& w,
                             int64_t parts, float* c) {
    for (int64_t row = 0; row < rows; row += tile_rows)
      for (int64_t tile = 0; tile < column_tiles; ++tile) {
        const Place place{x + row, x_pitch, &w, parts * Form::sections, tile * tile_columns};
        multiply_tile(place, smaller(tile_rows, rows - row), c + row * panel_columns + tile * tile_columns);
      }
  }

 private:
  static constexpr int per_section = quads / Form::sections;
  static constexpr int64_t width = tile_columns / lanes;  // vectors
  using Sums = Lanes[tile_rows][width];

  struct Place {
    const RowPart* x;
    int64_t x_pitch;
    const DecodedParts<Form>* w;
    int64_t steps;  // sections of all parts
    int64_t column;
  };

  HWY_INLINE void multiply_tile(const Place& place, int64_t rows, float* c) {
    const Full<float> d;
    Sums total;
#pragma GCC unroll 16
    for (int64_t i = 0; i < tile_rows; ++i)
      for (int64_t v = 0; v < width; ++v)
        total[i][v] = i < rows ? hn::Load(d, c + i * panel_columns + v * lanes) : hn::Zero(d);
    for (int64_t step = 0; step < place.steps + 2; step += 2) {
      go<0>(place, step, total);
      go<1>(place, step + 1, total);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < tile_rows; ++i)
      for (int64_t v = 0; v < width; ++v)
        if (i < rows) hn::Store(total[i][v], d, c + i * panel_columns + v * lanes);
  }

  template <int turn>
  HWY_INLINE void go(const Place& place, int64_t step, Sums& total) {
    if (step < place.steps) {
      const int64_t part_number = step / Form::sections, section = step % Form::sections;
      const uint32_t* const bytes =
          place.w->bytes + (part_number * quads + section * per_section) * panel_columns + place.column;
      registers_.template zero<turn>();
      registers_.template load<4 + turn>(place.x[part_number * place.x_pitch].bytes + section * per_section,
                                         sizeof(RowPart));
      registers_.template load<6 + turn>(bytes, panel_columns * 4);
      registers_.template add_products_of_signed_bytes<turn, 4 + turn, 6 + turn>();
    }
    if (step >= 1 && step <= place.steps)
      registers_.template store<1 - turn>(sums_ + (1 - turn) * tile_rows * 16, tile_row_bytes);
    if (step >= 2 && step < place.steps + 2) scale(place, step - 2, sums_ + turn * tile_rows * 16, total);
  }

  HWY_INLINE void scale(const Place& place, int64_t step, const int32_t* from, Sums& total) {
    const int section = static_cast<int>(step % Form::sections);
    const ColumnPart w = place.w->part(step / Form::sections);
    const RowPart* const x = place.x + step / Form::sections * place.x_pitch;
    const int64_t at = section * panel_columns + place.column;
#pragma GCC unroll 16
    for (int64_t i = 0; i < tile_rows; ++i)
      for (int64_t v = 0; v < width; ++v) {
        const auto sum = hn::Load(integers, from + i * 16 + v * lanes);
        total[i][v] = Form::add_scaled(sum, x[i], section, w, at + v * lanes, total[i][v]);
      }
  }

  int32_t* sums_;  // [turn][row][16]
  Tiles registers_;
};

template <DType dtype>
class AmxQ8Rows {
 public:
  using Panel = BlockPanel<dtype>;

  static int64_t together(const Product& p) { return RoundedRows::together(p); }
  AmxQ8Rows(ScratchArena& scratch, const Product& product)
      : rows_(scratch, product), decoded_(scratch), tiles_(scratch) {}
  void pack_rows(const float* x, int64_t rows) {
    rows_.put(x, rows, Panel::scales_per_part);
    tiles_.begin();
  }

  void multiply(const Panel* panels, int64_t blocks, float* c) {
    const int64_t parts = blocks * parts_of_block;
    memset(c, 0, static_cast<size_t>(rows_.count() * panel_columns) * sizeof(float));
    for (int64_t begin = 0; begin < parts;) {
      const int64_t most = rows_.is_complete() ? decoded_.most : 1;
      int64_t count = 0;
      bool are_finite = true;
      while (count < most && begin + count < parts && are_finite) {
        SignedPart<Panel::Bytes::above> part_of_panel(decoded_.part(count));
        const int64_t number = begin + count;
        panels[number / parts_of_block].decode_bytes(number % parts_of_block, part_of_panel);
        are_finite = has_finite_columns<Panel>(part_of_panel);
        if (are_finite) ++count;
      }
      if (count > 0) tiles_.multiply(rows_.part_of_all(begin), rows_.count(), rows_.count(), decoded_, count, c);
      if (!are_finite) rows_.template add_left_out<dtype>(panels, begin + count++, true, c);
      if (are_finite && !rows_.is_complete()) rows_.template add_left_out<dtype>(panels, begin, false, c);
      begin += count;
    }
  }

 private:
  static constexpr int64_t parts_of_block = Block<dtype>::elements / part;
  using SignedForm = Form<Panel::scales_per_part, Panel::has_rest, 0, 127>;

  RoundedRows rows_;
  DecodedParts<SignedForm> decoded_;
  ByteTiles<SignedForm> tiles_;
};

template <DType dtype>
constexpr bool takes<AmxQ8Rows, dtype> = has_block<dtype>&& has_integers<dtype>;

// q8_linear is as fast with 16 rows, and faster with fewer.
bool accepts(const Call& call) {
  constexpr int64_t least_rows = 32;
  return rounds_rows(call) && may_use_amx() && accepts_blocks<AmxQ8Rows>(call) && ColumnProduct(call).p.m >= least_rows;
}

}  // namespace

KERNEL(amx_q8_linear, .op = "linear", .revision = 2, .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS},
       .takes_epilogue = true, .accepts = accepts, .scratch_size = product_scratch_size,
       .local_scratch = product_local_scratch<AmxQ8Rows>, .prepare_size = panels_size, .prepare = prepare_panels,
       .string_attributes = {offsetof(fe_linear_attributes, activation)}) {
  return multiply_blocks<AmxQ8Rows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
