#include "emulation/warpgroup_matrix.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "emulation/block.h"
#include "emulation/narrow_floats.h"
#include "emulation/thread_sanitizer.h"
#include "emulation/tile_copies.h"

namespace emulation {
namespace {

constexpr unsigned rows = 64, depth = 16, threads = 128;
constexpr std::uint8_t all_warps = 0xf;
constexpr std::uintptr_t window = std::uintptr_t{1} << 18;  // bytes that a descriptor can tell apart

// A descriptor's fields, in bytes.
struct Layout {
  std::uintptr_t start;  // modulo the window
  std::uintptr_t leading, stride;
  unsigned swizzle;
};

Layout layout_of(std::uint64_t descriptor, const Site& site) {
  const auto field = [&](unsigned bit) { return static_cast<std::uintptr_t>(descriptor >> bit & 0x3fff) << 4; };
  constexpr unsigned swizzles[] = {0, 128, 64, 32};
  const Layout layout{field(0), field(16), field(32), swizzles[descriptor >> 62]};
  if (layout.swizzle == 0) current_block->fail(site, "the emulator has only descriptors with a swizzle");
  if ((descriptor >> 49 & 7) != 0) current_block->fail(site, "the emulator has only descriptors with base offset 0");
  return layout;
}

// Address of element (outer, k); `outer` is a row of A or a column of B. PTX ISA, "Strides".
std::uintptr_t place_of(const Layout& layout, bool along_k, unsigned outer, unsigned k) {
  if (along_k) return layout.start + outer / 8 * layout.stride + outer % 8 * std::uintptr_t{layout.swizzle} + k * 2;
  const unsigned items = layout.swizzle / 2;
  return layout.start + outer / items * layout.leading + k / 8 * layout.stride +
         k % 8 * std::uintptr_t{layout.swizzle} + outer % items * 2;
}

// The matrix, by rows of 16 items along K. `chunks`: when the instruction is issued, gets what it reads.
std::vector<std::uint16_t> read(std::uint64_t descriptor, bool along_k, unsigned outers, const Site& site,
                                std::vector<std::uintptr_t>* chunks = nullptr) {
  const Layout layout = layout_of(descriptor, site);
  std::vector<std::uint16_t> items(std::size_t{outers} * depth);
  const std::byte* const base = current_block->shared_in_window(layout.start, window);
  if (base == nullptr) current_block->fail(site, "the descriptor's address is not in shared memory");
  const auto start = reinterpret_cast<std::uintptr_t>(base);
  for (unsigned outer = 0; outer < outers; ++outer)
    for (unsigned k = 0; k < depth; ++k) {
      const std::uintptr_t address =
          swizzled(start + (place_of(layout, along_k, outer, k) - layout.start), layout.swizzle);
      const auto* const item = reinterpret_cast<const void*>(address);
      const std::byte* const published = current_block->published(item);
      if (published == nullptr) current_block->fail(site, "the descriptor's matrix is not in shared memory");
      std::memcpy(&items[outer * depth + k], item, 2);
      if (chunks == nullptr) continue;
      if (std::memcmp(item, published, 2) != 0)
        current_block->fail(site, "threads have written what it reads, without a fence.proxy.async since");
      if (chunks->empty() || chunks->back() != address / 16 * 16) chunks->push_back(address / 16 * 16);
    }
  return items;
}

float value_of(std::uint16_t item, bool is_bfloat16) {
  return is_bfloat16 ? float_of_bfloat16(item) : float_of_float16(item);
}

// The values of B in the order in which a thread needs them: those of the threads that have column 2 i of each eight,
// then by K, then by column.
std::vector<float> values_of_b(const IssuedMatrix& issued) {
  const unsigned n = issued.instruction.n, own = n / 4;
  std::vector<float> values(issued.b.size());
  for (unsigned column = 0; column < n; ++column)
    for (unsigned k = 0; k < depth; ++k)
      values[(column % 8 / 2 * depth + k) * own + column / 8 * 2 + column % 2] =
          value_of(issued.b[column * depth + k], issued.instruction.is_bfloat16);
  return values;
}

IssuedMatrix made(const MatrixInstruction& instruction, const Site& site) {
  IssuedMatrix issued;
  issued.instruction = instruction;
  if (instruction.a == in_registers)
    issued.a.resize(std::size_t{rows} * depth);
  else
    issued.a = read(instruction.a, instruction.a_along_k, rows, site, &issued.chunks);
  issued.b = read(instruction.b, instruction.b_along_k, instruction.n, site, &issued.chunks);
  issued.a_values.reserve(issued.a.size());
  for (const std::uint16_t item : issued.a) issued.a_values.push_back(value_of(item, instruction.is_bfloat16));
  issued.b_values = values_of_b(issued);
  return issued;
}

// Puts this thread's part of A, which is in registers, to its place. Only threads of its warp read it, after
// wgmma_commit.
void place_fragment(IssuedMatrix& issued, const std::uint32_t* fragment) {
  const unsigned in_group = current_thread->rank % threads, lane = in_group % warp_size;
  const unsigned first_row = in_group / warp_size * 16 + lane / 4;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned row = first_row + i / 2 % 2 * 8, k = i / 4 * 8 + lane % 4 * 2 + i % 2;
    const auto item = static_cast<std::uint16_t>(fragment[i / 2] >> i % 2 * 16);
    issued.a_values[row * depth + k] = value_of(item, issued.instruction.is_bfloat16);
  }
}

Warpgroup& own_warpgroup() { return current_block->warpgroups[current_thread->rank / threads]; }

// Adds the products of this thread's rows and columns, in the order of K.
void compute(float* sums, const IssuedMatrix& issued, bool adds) {
  const unsigned own = issued.instruction.n / 4, in_group = current_thread->rank % threads;
  const unsigned row = in_group / warp_size * 16 + in_group % warp_size / 4;
  const float* const b = issued.b_values.data() + std::size_t{in_group % 4} * depth * own;
  constexpr unsigned together = 8;  // sums, so that the compiler uses vectors
  for (unsigned half = 0; half < 2; ++half) {
    const float* const a = issued.a_values.data() + std::size_t{row + half * 8} * depth;
    // Sum 4 j + 2 half + i is of column 8 j + 2 (lane % 4) + i.
    const auto sum = [&](unsigned column) -> float& { return sums[column / 2 * 4 + half * 2 + column % 2]; };
    for (unsigned first = 0; first < own; first += together) {
      std::array<float, together> line{};
      for (unsigned i = 0; i < together && adds; ++i) line[i] = sum(first + i);
      for (unsigned k = 0; k < depth; ++k)
        for (unsigned i = 0; i < together; ++i) line[i] += a[k] * b[k * own + first + i];
      for (unsigned i = 0; i < together; ++i) sum(first + i) = line[i];
    }
  }
}

MatrixWork::Sums& sums_at(MatrixWork& work, const float* at) {
  return *std::find_if(work.sums.begin(), work.sums.end(), [&](const auto& sums) { return sums.at == at; });
}

void end_oldest(const Site& site) {
  MatrixWork& work = current_thread->matrix_work;
  const MatrixWork::Pending oldest = work.pending.front();
  work.pending.pop_front();
  Warpgroup& group = own_warpgroup();
  IssuedMatrix& issued = group.issued[oldest.number - group.first];
  const MatrixInstruction& instruction = issued.instruction;
  const auto own_bit = static_cast<std::uint8_t>(1U << current_thread->rank % threads / warp_size);
  const bool reads_a = instruction.a != in_registers;
  if ((issued.checked & own_bit) == 0 &&
      ((reads_a && read(instruction.a, instruction.a_along_k, rows, site) != issued.a) ||
       read(instruction.b, instruction.b_along_k, instruction.n, site) != issued.b))
    current_block->fail(site, "shared memory has changed since the wgmma that reads it was issued");
  issued.checked |= own_bit;
  MatrixWork::Sums& sums = sums_at(work, oldest.sums);
  compute(sums.values.data(), issued, oldest.adds);
  if (--sums.instructions == 0) {
    std::memcpy(sums.at, sums.values.data(), sums.values.size() * sizeof(float));
    work.sums.erase(work.sums.begin() + (&sums - work.sums.data()));
    work.is_fenced = false;
  }
  ++issued.ended;
  while (!group.issued.empty() && group.issued.front().ended == threads) {
    group.issued.pop_front();
    ++group.first;
  }
}

}  // namespace

void wgmma_fence() { current_thread->matrix_work.is_fenced = true; }

void wgmma(float* sums, const MatrixInstruction& instruction, bool adds, const std::uint32_t* fragment,
           MatrixSource at) {
  const Unseen unseen;
  const Site site{"wgmma.mma_async", at};
  MatrixWork& work = current_thread->matrix_work;
  if (instruction.n % 32 != 0 || instruction.n == 0 || instruction.n > 256)
    current_block->fail(site, "the emulator has columns in multiples of 32 up to 256");
  const std::size_t count = instruction.n / 2;
  auto found = std::find_if(work.sums.begin(), work.sums.end(), [&](const auto& one) { return one.at == sums; });
  if (found == work.sums.end()) {
    if (!work.is_fenced)
      current_block->fail(site, "wgmma.fence is missing after other instructions have used the sums");
    found = work.sums.insert(work.sums.end(), {sums, std::vector<float>(sums, sums + count)});
  }
  ++found->instructions;
  std::fill(sums, sums + count, std::numeric_limits<float>::quiet_NaN());

  Warpgroup& group = own_warpgroup();
  if (work.issued == group.first + group.issued.size()) group.issued.push_back(made(instruction, site));
  if (!(group.issued[work.issued - group.first].instruction == instruction))
    current_block->fail(site, "other threads of the warp group have issued another instruction");
  if ((fragment != nullptr) != (instruction.a == in_registers))
    current_block->fail(site, "A is in registers, and there are none, or the other way round");
  if (fragment != nullptr) place_fragment(group.issued[work.issued - group.first], fragment);
  work.pending.push_back({work.issued++, sums, adds});
  ++work.uncommitted;
}

void wgmma_commit(MatrixSource at) {
  const Site site{"wgmma.commit_group", at};
  MatrixWork& work = current_thread->matrix_work;
  const std::uint64_t issued = work.issued;
  const Meeting::Lanes& lanes = current_thread->warp->meet(0xffffffff, site, &issued, sizeof issued);
  if (lanes.present != 0xffffffff) current_block->fail(site, "a lane of the warp has ended, and all 32 are needed");
  for (const auto& value : lanes.values)
    if (std::memcmp(value.data(), &issued, sizeof issued) != 0)
      current_block->fail(site, "the lanes of the warp have issued different numbers of wgmma");
  const Unseen unseen;
  work.groups.push_back(work.uncommitted);
  work.uncommitted = 0;
}

void wgmma_wait(unsigned newest, MatrixSource at) {
  const Unseen unseen;
  MatrixWork& work = current_thread->matrix_work;
  if (work.groups.size() > newest) current_block->wait_as_last({"wgmma.wait_group", at});
  for (; work.groups.size() > newest; work.groups.pop_front())
    for (std::size_t i = 0; i < work.groups.front(); ++i) end_oldest({"wgmma.wait_group", at});
}

bool is_read_by_wgmma(const void* shared, std::size_t bytes) {
  const auto first = reinterpret_cast<std::uintptr_t>(shared);
  for (const auto& [number, group] : current_block->warpgroups)
    for (const IssuedMatrix& issued : group.issued)
      for (const std::uintptr_t chunk : issued.chunks)
        if (chunk + 16 > first && chunk < first + bytes && issued.checked != all_warps) return true;
  return false;
}

std::uint64_t matrix_descriptor(const void* shared, unsigned leading, unsigned stride, unsigned swizzle) {
  const auto field = [](std::uint64_t bytes) { return (bytes & (window - 1)) >> 4; };
  const std::uint64_t kind = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  return field(reinterpret_cast<std::uintptr_t>(shared)) | field(leading) << 16 | field(stride) << 32 | kind << 62;
}

}  // namespace emulation
