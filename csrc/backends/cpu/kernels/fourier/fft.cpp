// Discrete Fourier transforms of complex and real numbers.
//
// Several short lines are transformed side by side, each in a lane; a long line is transformed alone (long_lines.h).
// The choice depends on the length and whether the axis is the last one, not on the number of lines.
#include "../op_attributes.h"
#include "line_elements.h"
#include "long_lines.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

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

// Several lines side by side, each in a lane.
template <class R>
void transform_in_lanes(const Plan<R>& plan, const Buffers<R>& buffers, const Source<R>& source,
                        const Target<R>& target, const R* const* from, R* const* to, int64_t count, bool side_by_side) {
  constexpr int64_t width = width_of<R>;
  const int64_t n = plan.n;
  const bool folds = source.kind == Source<R>::folding;
  const Parts<R> given = buffers.a;
  const int64_t rows = n + (folds ? 1 : 0);
  if (side_by_side && source.reads_rows()) {
    for (int64_t j = 0; j < rows; ++j) source.read_row(from[0], j, given.re + j * width, given.im + j * width);
  } else {
    for (int64_t lane = 0; lane < width; ++lane)
      for (int64_t j = 0; j < rows; ++j) {
        R re = 0, im = 0;
        if (lane < count) source.read_given(from[lane], j, re, im);
        given.re[j * width + lane] = re;
        given.im[j * width + lane] = im;
      }
  }
  if (folds) fold_rows(plan, given);
  const Parts<R> exchanged = source.exchanged ? Parts<R>{given.im, given.re} : given;
  const Parts<R> done = transform_columns<R>(n, width, exchanged, buffers.b, {plan.turns1.re, plan.turns1.im});
  if (target.kind == Target<R>::unfolding) unfold_rows(plan, done);
  if (side_by_side) {
    for (int64_t k = 0; k < target.rows(); ++k) target.write_row(to[0], k, done.re + k * width, done.im + k * width);
  } else {
    for (int64_t lane = 0; lane < count; ++lane)
      for (int64_t k = 0; k < target.rows(); ++k)
        target.write(to[lane], k, done.re[k * width + lane], done.im[k * width + lane]);
  }
}

template <class R>
fe_error* transform_axis(const Call& call, const Lines& lines, const Plan<R>& plan, const Source<R>& source,
                         const Target<R>& target) {
  constexpr int64_t width = width_of<R>;
  const int64_t n = lines.n, inner = lines.inner;
  const AxisMemory<R> memory(lines, plan);
  const auto source_of = [&](int64_t line) {
    return source.data + line / inner * source.reals_of_line() * inner + line % inner * source.reals_of_item();
  };
  const auto target_of = [&](int64_t line) {
    return target.data + line / inner * target.reals_of_line() * inner + line % inner * target.reals_of_item();
  };
  const bool unfolds = target.kind == Target<R>::unfolding;
  if (plan.method == Plan<R>::convolution) {
    if (fe_error* const error =
            parallel(call, n, 1024, [&](int64_t begin, int64_t end) { plan.fill_chirp(begin, end); }))
      return error;
    Stop stop = stop_of(call, plan);
    fill_kernel(plan, buffers_of(plan, call.local.part(0)), stop);
    if (stop.error != nullptr) return stop.error;
  }

  if (plan.method == Plan<R>::lanes) {
    const int64_t groups = ceil_div(inner, width),
                  tasks = lines.last ? ceil_div(lines.outer, width) : lines.outer * groups;
    const int64_t grain = larger(1, 4096 / (n * width));
    return parallel_with_local(call, tasks, grain, [&](int64_t begin, int64_t end, char* local) {
      const Buffers<R> buffers = buffers_of(plan, local);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first = lines.last ? task * width : task / groups * inner + task % groups * width;
        const int64_t count =
            lines.last ? smaller(width, lines.outer - first) : smaller(width, inner - task % groups * width);
        const R* from[width];
        R* to[width];
        for (int64_t lane = 0; lane < count; ++lane) {
          from[lane] = source_of(first + lane);
          to[lane] = target_of(first + lane);
        }
        transform_in_lanes(plan, buffers, source, target, from, to, count, !lines.last && count == width);
      }
      return static_cast<fe_error*>(nullptr);
    });
  }

  if (memory.together) {
    ScratchArena scratch(call.scratch + memory.tables);
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
      if (!unfolds) continue;
      constexpr int64_t run = 4096;  // fixed, so that the same elements are computed as vectors
      error = parallel(call, ceil_div(n / 2 + 1, run), 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i)
          unfold_line(plan, to, target.stride, i * run, smaller(n / 2 + 1, (i + 1) * run));
      });
      if (error != nullptr) return error;
    }
    return nullptr;
  }

  return parallel_with_local(call, lines.count(), larger(1, 8192 / n), [&](int64_t begin, int64_t end, char* local) {
    const Buffers<R> buffers = buffers_of(plan, local);
    Stop stop = stop_of(call, plan);
    for (int64_t line = begin; line < end && !stop(); ++line) {
      const R* const from = source_of(line);
      R* const to = target_of(line);
      const auto load = [&](int64_t first, int64_t count, R* re, R* im) {
        source.read_run(from, first, count, re, im);
      };
      const auto store = [&](int64_t first, int64_t count, const R* re, const R* im) {
        target.write_run(to, first, count, re, im);
      };
      if (plan.method == Plan<R>::matrix)
        transform_as_matrix(plan, buffers, stop, load, store);
      else
        transform_by_convolution(plan, buffers, stop, load, store);
      if (unfolds) unfold_line(plan, to, target.stride, 0, n / 2 + 1);
    }
    return stop.error;
  });
}

// ---- the three ops

struct Sizes {
  uint64_t scratch = 0, local = 0;
  int64_t threads = 1;
};
template <class R>
void add_axis(Sizes& sizes, const Operand& x, int64_t axis, Elements elements) {
  const Lines lines(x, axis, elements);
  if (lines.count() == 0 || lines.n == 0) return;
  const Plan<R> plan(lines, nullptr);
  const AxisMemory<R> memory(lines, plan);
  const uint64_t scratch = memory.tables + memory.shared;
  sizes.scratch = scratch > sizes.scratch ? scratch : sizes.scratch;
  sizes.local = memory.local > sizes.local ? memory.local : sizes.local;
  sizes.threads = larger(sizes.threads, memory.together ? plan.n2 : lines.count());
}
// `x` has the whole lines.
Sizes sizes_of(const Call& call, const Operand& x, const int64_t* axes, size_t count, Elements elements) {
  Sizes sizes;
  const bool is_single = call.in[0].dtype == DType::f32 || call.in[0].dtype == DType::c64;
  for (size_t i = 0; i < count; ++i) {
    if (is_single)
      add_axis<float>(sizes, x, axes[i], elements);
    else
      add_axis<double>(sizes, x, axes[i], elements);
  }
  return sizes;
}
Sizes complex_sizes(const Call& call) {
  const fe_int64_list axes = attributes_of<fe_fft_complex_attributes>(call).axes;
  return sizes_of(call, call.in[0], axes.data, axes.count, Elements::complex);
}
Sizes real_sizes(const Call& call) {
  return sizes_of(call, call.in[0], &attributes_of<fe_fft_real_attributes>(call).axis, 1, Elements::of_reals);
}
Sizes to_real_sizes(const Call& call) {
  return sizes_of(call, call.out[0], &attributes_of<fe_fft_to_real_attributes>(call).axis, 1, Elements::into_reals);
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
    const Lines lines(x, attributes.axes.data[i], Elements::complex);
    if (lines.count() == 0) return nullptr;
    const Plan<R> plan(lines, call.scratch);
    const R factor = i == 0 ? scale : R(1);
    fe_error* const error = transform_axis<R>(call, lines, plan, {Source<R>::complex, from, plan, lines.inner, inverse},
                                              {Target<R>::complex, to, plan, lines.inner, inverse, factor});
    if (error != nullptr) return error;
    from = to;
  }
  return nullptr;
}

template <class R>
fe_error* fft_real(const Call& call) {
  const auto& attributes = attributes_of<fe_fft_real_attributes>(call);
  const Lines lines(call.in[0], attributes.axis, Elements::of_reals);
  if (lines.count() == 0) return nullptr;
  const Plan<R> plan(lines, call.scratch);
  const auto from = lines.halved ? Source<R>::pairs : Source<R>::real;
  const auto to = lines.halved ? Target<R>::unfolding : Target<R>::half;
  return transform_axis<R>(
      call, lines, plan, {from, reinterpret_cast<const R*>(call.in[0].data), plan, lines.inner, false},
      {to, reinterpret_cast<R*>(call.out[0].data), plan, lines.inner, false, static_cast<R>(attributes.scale)});
}

template <class R>
fe_error* fft_to_real(const Call& call) {
  const auto& attributes = attributes_of<fe_fft_to_real_attributes>(call);
  const Lines lines(call.out[0], attributes.axis, Elements::into_reals);
  if (lines.count() == 0) return nullptr;
  const Plan<R> plan(lines, call.scratch);
  const auto from = lines.halved ? Source<R>::folding : Source<R>::half;
  const auto to = lines.halved ? Target<R>::pairs : Target<R>::real;
  return transform_axis<R>(
      call, lines, plan, {from, reinterpret_cast<const R*>(call.in[0].data), plan, lines.inner, true},
      {to, reinterpret_cast<R*>(call.out[0].data), plan, lines.inner, true, static_cast<R>(attributes.scale)});
}

constexpr DTypes complexes = dtypes_of(FE_CLASS_COMPLEX);

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
