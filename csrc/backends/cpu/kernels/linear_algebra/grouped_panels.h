// Factors of matrix products, packed in groups of elements along K: two of 16 bits or four bytes.
//
// 32 rows of A, or 32 columns of B, are packed as [step][2][16 x 64 bytes] and filled up. 16 x 64 bytes are
// a register of AMX: of A they hold 64 bytes of each of 16 rows; of B, row r holds group r of each of 16 columns. What
// is noted of each row or column follows.
#pragma once

#include "matmul_shape.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t tile_rows = 16, tile_row_bytes = 64, tile_bytes = tile_rows * tile_row_bytes;
constexpr int64_t block = 2 * tile_rows;  // rows and columns of a block of C

using GroupWords = hn::VFromD<Full<uint32_t>>;

// Factors: Element, an unsigned integer that holds the bits of a factor; flip_a and flip_b, the bits that packing
// changes; and what is noted of rows and columns from each of their words, in which elements beyond K are zeros:
// no_note, with_a(notes, words), with_b(notes, words), and note_of(notes), which joins those of one row.
template <class Factors>
class GroupedPanels {
 public:
  using Element = typename Factors::Element;
  static constexpr int64_t group = 4 / sizeof(Element), depth = tile_rows * group;

  GroupedPanels(const Factors& factors, int64_t k) : factors_(factors), k_(k) {}

  int64_t steps() const { return ceil_div(k_, depth); }
  int64_t bytes() const { return steps() * 2 * tile_bytes + block * static_cast<int64_t>(sizeof(uint32_t)); }
  uint32_t* notes(char* panel) const { return reinterpret_cast<uint32_t*>(panel + steps() * 2 * tile_bytes); }

  // Element k of a row or column of a packed panel.
  static Element of_row(const char* panel, int64_t row, int64_t k) { return element_at(panel + place_in_row(row, k)); }
  static Element of_column(const char* panel, int64_t column, int64_t k) {
    return element_at(panel + place_in_column(column, k) + k % group * static_cast<int64_t>(sizeof(Element)));
  }

  // Packs up to 32 rows, whose elements along K are `k_stride` apart.
  void pack_rows(const Element* from, int64_t stride, int64_t k_stride, int64_t count, char* to) const {
    if (count < block) memset(to, 0, static_cast<size_t>(bytes()));
    for (int64_t i = 0; i < count; ++i) {
      auto note = hn::Set(words_tag, Factors::no_note);
      for (int64_t j = 0; j < k_; j += depth)
        note = pack_row(from + i * stride + j * k_stride, k_stride, smaller(depth, k_ - j),
                        element(to, place_in_row(i, j)), note);
      notes(to)[i] = Factors::note_of(note);
    }
  }

  // Packs columns into as many panels as they need, which are `pitch` bytes apart.
  void pack_columns(const Element* from, int64_t stride, int64_t k_stride, int64_t count, char* to,
                    int64_t pitch) const {
    const int64_t panels = ceil_div(count, block);
    if (count % block != 0) memset(to + (panels - 1) * pitch, 0, static_cast<size_t>(bytes()));
    for (int64_t panel = 0; panel < panels; ++panel)
      for (int64_t i = 0; i < block; ++i) notes(to + panel * pitch)[i] = Factors::no_note;
    for (int64_t j = 0; j < k_; j += depth)
      for (int64_t i = 0; i < count; i += tile_rows) {
        char* const panel = to + i / block * pitch;
        pack_tile(from + i * stride + j * k_stride, stride, k_stride, smaller(tile_rows, count - i),
                  smaller(depth, k_ - j), reinterpret_cast<uint32_t*>(panel + place_in_column(i % block, j)),
                  notes(panel) + i % block);
      }
  }

 private:
  // Bytes from the beginning of a panel.
  static int64_t place_in_row(int64_t row, int64_t k) {
    return (k / depth * 2 + row / tile_rows) * tile_bytes + row % tile_rows * tile_row_bytes +
           k % depth * static_cast<int64_t>(sizeof(Element));
  }
  static int64_t place_in_column(int64_t column, int64_t k) {  // of the group
    return (k / depth * 2 + column / tile_rows) * tile_bytes + k % depth / group * tile_row_bytes +
           column % tile_rows * 4;
  }
  static Element* element(char* panel, int64_t place) { return reinterpret_cast<Element*>(panel + place); }
  static Element element_at(const char* place) {  // which was written as a word
    Element x;
    memcpy(&x, place, sizeof x);
    return x;
  }

  // A row of a register. Returns what is noted of it.
  HWY_INLINE GroupWords pack_row(const Element* from, int64_t k_stride, int64_t many, Element* to,
                                 GroupWords note) const {
    if (many < depth) memset(to, 0, tile_row_bytes);
    if (k_stride == 1 && many == depth)
      memcpy(to, from, tile_row_bytes);
    else if (k_stride == 1)
      memcpy(to, from, static_cast<size_t>(many) * sizeof(Element));
    else
      for (int64_t q = 0; q < many; ++q) to[q] = from[q * k_stride];
    if (factors_.flip_a != 0)
      for (int64_t q = 0; q < many; ++q) to[q] ^= factors_.flip_a;
    for (int64_t i = 0; i < tile_rows; i += lanes)
      note = Factors::with_a(note, hn::Load(words_tag, reinterpret_cast<uint32_t*>(to) + i));
    return note;
  }

  // words[group][16] from up to 16 columns of `depth` elements, of which `many` are there.
  void pack_tile(const Element* from, int64_t stride, int64_t k_stride, int64_t columns, int64_t many, uint32_t* words,
                 uint32_t* noted) const {
    const bool is_full = columns == tile_rows && many == depth;
    if (is_full && stride == 1)
      join_rows(from, k_stride, words);
    else if (is_full && k_stride == 1)
      transpose(from, stride, words);
    else
      copy_columns(from, stride, k_stride, columns, many, reinterpret_cast<Element*>(words));

    constexpr auto d = words_tag;
    const uint32_t flip = uint32_t{factors_.flip_b} * (group == 4 ? 0x1010101u : 0x10001u);
    for (int64_t i = 0; i < tile_rows; i += lanes) {
      auto note = hn::Load(d, noted + i);
      for (int64_t g = 0; g < many / group; ++g) {
        uint32_t* const here = words + g * tile_rows + i;
        const auto word = hn::Xor(hn::Load(d, here), hn::Set(d, flip));
        hn::Store(word, d, here);
        note = Factors::with_b(note, word);
      }
      if (many % group != 0) {
        uint32_t* const here = words + many / group * tile_rows + i;
        const uint32_t bits = (uint32_t{1} << many % group * (32 / group)) - 1;
        const auto word = hn::Xor(hn::Load(d, here), hn::Set(d, flip & bits));
        hn::Store(word, d, here);
        note = Factors::with_b(note, word);
      }
      hn::Store(note, d, noted + i);
    }
  }
  static void copy_columns(const Element* from, int64_t stride, int64_t k_stride, int64_t columns, int64_t many,
                           Element* to) {
    memset(to, 0, tile_bytes);
    for (int64_t i = 0; i < columns; ++i)
      for (int64_t k = 0; k < many; ++k)
        to[k / group * tile_rows * group + i * group + k % group] = from[i * stride + k * k_stride];
  }
  // The elements of a row of B lie side by side: a word has one of each of several rows.
  static void join_rows(const Element* from, int64_t k_stride, uint32_t* words) {
    constexpr auto d = words_tag;
    constexpr hn::Rebind<Element, Full<uint32_t>> narrow;
    constexpr int64_t ahead = 64;  // rows, which may lie on different pages
    for (int64_t g = 0; g < tile_rows; ++g, from += group * k_stride, words += tile_rows) {
      for (int64_t j = 0; j < group; ++j) __builtin_prefetch(from + (ahead + j) * k_stride);
      for (int64_t i = 0; i < tile_rows; i += lanes) {
        const auto row = [&](int64_t j) { return hn::PromoteTo(d, hn::LoadU(narrow, from + j * k_stride + i)); };
        auto word = hn::Or(row(0), hn::ShiftLeft<32 / group>(row(1)));
        if constexpr (group == 4) word = hn::Or(word, hn::ShiftLeft<16>(hn::Or(row(2), hn::ShiftLeft<8>(row(3)))));
        hn::Store(word, d, words + i);
      }
    }
  }
  // The elements of a column lie side by side.
  static void transpose(const Element* from, int64_t stride, uint32_t* words) {
    uint32_t columns[tile_rows][tile_rows];
    for (int64_t i = 0; i < tile_rows; ++i) memcpy(columns[i], from + i * stride, tile_row_bytes);
    for (int64_t g = 0; g < tile_rows; ++g)
      for (int64_t i = 0; i < tile_rows; ++i) words[g * tile_rows + i] = columns[i][g];
  }

  static constexpr Full<uint32_t> words_tag{};
  static constexpr int64_t lanes = lanes_of<uint32_t>;
  const Factors& factors_;
  const int64_t k_;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
