// Plans of transforms of lines of elements: the method for a length, with its tables and memory.
#pragma once

#include "stockham.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t longest_in_lanes = 256, longest_in_columns = 4096, smallest_convolution = 256;

// Form of the input and output elements of lines.
enum class Elements {
  complex,    // n complex numbers
  of_reals,   // n real numbers become the first n / 2 + 1 complex ones of their transform
  into_reals  // the first n / 2 + 1 complex numbers of a transform become n real ones
};

// The lines along one axis: an array [outer][n][inner]. If the number of real numbers is even, each two are one complex
// number of the transform, whose length is half of theirs.
struct Lines {
  int64_t outer = 1, reals, n, inner = 1;  // reals: the length before it is halved
  bool last;
  bool halved;  // the elements are pairs of real numbers
  Lines(const Operand& x, int64_t axis, Elements elements)
      : reals(x.shape[axis]),
        n(reals),
        last(axis == x.rank - 1),
        halved(elements != Elements::complex && reals % 2 == 0) {
    if (halved) n /= 2;
    for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
    for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  }
  int64_t count() const { return outer * inner; }
};

// The lesser of the two factors of a smooth length that are nearest to each other.
[[maybe_unused]] static int64_t nearest_factor(int64_t n, int64_t rest, int64_t prime, int64_t factor) {
  while (prime <= largest_radix && rest % prime != 0) ++prime;
  if (prime > largest_radix) return factor;
  int64_t others = rest;
  while (others % prime == 0) others /= prime;
  int64_t best = 1;
  for (; factor <= n / factor; factor *= prime, rest /= prime) {
    best = larger(best, nearest_factor(n, others, prime + 1, factor));
    if (rest % prime != 0) break;
  }
  return best;
}
[[maybe_unused]] static int64_t nearest_factor(int64_t n) { return nearest_factor(n, n, 2, 1); }
[[maybe_unused]] static int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// The method of transforming a line of a length, with tables in memory that all lines share.
template <class R>
struct Plan {
  static constexpr int64_t width = width_of<R>;
  enum Method { lanes, matrix, convolution } method;
  int64_t n;       // the line's length
  int64_t length;  // the length of the transform inside: n, or that of the convolution
  int64_t n1 = 1, n2 = 1;
  Parts<R> turns1{}, turns2{};  // of the length n1 (or n, in lanes) and n2
  Parts<R> across{};            // [n1][width]: turn k1 * lane of `length`
  TurnTable turns;              // of `length`
  Parts<R> chirp{}, kernel{};   // of a convolution
  bool halved;                  // the line's elements are pairs of real numbers
  TurnTable pair_turns;         // of 2 n, if halved
  Parts<R> pair_across{};       // [width]: turn lane of 2 n
  uint64_t table_bytes = 0, local_bytes = 0;

  // Computes only sizes if `tables` is null.
  Plan(const Lines& lines, char* tables) : n(lines.n), length(lines.n), halved(lines.halved) {
    ScratchArena scratch(tables);
    const auto parts = [&](int64_t count) {
      R* const re = scratch.array<R>(count);
      return Parts<R>{re, scratch.array<R>(count)};
    };
    if (!is_smooth(n)) {
      method = convolution;
      length = larger(smallest_convolution, power_of_two_from(2 * n - 1));
    } else {
      method = n <= (lines.last ? longest_in_lanes : longest_in_columns) ? lanes : matrix;
    }
    if (halved) {
      pair_turns = TurnTable(2 * n, scratch);
      pair_across = parts(width);
    }
    if (method == lanes) {
      turns1 = parts(n);
      local_bytes = 4 * aligned_bytes(rows_in_lanes() * width);
    } else {
      n1 = nearest_factor(length);
      n2 = length / n1;
      turns1 = parts(n1);
      turns2 = parts(n2);
      across = parts(n1 * width);
      turns = TurnTable(length, scratch);
      local_bytes = 4 * aligned_bytes(n2 * width) + 2 * aligned_bytes(round_up(n2, width) * n1);
      if (method == convolution) {
        chirp = parts(n);
        kernel = parts(length);
        local_bytes += 2 * aligned_bytes(length);
      }
    }
    table_bytes = scratch.bytes();
    if (tables != nullptr) fill();
  }

  // A halved line has one complex number more than its transform: see line_elements.h.
  int64_t rows_in_lanes() const { return n + (halved ? 1 : 0); }

  // exp(-pi i j^2 / n) for j in [begin, end): the rest of the tables of a convolution.
  void fill_chirp(int64_t begin, int64_t end) const {
    int64_t square = begin % (2 * n) * begin % (2 * n);  // j^2 modulo 2 n
    for (int64_t j = begin; j < end; ++j) {
      set(chirp, j, turn_of(square, 2 * n));
      square = (square + 2 * j + 1) % (2 * n);
    }
  }

  static uint64_t aligned_bytes(int64_t count) {
    return static_cast<uint64_t>(round_up(count * static_cast<int64_t>(sizeof(R)), 64));
  }

 private:
  void fill() const {
    if (halved) {
      pair_turns.fill();
      for (int64_t lane = 0; lane < width; ++lane) set(pair_across, lane, turn_of(lane % (2 * n), 2 * n));
    }
    if (method == lanes) {
      fill_turns(n, turns1.re, turns1.im);
      return;
    }
    fill_turns(n1, turns1.re, turns1.im);
    fill_turns(n2, turns2.re, turns2.im);
    turns.fill();
    for (int64_t k = 0; k < n1; ++k)
      for (int64_t lane = 0; lane < width; ++lane) set(across, k * width + lane, turns.turn(k * lane % length));
  }
  static void set(Parts<R> parts, int64_t at, Turn turn) { set_turn(parts.re, parts.im, at, turn); }
};

template <class R>
struct Buffers {
  Parts<R> a, b;
  Parts<R> matrix;  // [ceil(n2 / width)][n1][width]
  Parts<R> convolved;
};
template <class R>
Buffers<R> buffers_of(const Plan<R>& plan, char* memory) {
  ScratchArena scratch(memory);
  const auto parts = [&](int64_t count) {
    R* const re = scratch.array<R>(count);
    return Parts<R>{re, scratch.array<R>(count)};
  };
  const int64_t columns = (plan.method == Plan<R>::lanes ? plan.rows_in_lanes() : plan.n2) * Plan<R>::width;
  Buffers<R> buffers{parts(columns), parts(columns), {}, {}};
  if (plan.method != Plan<R>::lanes) buffers.matrix = parts(round_up(plan.n2, Plan<R>::width) * plan.n1);
  if (plan.method == Plan<R>::convolution) buffers.convolved = parts(plan.length);
  return buffers;
}

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
