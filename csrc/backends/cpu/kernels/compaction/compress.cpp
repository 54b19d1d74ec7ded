// The slices that a mask of one axis chooses.
#include "../compressed.h"
#include "../op_attributes.h"
#include "../strided_copy.h"
#include "chosen_bits.h"

namespace ferrule::cpu::FERRULE_CPU_VARIANT {
namespace {

// x as [outer][axis][inner]. A list of positions along the axis names the slices that are kept.
struct Slices {
  int64_t axis, outer = 1, length, inner = 1, size;
  explicit Slices(const Call& call) {
    const Operand& x = call.in[0];
    axis = attributes_of<fe_compress_attributes>(call).axis;
    length = x.shape[axis];
    size = call.out[0].shape[axis];
    for (int32_t i = 0; i < axis; ++i) outer *= x.shape[i];
    for (int32_t i = static_cast<int32_t>(axis) + 1; i < x.rank; ++i) inner *= x.shape[i];
  }
};

bool accepts_compress(const Call& call) {
  const Operand &x = call.in[0], &condition = call.in[1], &out = call.out[0];
  const int64_t kept = attributes_of<fe_compress_attributes>(call).axis;
  if (!has_count(call) || out.dtype != x.dtype || condition.dtype != DType::boolean) return false;
  if (condition.rank != 1 || condition.shape[0] != x.shape[kept] || out.rank != x.rank) return false;
  for (int32_t axis = 0; axis < x.rank; ++axis)
    if (axis != kept && out.shape[axis] != x.shape[axis]) return false;
  return true;
}

// The positions along the axis that are kept, and the position of the first one of each chunk among them.
struct KeptScratch {
  int64_t* places;
  int64_t* kept;
  KeptScratch(char* memory, int64_t length) {
    ScratchArena scratch(memory);
    places = scratch.array<int64_t>(ceil_div(length, chunk) + 1);
    kept = scratch.array<int64_t>(length);
  }
  static uint64_t size(int64_t length) {
    ScratchArena scratch(nullptr);
    scratch.array<int64_t>(ceil_div(length, chunk) + 1);
    scratch.array<int64_t>(length);
    return scratch.bytes();
  }
};

uint64_t kept_size(const Call& call) { return KeptScratch::size(call.in[1].shape[0]); }

// Copies the items of `from` where the condition holds to [to, to + room), and returns how many there are; no more than
// `room`.
template <class T>
int64_t keep_items(const T* from, const uint8_t* condition, int64_t count, T* to, int64_t room) {
  int64_t at = 0;
  for (int64_t i = 0; i < count; i += 64) {
    uint64_t bits = bits_of(condition + i, count - i);
    const int64_t found = hwy::PopCount(bits);
    if (found == 64 && at + 64 <= room) {
      __builtin_memcpy(to + at, from + i, 64 * sizeof(T));
      at += 64;
      continue;
    }
    if constexpr (sizeof(T) == 4) {                           // for other sizes, Highway looks the order up in tables
      if (found > 8 && count - i >= 64 && at + 64 <= room) {  // a vector is written even if fewer items are kept
        const hn::ScalableTag<T> d;
        const auto lanes = static_cast<int64_t>(hn::Lanes(d));
        for (int64_t k = 0; k < 64; k += lanes) {
          const uint64_t part = bits >> k;
          const auto chosen = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&part));
          hn::StoreU(compressed(hn::LoadU(d, from + i + k), chosen), d, to + at);
          at += static_cast<int64_t>(hn::CountTrue(d, chosen));
        }
        continue;
      }
    }
    if (found > 44 && at + found <= room) {  // few, long runs
      for_each_run(bits, [&](int64_t first, int64_t many) {
        memcpy(to + at, from + i + first, static_cast<size_t>(many) * sizeof(T));
        at += many;
      });
      continue;
    }
    for (; bits != 0 && at < room; bits &= bits - 1) to[at++] = from[i + __builtin_ctzll(bits)];
  }
  return at;
}

// The kept items of one row of small items: each chunk knows where its items begin.
fe_error* compress_items(const Call& call, const uint8_t* condition, int64_t length, int64_t size,
                         const int64_t* places) {
  const int64_t chunks = ceil_div(length, chunk);
  const Operand &x = call.in[0], &out = call.out[0];
  return parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = smaller(places[i], size), room = smaller(places[i + 1], size) - first;
      with_item(x.item_size, [&](auto zero) {
        using T = decltype(zero);
        T* const to = reinterpret_cast<T*>(out.data) + first;
        const int64_t found = keep_items(reinterpret_cast<const T*>(x.data) + i * chunk, condition + i * chunk,
                                         smaller(chunk, length - i * chunk), to, room);
        memset(to + found, 0, static_cast<size_t>(room - found) * sizeof(T));
      });
    }
  });
}

}  // namespace

KERNEL(compress, .layouts = {FE_LAYOUT_CONTIGUOUS, FE_LAYOUT_CONTIGUOUS}, .accepts = accepts_compress,
       .scratch_size = kept_size) {
  const Slices slices(call);
  const Operand& x = call.in[0];
  const auto* const condition = reinterpret_cast<const uint8_t*>(call.in[1].data);
  const KeptScratch scratch(call.scratch, slices.length);
  if (fe_error* error = count_chunks(call, condition, slices.length, chunk, scratch.places)) return error;
  const int64_t chunks = ceil_div(slices.length, chunk), count = scratch.places[chunks];
  const int64_t written = smaller(count, slices.size);
  *reinterpret_cast<int64_t*>(call.out[1].data) = count;
  const int64_t row = slices.inner * x.item_size;
  if (row == 0) return nullptr;
  if (slices.outer == 1 && slices.inner == 1) {
    if (attributes_of<fe_compress_attributes>(call).size != -1)  // else the rest is cut off
      memset(call.out[0].data + written * row, 0, static_cast<size_t>((slices.size - written) * row));
    return compress_items(call, condition, slices.length, slices.size, scratch.places);
  }
  int64_t* const kept = scratch.kept;
  fe_error* error = parallel(call, chunks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at = scratch.places[i];
      const int64_t stop = scratch.places[i + 1];
      for (int64_t k = i * chunk; at < stop && k < smaller(slices.length, (i + 1) * chunk); ++k) {
        kept[at] = k;
        at += condition[k] != 0;
      }
      while (at < stop) kept[at++] = 0;
    }
  });
  if (error != nullptr) return error;
  return parallel(call, slices.outer * slices.size, larger(1, 32768 / row), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t outer = i / slices.size, place = i % slices.size;
      char* const to = call.out[0].data + i * row;
      if (place >= count)
        memset(to, 0, static_cast<size_t>(row));
      else
        memcpy(to, x.data + (outer * slices.length + kept[place]) * row, static_cast<size_t>(row));
    }
  });
}

}  // namespace ferrule::cpu::FERRULE_CPU_VARIANT
