// Discrete Fourier transforms of complex and real numbers.
//
// Several short lines are transformed side by side, each in a lane. A long line of n1 * n2 elements is a matrix whose
// columns, then rows are transformed, with a product in between (Gentleman & Sande 1966; Bailey 1990). A length with a
// large prime factor becomes a convolution of a smooth length (Bluestein 1970). Which one depends on the length and
// whether the axis is the last one, not on the number of lines.
#include "../op_attributes.h"
#include "stockham.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t longest_in_lanes = 256, longest_in_columns = 4096, smallest_convolution = 256;

// The lines along one axis: an array [outer][n][inner].
struct Lines {
  int64_t outer = 1, n = 1, inner = 1;
  bool last;
  Lines(const Operand& x, int64_t axis) : n(x.shape[axis]), last(axis == x.rank - 1) {
    for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
    for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  }
  int64_t count() const { return outer * inner; }
};

// The factors of a smooth length that are nearest to each other.
int64_t nearest_factor(int64_t n) {
  int64_t best = 1;
  for (int64_t f = 2; f * f <= n; ++f)
    if (n % f == 0) best = f;
  return best;
}
int64_t power_of_two_from(int64_t n) {
  int64_t power = 1;
  while (power < n) power *= 2;
  return power;
}

// How a line of this length is transformed, with tables in memory that all lines share.
template <class R>
struct Plan {
  static constexpr int64_t width = width_of<R>;
  enum Method { lanes, matrix, convolution } method;
  int64_t n;       // the line's length
  int64_t length;  // the length of the transform inside: n, or that of the convolution
  int64_t n1 = 1, n2 = 1;
  Parts<R> turns1{}, turns2{};  // of the length n1 (or n, in lanes) and n2
  Parts<R> across{};            // [n1][width]: turn k1 * lane of `length`
  Turn *coarse = nullptr, *fine = nullptr;
  int64_t fine_count = 1;
  Parts<R> chirp{}, kernel{};  // of a convolution
  uint64_t table_bytes = 0, local_bytes = 0;

  // Without memory only sizes are computed.
  Plan(int64_t line_length, bool is_last, char* tables) : n(line_length), length(line_length) {
    Scratch scratch(tables);
    const auto parts = [&](int64_t count) {
      R* const re = scratch.array<R>(count);
      return Parts<R>{re, scratch.array<R>(count)};
    };
    if (!is_smooth(n)) {
      method = convolution;
      length = larger(smallest_convolution, power_of_two_from(2 * n - 1));
    } else {
      method = n <= (is_last ? longest_in_lanes : longest_in_columns) ? lanes : matrix;
    }
    if (method == lanes) {
      turns1 = parts(n);
      local_bytes = 4 * aligned_bytes(n * width);
    } else {
      n1 = nearest_factor(length);
      n2 = length / n1;
      turns1 = parts(n1);
      turns2 = parts(n2);
      across = parts(n1 * width);
      fine_count = larger(1, power_of_two_from(nearest_root(length)));
      fine = scratch.array<Turn>(fine_count);
      coarse = scratch.array<Turn>(ceil_div(length, fine_count));
      local_bytes = 4 * aligned_bytes(n2 * width) + 2 * aligned_bytes(round_up(n2, width) * n1);
      if (method == convolution) {
        chirp = parts(n);
        kernel = parts(length);
        local_bytes += 2 * aligned_bytes(length);
      }
    }
    table_bytes = scratch.bytes();
    if (tables == nullptr) return;
    if (method == lanes) {
      fill_turns(n, turns1.re, turns1.im);
      return;
    }
    fill_turns(n1, turns1.re, turns1.im);
    fill_turns(n2, turns2.re, turns2.im);
    for (int64_t k = 0; k < n1; ++k)
      for (int64_t lane = 0; lane < width; ++lane) {
        const Turn turn = turn_of(k * lane % length, length);
        across.re[k * width + lane] = static_cast<R>(turn.cosine);
        across.im[k * width + lane] = static_cast<R>(-turn.sine);
      }
    // A turn is a coarse one times a fine one, which is kept less 1, so that the product loses no digits.
    for (int64_t k = 0; k < fine_count; ++k) {
      const Turn half = turn_of(k % (2 * length), 2 * length), turn = turn_of(k % length, length);
      fine[k] = {-2 * half.sine * half.sine, turn.sine};
    }
    for (int64_t k = 0; k * fine_count < length; ++k) coarse[k] = turn_of(k * fine_count, length);
  }

  static int64_t nearest_root(int64_t x) {
    int64_t root = 1;
    while (root * root < x) root *= 2;
    return root;
  }
  static uint64_t aligned_bytes(int64_t count) {
    return static_cast<uint64_t>(round_up(count * static_cast<int64_t>(sizeof(R)), 64));
  }

  // w^k of the length `length`, conjugated: cos, sin.
  Turn turn(int64_t k) const {
    const Turn a = coarse[k / fine_count], b = fine[k % fine_count];
    return {a.cosine + (a.cosine * b.cosine - a.sine * b.sine), a.sine + (a.sine * b.cosine + a.cosine * b.sine)};
  }
};

template <class R>
struct Buffers {
  Parts<R> a, b;
  Parts<R> matrix;  // [ceil(n2 / width)][n1][width]
  Parts<R> convolved;
};
template <class R>
Buffers<R> buffers_of(const Plan<R>& plan, char* memory) {
  Scratch scratch(memory);
  const auto parts = [&](int64_t count) {
    R* const re = scratch.array<R>(count);
    return Parts<R>{re, scratch.array<R>(count)};
  };
  const int64_t columns = (plan.method == Plan<R>::lanes ? plan.n : plan.n2) * Plan<R>::width;
  Buffers<R> buffers{parts(columns), parts(columns), {}, {}};
  if (plan.method != Plan<R>::lanes) buffers.matrix = parts(round_up(plan.n2, Plan<R>::width) * plan.n1);
  if (plan.method == Plan<R>::convolution) buffers.convolved = parts(plan.length);
  return buffers;
}

// to[k * width + i] = from[i * width + k] for a square of lanes.
template <class R>
HWY_INLINE void transpose_lanes(const R* HWY_RESTRICT from, int64_t from_pitch, R* HWY_RESTRICT to, int64_t to_pitch) {
  constexpr int64_t width = width_of<R>;
  for (int64_t k = 0; k < width; ++k)
    for (int64_t i = 0; i < width; ++i) to[k * to_pitch + i] = from[i * from_pitch + k];
}

// The first half of a transform of `plan.length`: columns [block * width, + width) of the matrix. load(j, count, re,
// im) reads elements [j, j + count) of the line.
template <class R, class Load>
void transform_block_of_columns(const Plan<R>& plan, const Buffers<R>& buffers, Parts<R> matrix, int64_t block,
                                Load load) {
  constexpr int64_t width = width_of<R>;
  const Full<R> d;
  const int64_t n1 = plan.n1, n2 = plan.n2, first = block * width, count = smaller(width, n2 - first);
  for (int64_t j = 0; j < n1; ++j) {
    R *const re = buffers.a.re + j * width, *const im = buffers.a.im + j * width;
    load(j * n2 + first, count, re, im);
    for (int64_t i = count; i < width; ++i) re[i] = im[i] = 0;
  }
  const Parts<R> done = transform_columns<R>(n1, width, buffers.a, buffers.b, {plan.turns1.re, plan.turns1.im});
  R *const to_re = matrix.re + block * n1 * width, *const to_im = matrix.im + block * n1 * width;
  int64_t exponent = 0;  // first * k modulo the length
  for (int64_t k = 0; k < n1; ++k) {
    const Turn turn = plan.turn(exponent);
    exponent += first;
    if (exponent >= plan.length) exponent -= plan.length;
    const auto re = hn::Load(d, done.re + k * width), im = hn::Load(d, done.im + k * width);
    const auto across_re = hn::Load(d, plan.across.re + k * width), across_im = hn::Load(d, plan.across.im + k * width);
    const auto cosine = hn::Set(d, static_cast<R>(turn.cosine)), sine = hn::Set(d, static_cast<R>(-turn.sine));
    const auto w_re = hn::NegMulAdd(sine, across_im, hn::Mul(cosine, across_re));
    const auto w_im = hn::MulAdd(sine, across_re, hn::Mul(cosine, across_im));
    hn::Store(hn::NegMulAdd(im, w_im, hn::Mul(re, w_re)), d, to_re + k * width);
    hn::Store(hn::MulAdd(im, w_re, hn::Mul(re, w_im)), d, to_im + k * width);
  }
}
// The second half: rows [block * width, + width). store(k, count, re, im) takes elements [k, k + count) of the result.
template <class R, class Store>
void transform_block_of_rows(const Plan<R>& plan, const Buffers<R>& buffers, Parts<R> matrix, int64_t block,
                             Store store) {
  constexpr int64_t width = width_of<R>;
  const int64_t n1 = plan.n1, n2 = plan.n2, first = block * width, count = smaller(width, n1 - first);
  for (int64_t j = 0; j < n2; j += width) {
    const int64_t from = (j * n1) + first * width;  // block j / width of the matrix, row `first`
    if (count == width && n2 - j >= width) {
      transpose_lanes(matrix.re + from, width, buffers.a.re + j * width, width);
      transpose_lanes(matrix.im + from, width, buffers.a.im + j * width, width);
    } else {
      for (int64_t i = 0; i < smaller(width, n2 - j); ++i)
        for (int64_t k = 0; k < width; ++k) {
          const bool is_given = k < count;
          buffers.a.re[(j + i) * width + k] = is_given ? matrix.re[from + k * width + i] : R(0);
          buffers.a.im[(j + i) * width + k] = is_given ? matrix.im[from + k * width + i] : R(0);
        }
    }
  }
  const Parts<R> done = transform_columns<R>(n2, width, buffers.a, buffers.b, {plan.turns2.re, plan.turns2.im});
  for (int64_t k = 0; k < n2; ++k) store(k * n1 + first, count, done.re + k * width, done.im + k * width);
}

template <class R, class Load, class Store>
void transform_as_matrix(const Plan<R>& plan, const Buffers<R>& buffers, Load load, Store store) {
  for (int64_t block = 0; block * width_of<R> < plan.n2; ++block)
    transform_block_of_columns(plan, buffers, buffers.matrix, block, load);
  for (int64_t block = 0; block * width_of<R> < plan.n1; ++block)
    transform_block_of_rows(plan, buffers, buffers.matrix, block, store);
}

// exp(-pi i j^2 / n)
template <class R>
void fill_chirp(const Plan<R>& plan) {
  int64_t square = 0;  // j^2 modulo 2 n
  for (int64_t j = 0; j < plan.n; ++j) {
    const Turn turn = turn_of(square, 2 * plan.n);
    plan.chirp.re[j] = static_cast<R>(turn.cosine);
    plan.chirp.im[j] = static_cast<R>(-turn.sine);
    square = (square + 2 * j + 1) % (2 * plan.n);
  }
}
// The transform of the conjugated chirp, around zero, over the length.
template <class R>
void fill_kernel(const Plan<R>& plan, const Buffers<R>& buffers) {
  const R factor = R(1) / static_cast<R>(plan.length);
  transform_as_matrix(
      plan, buffers,
      [&](int64_t first, int64_t count, R* re, R* im) {
        for (int64_t i = 0; i < count; ++i) {
          const int64_t j = first + i, back = plan.length - j;
          const int64_t at = j < plan.n ? j : back < plan.n ? back : -1;
          re[i] = at < 0 ? R(0) : plan.chirp.re[at] * factor;
          im[i] = at < 0 ? R(0) : -plan.chirp.im[at] * factor;
        }
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        for (int64_t i = 0; i < count; ++i) {
          plan.kernel.re[first + i] = re[i];
          plan.kernel.im[first + i] = im[i];
        }
      });
}

template <class R, class Load, class Store>
void transform_by_convolution(const Plan<R>& plan, const Buffers<R>& buffers, Load load, Store store) {
  const Parts<R> chirp = plan.chirp, kernel = plan.kernel, convolved = buffers.convolved;
  transform_as_matrix(
      plan, buffers,
      [&](int64_t first, int64_t count, R* re, R* im) {
        const int64_t given = larger(0, smaller(count, plan.n - first));
        if (given > 0) load(first, given, re, im);
        for (int64_t i = 0; i < given; ++i) {
          const R a = re[i], b = im[i], c = chirp.re[first + i], s = chirp.im[first + i];
          re[i] = a * c - b * s;
          im[i] = a * s + b * c;
        }
        for (int64_t i = given; i < count; ++i) re[i] = im[i] = 0;
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        for (int64_t i = 0; i < count; ++i) {  // conjugated, so that the same transform leads back
          const R a = re[i], b = im[i], c = kernel.re[first + i], s = kernel.im[first + i];
          convolved.re[first + i] = a * c - b * s;
          convolved.im[first + i] = -(a * s + b * c);
        }
      });
  transform_as_matrix(
      plan, buffers,
      [&](int64_t first, int64_t count, R* re, R* im) {
        for (int64_t i = 0; i < count; ++i) {
          re[i] = convolved.re[first + i];
          im[i] = convolved.im[first + i];
        }
      },
      [&](int64_t first, int64_t count, const R* re, const R* im) {
        const int64_t wanted = larger(0, smaller(count, plan.n - first));
        R product_re[width_of<R>], product_im[width_of<R>];
        for (int64_t i = 0; i < wanted; ++i) {
          const R a = re[i], b = -im[i], c = chirp.re[first + i], s = chirp.im[first + i];
          product_re[i] = a * c - b * s;
          product_im[i] = a * s + b * c;
        }
        if (wanted > 0) store(first, wanted, product_re, product_im);
      });
}

// What is read: complex numbers, real ones, or the first half of the transform of real ones.
template <class R>
struct Source {
  enum Kind { complex, real, half } kind;
  const R* data;
  int64_t n;  // of the whole line
  int64_t stride;
  bool exchanged;  // the inverse transform exchanges real and imaginary parts before and after

  HWY_INLINE void read(const R* line, int64_t j, R& re, R& im) const {
    R a, b = 0;
    if (kind == real) {
      a = line[j * stride];
    } else if (kind == complex || 2 * j <= n) {
      a = line[2 * j * stride];
      b = line[2 * j * stride + 1];
      if (kind == half && (j == 0 || 2 * j == n)) b = 0;
    } else {
      a = line[2 * (n - j) * stride];
      b = -line[2 * (n - j) * stride + 1];
    }
    re = exchanged ? b : a;
    im = exchanged ? a : b;
  }
  void read_run(const R* line, int64_t first, int64_t count, R* re, R* im) const {
    if (kind == complex && stride == 1 && count == width_of<R>) {
      const Full<R> d;
      auto a = hn::Zero(d), b = a;
      hn::LoadInterleaved2(d, line + 2 * first, a, b);
      hn::StoreU(exchanged ? b : a, d, re);
      hn::StoreU(exchanged ? a : b, d, im);
      return;
    }
    for (int64_t i = 0; i < count; ++i) read(line, first + i, re[i], im[i]);
  }
};
// What is written: complex numbers, all of them or those up to the middle, or real parts.
template <class R>
struct Target {
  enum Kind { complex, half, real } kind;
  R* data;
  int64_t n;
  int64_t stride;
  bool exchanged;
  R scale;

  HWY_INLINE void write(R* line, int64_t k, R re, R im) const {
    const R a = scale * (exchanged ? im : re), b = scale * (exchanged ? re : im);
    if (kind == real) {
      line[k * stride] = a;
    } else if (kind == complex || 2 * k <= n) {
      line[2 * k * stride] = a;
      line[2 * k * stride + 1] = b;
    }
  }
  void write_run(R* line, int64_t first, int64_t count, const R* re, const R* im) const {
    if (kind == complex && stride == 1 && count == width_of<R>) {
      const Full<R> d;
      const auto factor = hn::Set(d, scale);
      const auto a = hn::Mul(factor, hn::LoadU(d, exchanged ? im : re)),
                 b = hn::Mul(factor, hn::LoadU(d, exchanged ? re : im));
      hn::StoreInterleaved2(a, b, d, line + 2 * first);
      return;
    }
    for (int64_t i = 0; i < count; ++i) write(line, first + i, re[i], im[i]);
  }
};

// The scratch memory of a call: the tables of its axes, one after the other in the same memory, and for a long line
// that all threads work on, its matrix.
template <class R>
struct AxisMemory {
  uint64_t tables, local;
  bool together;  // all threads work on each line
  uint64_t shared;
  AxisMemory(const Lines& lines, const Plan<R>& plan)
      : tables(plan.table_bytes),
        local(plan.local_bytes),
        together(plan.method == Plan<R>::matrix && lines.count() < 8 && plan.n >= 16384),
        shared(together ? 2 * Plan<R>::aligned_bytes(round_up(plan.n2, plan.width) * plan.n1) : 0) {}
};

template <class R>
fe_error* transform_axis(const Call& call, const Lines& lines, const Source<R>& source, const Target<R>& target) {
  constexpr int64_t width = width_of<R>;
  const int64_t n = lines.n, inner = lines.inner;
  if (lines.count() == 0) return nullptr;
  const Plan<R> plan(n, lines.last, call.scratch);
  const AxisMemory<R> memory(lines, plan);
  const int64_t source_line = (source.kind == Source<R>::half ? n / 2 + 1 : n) * inner,
                target_line = (target.kind == Target<R>::half ? n / 2 + 1 : n) * inner;
  const int64_t source_item = source.kind == Source<R>::real ? 1 : 2,
                target_item = target.kind == Target<R>::real ? 1 : 2;
  const auto source_of = [&](int64_t line) {
    return source.data + (line / inner * source_line + line % inner) * source_item;
  };
  const auto target_of = [&](int64_t line) {
    return target.data + (line / inner * target_line + line % inner) * target_item;
  };
  if (plan.method == Plan<R>::convolution) fill_chirp(plan);
  if (plan.method == Plan<R>::convolution) fill_kernel(plan, buffers_of(plan, call.local.data));

  if (plan.method == Plan<R>::lanes) {
    const int64_t groups = ceil_div(inner, width),
                  tasks = lines.last ? ceil_div(lines.outer, width) : lines.outer * groups;
    const int64_t grain = larger(1, 4096 / (n * width));
    return parallel_with_local(call, tasks, grain, [&](int64_t begin, int64_t end, char* local) {
      const Buffers<R> buffers = buffers_of(plan, local);
      const Full<R> d;
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = lines.last ? task * width : task / groups * inner + task % groups * width;
        const int64_t count =
            lines.last ? smaller(width, lines.outer - first) : smaller(width, inner - task % groups * width);
        const bool side_by_side = !lines.last && count == width;
        if (side_by_side && source.kind == Source<R>::complex) {
          const R* const from = source_of(first);
          for (int64_t j = 0; j < n; ++j) {
            auto a = hn::Zero(d), b = a;
            hn::LoadInterleaved2(d, from + 2 * j * source.stride, a, b);
            hn::Store(source.exchanged ? b : a, d, buffers.a.re + j * width);
            hn::Store(source.exchanged ? a : b, d, buffers.a.im + j * width);
          }
        } else {
          for (int64_t lane = 0; lane < count; ++lane) {
            const R* const line = source_of(first + lane);
            for (int64_t j = 0; j < n; ++j)
              source.read(line, j, buffers.a.re[j * width + lane], buffers.a.im[j * width + lane]);
          }
          for (int64_t lane = count; lane < width; ++lane)
            for (int64_t j = 0; j < n; ++j) buffers.a.re[j * width + lane] = buffers.a.im[j * width + lane] = 0;
        }
        const Parts<R> done = transform_columns<R>(n, width, buffers.a, buffers.b, {plan.turns1.re, plan.turns1.im});
        if (side_by_side && target.kind == Target<R>::complex) {
          R* const to = target_of(first);
          const auto factor = hn::Set(d, target.scale);
          for (int64_t k = 0; k < n; ++k) {
            const auto a = hn::Mul(factor, hn::Load(d, (target.exchanged ? done.im : done.re) + k * width)),
                       b = hn::Mul(factor, hn::Load(d, (target.exchanged ? done.re : done.im) + k * width));
            hn::StoreInterleaved2(a, b, d, to + 2 * k * target.stride);
          }
        } else {
          for (int64_t lane = 0; lane < count; ++lane) {
            R* const line = target_of(first + lane);
            for (int64_t k = 0; k < n; ++k) target.write(line, k, done.re[k * width + lane], done.im[k * width + lane]);
          }
        }
      }
      return static_cast<fe_error*>(nullptr);
    });
  }

  if (memory.together) {
    Scratch scratch(call.scratch + memory.tables);
    Parts<R> matrix{};
    matrix.re = scratch.array<R>(round_up(plan.n2, width) * plan.n1);
    matrix.im = scratch.array<R>(round_up(plan.n2, width) * plan.n1);
    for (int64_t line = 0; line < lines.count(); ++line) {
      const R* const from = source_of(line);
      R* const to = target_of(line);
      fe_error* error =
          parallel_with_local(call, ceil_div(plan.n2, width), 1, [&](int64_t begin, int64_t end, char* local) {
            const Buffers<R> buffers = buffers_of(plan, local);
            for (int64_t block = begin; block < end; ++block)
              transform_block_of_columns(plan, buffers, matrix, block, [&](int64_t first, int64_t count, R* re, R* im) {
                source.read_run(from, first, count, re, im);
              });
            return static_cast<fe_error*>(nullptr);
          });
      if (error != nullptr) return error;
      error = parallel_with_local(call, ceil_div(plan.n1, width), 1, [&](int64_t begin, int64_t end, char* local) {
        const Buffers<R> buffers = buffers_of(plan, local);
        for (int64_t block = begin; block < end; ++block)
          transform_block_of_rows(plan, buffers, matrix, block,
                                  [&](int64_t first, int64_t count, const R* re, const R* im) {
                                    target.write_run(to, first, count, re, im);
                                  });
        return static_cast<fe_error*>(nullptr);
      });
      if (error != nullptr) return error;
    }
    return nullptr;
  }

  return parallel_with_local(call, lines.count(), larger(1, 8192 / n), [&](int64_t begin, int64_t end, char* local) {
    const Buffers<R> buffers = buffers_of(plan, local);
    for (int64_t line = begin; line < end; ++line) {
      const R* const from = source_of(line);
      R* const to = target_of(line);
      const auto load = [&](int64_t first, int64_t count, R* re, R* im) {
        source.read_run(from, first, count, re, im);
      };
      const auto store = [&](int64_t first, int64_t count, const R* re, const R* im) {
        target.write_run(to, first, count, re, im);
      };
      if (plan.method == Plan<R>::matrix)
        transform_as_matrix(plan, buffers, load, store);
      else
        transform_by_convolution(plan, buffers, load, store);
    }
    return static_cast<fe_error*>(nullptr);
  });
}

// ---- the three ops

struct Sizes {
  uint64_t scratch = 0, local = 0;
  int64_t threads = 1;
};
template <class R>
void add_axis(Sizes& sizes, const Operand& x, int64_t axis) {
  const Lines lines(x, axis);
  if (lines.count() == 0 || lines.n == 0) return;
  const Plan<R> plan(lines.n, lines.last, nullptr);
  const AxisMemory<R> memory(lines, plan);
  const uint64_t scratch = memory.tables + memory.shared;
  sizes.scratch = scratch > sizes.scratch ? scratch : sizes.scratch;
  sizes.local = memory.local > sizes.local ? memory.local : sizes.local;
  sizes.threads = larger(sizes.threads, memory.together ? plan.n2 : lines.count());
}
// `x` has the whole lines.
Sizes sizes_of(const Call& call, const Operand& x, const int64_t* axes, size_t count) {
  Sizes sizes;
  const bool is_single = call.in[0].dtype == DType::f32 || call.in[0].dtype == DType::c64;
  for (size_t i = 0; i < count; ++i) {
    if (is_single)
      add_axis<float>(sizes, x, axes[i]);
    else
      add_axis<double>(sizes, x, axes[i]);
  }
  return sizes;
}
Sizes complex_sizes(const Call& call) {
  const fe_int64_list axes = attributes_of<fe_fft_complex_attributes>(call).axes;
  return sizes_of(call, call.in[0], axes.data, axes.count);
}
Sizes real_sizes(const Call& call) {
  return sizes_of(call, call.in[0], &attributes_of<fe_fft_real_attributes>(call).axis, 1);
}
Sizes to_real_sizes(const Call& call) {
  return sizes_of(call, call.out[0], &attributes_of<fe_fft_to_real_attributes>(call).axis, 1);
}

template <class R>
fe_error* fft_complex(const Call& call) {
  const auto& attributes = attributes_of<fe_fft_complex_attributes>(call);
  const Operand& x = call.in[0];
  const bool inverse = attributes.inverse != 0;
  const auto* from = reinterpret_cast<const R*>(x.data);
  auto* const to = reinterpret_cast<R*>(call.out[0].data);
  const R scale = static_cast<R>(attributes.scale);
  int64_t count = 2;
  for (int32_t i = 0; i < x.rank; ++i) count *= x.shape[i];
  if (attributes.axes.count == 0) {
    for (int64_t i = 0; i < count; ++i) to[i] = scale * from[i];
    return nullptr;
  }
  // From the last axis to the first; the results of one axis are the input of the next one, in place.
  for (size_t i = attributes.axes.count; i-- > 0;) {
    const Lines lines(x, attributes.axes.data[i]);
    const R factor = i == 0 ? scale : R(1);
    fe_error* const error = transform_axis<R>(call, lines, {Source<R>::complex, from, lines.n, lines.inner, inverse},
                                              {Target<R>::complex, to, lines.n, lines.inner, inverse, factor});
    if (error != nullptr) return error;
    from = to;
  }
  return nullptr;
}

template <class R>
fe_error* fft_real(const Call& call) {
  const auto& attributes = attributes_of<fe_fft_real_attributes>(call);
  const Lines lines(call.in[0], attributes.axis);
  return transform_axis<R>(call, lines,
                           {Source<R>::real, reinterpret_cast<const R*>(call.in[0].data), lines.n, lines.inner, false},
                           {Target<R>::half, reinterpret_cast<R*>(call.out[0].data), lines.n, lines.inner, false,
                            static_cast<R>(attributes.scale)});
}

template <class R>
fe_error* fft_to_real(const Call& call) {
  const auto& attributes = attributes_of<fe_fft_to_real_attributes>(call);
  const Lines lines(call.out[0], attributes.axis);
  return transform_axis<R>(call, lines,
                           {Source<R>::half, reinterpret_cast<const R*>(call.in[0].data), lines.n, lines.inner, true},
                           {Target<R>::real, reinterpret_cast<R*>(call.out[0].data), lines.n, lines.inner, true,
                            static_cast<R>(attributes.scale)});
}

constexpr DTypes complexes = one_of(DType::c64) | one_of(DType::c128);

uint64_t complex_scratch_size(const Call& call) { return complex_sizes(call).scratch; }
uint64_t real_scratch_size(const Call& call) { return real_sizes(call).scratch; }
uint64_t to_real_scratch_size(const Call& call) { return to_real_sizes(call).scratch; }
LocalScratch local_of(const Sizes& sizes) { return {sizes.local, sizes.threads}; }
LocalScratch complex_local_scratch(const Call& call) { return local_of(complex_sizes(call)); }
LocalScratch real_local_scratch(const Call& call) { return local_of(real_sizes(call)); }
LocalScratch to_real_local_scratch(const Call& call) { return local_of(to_real_sizes(call)); }

bool accepts_complex(const Call& call) { return call.out[0].dtype == call.in[0].dtype; }
bool accepts_real(const Call& call) {
  return call.out[0].dtype == (call.in[0].dtype == DType::f32 ? DType::c64 : DType::c128);
}
bool accepts_to_real(const Call& call) {
  return call.out[0].dtype == (call.in[0].dtype == DType::c64 ? DType::f32 : DType::f64);
}

}  // namespace

KERNEL(fft_complex, .dtypes = complexes, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_complex,
       .scratch_size = complex_scratch_size, .local_scratch = complex_local_scratch,
       .list_attributes = {offsetof(fe_fft_complex_attributes, axes)}) {
  return call.in[0].dtype == DType::c64 ? fft_complex<float>(call) : fft_complex<double>(call);
}

KERNEL(fft_real, .dtypes = f32 | f64, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_real,
       .scratch_size = real_scratch_size, .local_scratch = real_local_scratch) {
  return call.in[0].dtype == DType::f32 ? fft_real<float>(call) : fft_real<double>(call);
}

KERNEL(fft_to_real, .dtypes = complexes, .layouts = {FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_to_real,
       .scratch_size = to_real_scratch_size, .local_scratch = to_real_local_scratch) {
  return call.in[0].dtype == DType::c64 ? fft_to_real<float>(call) : fft_to_real<double>(call);
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
