// The elements that a reduction reads: in memory, or computed a block at a time by a prologue, so that they are never
// in memory as a whole.
#pragma once

#include "strided_loops.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

constexpr int64_t block_elements = 4096;

// Input 0 of a call as one thread reads it. With a prologue, elements are numbered in C order, which is also their
// place, since input 0 then counts as contiguous.
template <class T>
class Source {
 public:
  // Takes the memory for computed elements from `scratch`.
  Source(const Call& call, ScratchArena& scratch, char* local)
      : data_(reinterpret_cast<const T*>(call.in[0].data)),
        prologue_(call.prologue),
        computed_(scratch.array<T>(prologue_ == nullptr ? 0 : block_elements)),
        local_(local) {}
  // The same elements as those of a type with the same layout; what `other` has computed is lost.
  template <class U>
  explicit Source(const Source<U>& other)
      : data_(reinterpret_cast<const T*>(other.data_)),
        prologue_(other.prologue_),
        computed_(reinterpret_cast<T*>(other.computed_)),
        local_(other.local_) {
    static_assert(sizeof(T) == sizeof(U));
  }

  bool is_computed() const { return prologue_ != nullptr; }
  // The error of the prologue. The elements after it have any values.
  fe_error* take_error() {
    fe_error* const error = error_;
    error_ = nullptr;
    return error;
  }

  // Takes the error of another source of these elements, whose memory they share.
  void forget(fe_error* error) {
    if (error_ == nullptr) error_ = error;
    count_ = 0;
  }

  // `count` adjacent elements from place `at` on, at most a block. The elements before place `end` are likely to be
  // read next.
  const T* run(int64_t at, int64_t count, int64_t end) {
    if (!is_computed()) return data_ + at;
    if (at < first_ || at + count > first_ + count_) {
      first_ = at;
      count_ = larger(count, smaller(end - at, block_elements) / count * count);
      compute(first_, count_, computed_);
    }
    return computed_ + (at - first_);
  }

  // Rows of `columns` adjacent elements, the first at place `at`, `stride` apart: at most `rows`, which becomes the
  // number that is given, and `stride` their distance there.
  const T* rows_at(int64_t at, int64_t columns, int64_t& rows, int64_t& stride) {
    if (!is_computed()) return data_ + at;
    rows = smaller(rows, block_elements / columns);
    if (stride == columns) {
      compute(at, rows * columns, computed_);
    } else {
      for (int64_t r = 0; r < rows; ++r) compute(at + r * stride, columns, computed_ + r * columns);
      stride = columns;
    }
    count_ = 0;
    return computed_;
  }

  // Copies `count` elements of the nest at place `at`, from index `first` on.
  void fetch(const Nest& nest, int64_t at, int64_t first, int64_t count, T* to) {
    if (!is_computed()) return cpu::FERRULE_CPU_VARIANT::fetch(nest, data_ + at, first, count, to);
    const int64_t inner = nest.rank == 0 || nest.strides[nest.rank - 1] != 1 ? 1 : nest.shape[nest.rank - 1];
    while (count > 0) {
      const int64_t run = smaller(count, inner - first % inner);
      compute(at + nest.offset(first), run, to);
      to += run;
      first += run;
      count -= run;
    }
  }

 private:
  template <class U>
  friend class Source;

  void compute(int64_t first, int64_t count, T* to) {
    if (error_ == nullptr) error_ = prologue_->compute(prologue_, first, count, to, local_);
  }

  const T* data_;
  const Prologue* prologue_;
  T* computed_;
  char* local_;
  int64_t first_ = 0, count_ = 0;  // what `run` has computed
  fe_error* error_ = nullptr;
};

}  // namespace
}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
