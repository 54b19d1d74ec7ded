// x @ w.T with weights in blocks by the tile registers of AMX. Only variants with AMX have it.
//
// A float32 is exactly the sum of three bfloat16 numbers, and the integers of a block are bfloat16 numbers. So a part
// of 32 elements of k, or 16 where a scale is for 16, is three products for each row of x, whose sums are float32.
//
// Invariance: element (i, j) is, for each such part in order, the sum of the three products, which is scaled and added
// to the sum of the earlier parts; then the rest of the weights times the sum of the part of x is added. So the bits
// depend on row i of x, row j of w and K alone (and on which scales of the panel of row j are finite). Up to 5 rows
// take one register for all three products, with two scales in a part up to 2 rows one register for all six, with zeros
// where the other scale counts, and more rows take three: a register is added to with one rounding, and zeros change
// nothing.
//
// The instructions take subnormal numbers for zeros. So a part of a row with an element outside 2^-100 to 2^100 is
// multiplied without them, and so is a part with a scale that is not finite. These are added last, in order.
#include "../../amx_permission.h"
#include "amx_tiles.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// Stores integers as pairs of bfloat16.
template <class Weights>
struct PairSink : Weights {
  Words even[vectors] = {};

  explicit PairSink(const Weights& to) : Weights(to) {}

  template <int v>
  HWY_INLINE void add(Lanes integers, int64_t element) {
    const Full<uint32_t> d;
    const Words bits = hn::BitCast(d, integers);
    if (element % 2 == 0)
      even[v] = hn::ShiftRight<16>(bits);
    else
      hn::Store(hn::OrAnd(even[v], bits, hn::Set(d, 0xffff0000)), d,
                Weights::pairs + place_of_vector(v, tile_rows) + element / 2 * 16);
  }
#if HWY_MAX_BYTES == 64
  template <int v>
  HWY_INLINE void add_pair(Halves both, int64_t pair) {
    const Full<uint32_t> d;
    hn::Store(hn::BitCast(d, both), d, Weights::pairs + place_of_vector(v, tile_rows) + pair * 16);
  }
#endif
};

template <DType dtype>
class AmxRows {
 public:
  using Panel = BlockPanel<dtype>;
  using Tiles = AmxTiles<Panel::scales_per_part, Panel::has_rest>;

  static int64_t together(const Product& p) { return Tiles::together(p); }
  AmxRows(ScratchArena& scratch, const Product& p)
      : tiles_(scratch, p), w_(scratch.array<float>(part * panel_columns)) {}
  void pack_rows(const float* x, int64_t rows) { tiles_.pack_rows(x, rows); }

  void multiply(const Panel* panels, int64_t blocks, float* c) {
    const int64_t parts = blocks * parts_of_block;
    memset(c, 0, static_cast<size_t>(tiles_.rows() * panel_columns) * sizeof(float));
    tiles_.begin(c);
    bool are_finite = true;
    const auto decode_next = [&](int64_t number) {
      prefetch_parts(panels, number, parts_of_block);
      auto weights = decode(panels, number);
      if (!weights.are_finite()) {
        are_finite = false;
        weights.leave_out();
      }
    };
    if (tiles_.rows() == 1) {
      tiles_.multiply_row(parts, decode_next);
    } else {
      for (int64_t number = 0; number < parts; ++number) {
        decode_next(number);
        // A register that is loaded right after its memory was written would wait for it.
        if (number > 0) tiles_.multiply(number - 1);
      }
      if (parts > 0) tiles_.multiply(parts - 1);
      tiles_.finish();
    }
    if (are_finite && tiles_.is_complete()) return;
    for (int64_t number = 0; number < parts; ++number)
      if (!are_finite || tiles_.leaves_out(number)) add_left_out(panels, number, are_finite, c);
  }

 private:
  static constexpr int64_t parts_of_block = Block<dtype>::elements / part;

  // One copy for all callers: it is most of the code of a dtype.
  HWY_NOINLINE typename Tiles::Weights decode(const Panel* panels, int64_t number) {
    PairSink<typename Tiles::Weights> sink(tiles_.weights(number));
    panels[number / parts_of_block].decode_integers(number % parts_of_block, sink);
    return sink;
  }

  // Adds the products with a part that AMX does not multiply.
  void add_left_out(const Panel* panels, int64_t number, bool are_finite, float* c) {
    const bool are_all = !are_finite && !decode(panels, number).are_finite();
    for (int64_t row = 0; row < tiles_.rows(); ++row)
      if (are_all || tiles_.is_left_out(row, number)) {
        alignas(64) float scale[panel_columns];
        decode_floats(dtype, &panels[number / parts_of_block], number % parts_of_block, w_, scale);
        multiply_part<1, Panel::is_scaled>(tiles_.part_of(row, number), w_, scale, false, c + row * panel_columns);
      }
  }

  Tiles tiles_;
  float* w_;
};

template <DType dtype>
constexpr bool takes<AmxRows, dtype> = has_block<dtype>&& has_integers<dtype>;

bool accepts(const Call& call) { return may_use_amx() && accepts_blocks<AmxRows>(call); }

}  // namespace

KERNEL(amx_linear, .op = "linear", .dtypes = f32, .layouts = {FE_LAYOUT_ANY, FE_LAYOUT_ROWS}, .takes_epilogue = true,
       .accepts = accepts, .scratch_size = product_scratch_size, .local_scratch = product_local_scratch<AmxRows>,
       .prepare_size = panels_size, .prepare = prepare_panels) {
  return multiply_blocks<AmxRows>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
