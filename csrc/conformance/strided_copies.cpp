// The slot copy_strided, compared with a simple loop.
#include "conformance/buffer_bytes.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ferrule::conformance {
namespace {

// Strides are in items.
struct Axis {
  int64_t size, to, from;
};
struct Case {
  std::string name;
  std::vector<Axis> axes;
};

std::vector<Case> named_cases() {
  return {
      {"one item", {}},
      {"items side by side", {{7, 1, 1}}},
      {"many items side by side", {{100'000, 1, 1}}},
      {"every second item", {{9, 1, 2}}},
      {"to every second place", {{9, 2, 1}}},
      {"a transpose", {{5, 3, 1}, {3, 1, 5}}},
      {"a large transpose", {{300, 257, 1}, {257, 1, 300}}},
      {"a transpose of three axes", {{2, 12, 1}, {3, 4, 2}, {4, 1, 6}}},
      {"a transpose of matrices", {{3, 20, 20}, {4, 5, 1}, {5, 1, 4}}},
      {"rows apart", {{16, 40, 33}, {31, 1, 1}}},
      {"one item repeated", {{33, 1, 0}}},
      {"one row repeated", {{4, 6, 0}, {6, 1, 1}}},
      {"each item of a row repeated", {{4, 6, 1}, {6, 1, 0}}},
      {"backwards", {{9, 1, -1}}},
      {"both axes backwards", {{3, 4, -4}, {4, 1, -1}}},
      {"rows backwards", {{3, 4, -4}, {4, 1, 1}}},
      {"to places backwards", {{3, -4, 4}, {4, -1, 1}}},
      {"backwards to backwards", {{3, -8, -4}, {4, -2, -1}}},
      {"into a matrix with gaps", {{4, 10, 5}, {5, 2, 1}}},
      {"eight axes in reverse",
       {{2, 48, 1}, {1, 48, 2}, {3, 16, 2}, {1, 16, 6}, {2, 8, 6}, {2, 4, 12}, {2, 2, 24}, {2, 1, 48}}},
      {"eight axes of one item",
       {{1, 1, 1}, {1, 0, 0}, {1, 7, 9}, {1, 1, 1}, {1, -1, -1}, {1, 0, 5}, {1, 1, 1}, {1, 1, 1}}},
      {"axes of one item with strides that lead nowhere", {{1, 1 << 30, -(1 << 30)}, {4, 1, 1}, {1, -7, 1 << 30}}},
      {"no items", {{0, 1, 1}}},
      {"no items in the middle", {{3, 2, 2}, {0, 2, 2}, {2, 1, 1}}},
      {"no items beside strides that lead nowhere", {{5, 1 << 30, 1 << 30}, {0, 1, 1}}},
  };
}

// Strides for a random order of axes, with or without gaps.
std::vector<int64_t> random_strides(const std::vector<int64_t>& shape, std::mt19937_64& generator) {
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::shuffle(order.begin(), order.end(), generator);
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1 + static_cast<int64_t>(generator() % 2);
  for (const size_t axis : order) {
    strides[axis] = generator() % 3 == 0 ? -step : step;
    step = step * std::max<int64_t>(shape[axis], 1) + static_cast<int64_t>(generator() % 2);
  }
  return strides;
}

Case random_case(std::mt19937_64& generator) {
  const size_t rank = generator() % (FE_MAX_RANK + 1);
  const uint64_t most = rank > 4 ? 2 : 4;
  std::vector<int64_t> shape(rank);
  for (int64_t& size : shape) size = generator() % 24 == 0 ? 0 : 1 + static_cast<int64_t>(generator() % most);
  const std::vector<int64_t> to = random_strides(shape, generator), from = random_strides(shape, generator);
  Case drawn;
  for (size_t axis = 0; axis < rank; ++axis)
    drawn.axes.push_back({shape[axis], to[axis], generator() % 5 == 0 ? 0 : from[axis]});
  drawn.name = "drawn by the seed (size, to, from:";
  for (const Axis& axis : drawn.axes)
    drawn.name += " " + std::to_string(axis.size) + ", " + std::to_string(axis.to) + ", " + std::to_string(axis.from) +
                  (&axis == &drawn.axes.back() ? "" : ";");
  drawn.name += ')';
  return drawn;
}

// Distances between items.
struct Spacing {
  const char* name;
  int64_t gap;      // bytes between neighbouring items
  uint64_t margin;  // bytes before the first item, in addition to a few items
};
constexpr Spacing dense = {"", 0, 0}, loose = {", at no multiple of their size", 1, 1};

// One side of a copy: memory that contains all items, with margins.
struct Side {
  std::vector<int64_t> strides;  // bytes
  uint64_t offset, size;
};

Side side_of(const Case& given, int64_t Axis::*stride, uint32_t item_size, const Spacing& spacing) {
  constexpr uint64_t room = 3;
  const int64_t apart = item_size + spacing.gap;
  Side side;
  uint64_t before = 0, after = 0;
  for (const Axis& axis : given.axes) {
    side.strides.push_back(axis.*stride * apart);
    // The stride of an axis with at most one item is not used.
    const int64_t reach = side.strides.back() * std::max<int64_t>(axis.size - 1, 0);
    if (reach < 0)
      before += static_cast<uint64_t>(-reach);
    else
      after += static_cast<uint64_t>(reach);
  }
  const auto none = [](const Axis& axis) { return axis.size == 0; };
  if (std::any_of(given.axes.begin(), given.axes.end(), none)) before = after = 0;
  const uint64_t margin = room * static_cast<uint64_t>(apart) + spacing.margin;
  side.offset = margin + before;
  side.size = side.offset + after + item_size + margin;
  return side;
}

void copy_items(const Axis* axis, const Axis* end, const int64_t* to_stride, const int64_t* from_stride, char* to,
                const char* from, size_t item_size) {
  if (axis == end) {
    std::memcpy(to, from, item_size);
    return;
  }
  for (int64_t i = 0; i < axis->size; ++i)
    copy_items(axis + 1, end, to_stride + 1, from_stride + 1, to + i * *to_stride, from + i * *from_stride, item_size);
}

struct Copying {
  const Device& device;
  Report& report;
  uint64_t seed;
  bool is_copying = false;
  std::string reason = {};
};

// `in_one_buffer`: source and target share a buffer, in which the source follows the target.
void try_copy(Copying& on, const Case& given, uint32_t item_size, const Spacing& spacing, bool in_one_buffer) {
  const std::string what = "copy_strided of items of " + std::to_string(item_size) + " bytes" + spacing.name + ", " +
                           given.name + (in_one_buffer ? ", in one buffer" : "");
  on.report.now(what);
  const Device& device = on.device;
  Side to = side_of(given, &Axis::to, item_size, spacing), from = side_of(given, &Axis::from, item_size, spacing);
  Bytes wanted = random_bytes(to.size, ++on.seed);
  const Bytes source = random_bytes(from.size, ++on.seed);
  const uint64_t begin = in_one_buffer ? to.size : 0;  // of the source
  const Buffer target_buffer(device, to.size + (in_one_buffer ? from.size : 0));
  const Buffer own_buffer(device, from.size);
  const Buffer& source_buffer = in_one_buffer ? target_buffer : own_buffer;
  write_bytes(device, device.queue(), target_buffer, wanted);
  write_bytes(device, device.queue(), source_buffer, source, begin);

  std::vector<int64_t> shape;
  shape.reserve(given.axes.size());
  for (const Axis& axis : given.axes) shape.push_back(axis.size);
  const fe_strided_copy copy{sizeof copy,
                             target_buffer.handle(),
                             to.offset,
                             source_buffer.handle(),
                             begin + from.offset,
                             item_size,
                             static_cast<int32_t>(shape.size()),
                             shape.data(),
                             to.strides.data(),
                             from.strides.data()};
  const Outcome outcome = take(device.backend()->copy_strided(device.handle(), device.queue(), &copy));
  if (outcome.code == FE_UNSUPPORTED) {
    on.reason = outcome.message;
    return;
  }
  on.is_copying = true;
  // The slot must have read the lists already.
  shape.assign(shape.size(), 1);
  for (Side* side : {&to, &from}) side->strides.assign(side->strides.size(), int64_t{1} << 40);
  expect(outcome, what);
  expect(finish(device, device.queue()), what);

  to = side_of(given, &Axis::to, item_size, spacing);
  from = side_of(given, &Axis::from, item_size, spacing);
  copy_items(given.axes.data(), given.axes.data() + given.axes.size(), to.strides.data(), from.strides.data(),
             wanted.data() + to.offset, source.data() + from.offset, item_size);
  if (!expect_bytes(on.report, read_bytes(device, device.queue(), target_buffer, to.size), wanted, what)) return;
  expect_bytes(on.report, read_bytes(device, device.queue(), source_buffer, from.size, begin), source,
               what + ", the source");
}

constexpr std::array<uint32_t, 6> item_sizes = {1, 2, 3, 4, 8, 16};

void strided_copies(const Subject& subject, Report& report, const void*) {
  constexpr int drawn = 60;
  const Opened opened(subject);
  if (!FE_HAS_SLOT(&opened.backend.table(), copy_strided)) throw NotApplicable{"it has no slot copy_strided"};
  Copying on{opened.device, report, subject.seed};
  for (const Case& given : named_cases()) {
    for (const uint32_t item_size : item_sizes) try_copy(on, given, item_size, dense, false);
    try_copy(on, given, 4, dense, true);
    try_copy(on, given, 4, loose, false);
  }
  std::mt19937_64 generator(subject.seed);
  for (int i = 0; i < drawn; ++i) {
    const Case given = random_case(generator);
    try_copy(on, given, item_sizes[generator() % item_sizes.size()], i % 4 == 3 ? loose : dense, i % 2 == 1);
  }
  if (!on.is_copying) throw NotApplicable{"it copies no strided items: " + on.reason};
}

}  // namespace

void add_strided_copy_checks(Checks& checks) {
  checks.push_back(
      {"copy_strided", "strided items arrive where they should, and nothing else changes", strided_copies});
}

}  // namespace ferrule::conformance
