// Matrix instructions of a warp: mma.sync and ldmatrix, with the fragments that PTX ISA 8.5, "Warp-Level Matrix
// Instructions", documents. All 32 lanes must take part.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "emulation/block.h"
#include "emulation/narrow_floats.h"

namespace emulation {

constexpr std::uint32_t all_lanes = 0xffffffff;

// Fragments of A (16 x K, by rows) and B (K x 8, by columns) of one lane, in registers.
struct Fragments {
  std::array<std::uint32_t, 4> a;
  std::array<std::uint32_t, 2> b;
};

// The lane and the position within its registers that hold an element. `packed` elements share a register.
struct Position {
  unsigned lane, element;
};
constexpr Position position_in_a(unsigned row, unsigned k, unsigned packed) {
  const unsigned half = 4 * packed;  // the columns of the first half of A
  return {row % 8 * 4 + k % half / packed, k % packed + (row / 8 + k / half * 2) * packed};
}
constexpr Position position_in_b(unsigned k, unsigned column, unsigned packed) {
  const unsigned half = 4 * packed;
  return {column * 4 + k % half / packed, k % packed + k / half * packed};
}
constexpr unsigned row_in_c(unsigned lane, unsigned element) { return lane / 4 + element / 2 * 8; }
constexpr unsigned column_in_c(unsigned lane, unsigned element) { return lane % 4 * 2 + element % 2; }

// The elements of A and B, and how they are multiplied.
struct Float16 {
  using Bits = std::uint16_t;
  using Sum = float;
  static Sum value(Bits bits) { return float_of_float16(bits); }
};
struct Bfloat16 {
  using Bits = std::uint16_t;
  using Sum = float;
  static Sum value(Bits bits) { return float_of_bfloat16(bits); }
};
// The hardware reads the upper 19 bits of a float.
struct Tfloat32 {
  using Bits = std::uint32_t;
  using Sum = float;
  static Sum value(Bits bits) { return std::bit_cast<float>(bits & 0xffffe000U); }
};
struct Int8 {
  using Bits = std::int8_t;
  using Sum = std::int32_t;
  static Sum value(Bits bits) { return bits; }
};

// c += a b for m16n8k16 (Float16, Bfloat16), m16n8k8 (Tfloat32), m16n8k32 (Int8). `c` has 4 elements of this lane.
template <class Element>
void mma_m16n8(typename Element::Sum* c, const Fragments& own, const Site& site) {
  using Bits = typename Element::Bits;
  constexpr unsigned packed = 4 / sizeof(Bits), depth = 8 * packed;
  const Meeting::Lanes& lanes = current_thread->warp->meet(all_lanes, site, &own, sizeof own);
  if (lanes.present != all_lanes) current_block->fail(site, "a lane of the warp has ended, and all 32 are needed");
  const auto read = [&](const Position& position, std::size_t begin) {
    Bits bits;
    std::memcpy(&bits, lanes.values[position.lane].data() + begin + position.element * sizeof bits, sizeof bits);
    return Element::value(bits);
  };
  for (unsigned element = 0; element < 4; ++element) {
    const unsigned row = row_in_c(current_thread->lane, element), column = column_in_c(current_thread->lane, element);
    typename Element::Sum sum = c[element];
    for (unsigned k = 0; k < depth; ++k)
      sum += read(position_in_a(row, k, packed), offsetof(Fragments, a)) *
             read(position_in_b(k, column, packed), offsetof(Fragments, b));
    c[element] = sum;
  }
}

// ldmatrix.x4: four matrices of 8 x 8 elements of 2 bytes. Lane 8 i + r passes the address of row r of matrix i, which
// is aligned to 16 bytes.
inline std::array<std::uint32_t, 4> ldmatrix_x4(const void* row, bool transposed, const Site& site) {
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0)
    current_block->fail(site, "an address that is not a multiple of 16");
  const Meeting::Lanes& lanes = current_thread->warp->meet(all_lanes, site, &row, sizeof row);
  if (lanes.present != all_lanes) current_block->fail(site, "a lane of the warp has ended, and all 32 are needed");
  std::array<std::uint32_t, 4> registers{};
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    std::array<std::uint16_t, 2> pair{};
    for (unsigned i = 0; i < 2; ++i) {
      const unsigned first = current_thread->lane / 4, second = current_thread->lane % 4 * 2 + i;
      const std::uint16_t* address = nullptr;
      std::memcpy(&address, lanes.values[matrix * 8 + (transposed ? second : first)].data(), sizeof address);
      pair[i] = address[transposed ? first : second];
    }
    std::memcpy(&registers[matrix], pair.data(), sizeof pair);
  }
  return registers;
}

}  // namespace emulation
