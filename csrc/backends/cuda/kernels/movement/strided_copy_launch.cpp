#include "strided_copy_launch.h"

#include <algorithm>

#include "kernels/planning.h"

namespace ferrule::cuda {

ItemLayout items_of(const sdk::Operand& operand, std::span<const int64_t> shape, std::span<const int64_t> strides) {
  ItemLayout layout = {{shape.begin(), shape.end()}, {strides.begin(), strides.end()}};
  const int64_t elements = operand.dtype_info().block_elements;
  if (elements == 1 || shape.empty()) return layout;
  layout.shape.back() /= elements;
  for (int64_t& stride : layout.strides) stride /= elements;
  layout.strides.back() = 1;  // rows of blocks are contiguous
  return layout;
}

StridedCopyParameters strided_copy(const ItemLayout& from, std::span<const int64_t> to, size_t item_bytes) {
  const auto item = static_cast<int64_t>(item_bytes);
  int64_t run = item;
  StridedCopyParameters p{};
  p.runs = 1;
  if (std::find(from.shape.begin(), from.shape.end(), 0) != from.shape.end()) {
    p.runs = 0;
    return p;
  }
  for (size_t k = from.shape.size(); k-- > 0;) {
    const CopiedAxis axis = {from.shape[k], from.strides[k] * item, to[k] * item};
    p.runs *= static_cast<uint64_t>(axis.size);
    if (axis.size == 1) continue;
    CopiedAxis* const last = p.rank > 0 ? &p.axes[p.rank - 1] : nullptr;
    if (last == nullptr && axis.from == run && axis.to == run)
      run *= axis.size;
    else if (last != nullptr && sdk::is_one_axis(axis.from, last->from, last->size) &&
             sdk::is_one_axis(axis.to, last->to, last->size))
      last->size *= axis.size;
    else
      p.axes[p.rank++] = axis;
  }
  p.runs /= static_cast<uint64_t>(run / item);
  p.run_bytes = p.alignment = static_cast<uint64_t>(run);
  for (const CopiedAxis& axis : p.axes) p.alignment |= static_cast<uint64_t>(axis.from | axis.to);
  return p;
}

uint64_t copying_blocks(uint64_t bytes, uint64_t alignment, const Capabilities& capabilities) {
  const uint64_t unit = std::min<uint64_t>(16, alignment & (~alignment + 1));
  return blocks_for(bytes / std::max<uint64_t>(1, unit), copying_threads, 4, capabilities);
}

void add_strided_copy(Plan& plan, const StridedCopyParameters& p, uint32_t from, uint32_t to,
                      const Capabilities& capabilities) {
  if (p.runs == 0) return;
  Launch& launch = plan.launches.emplace_back(launch_of(
      "strided_copy.bytes", p, copying_blocks(p.runs * p.run_bytes, p.alignment, capabilities), copying_threads));
  launch.reads(offsetof(StridedCopyParameters, from), from);
  launch.writes(offsetof(StridedCopyParameters, to), to);
}

}  // namespace ferrule::cuda
