// Plans of ops on the rows of the last axis. A team of threads shares each row.
#pragma once

#include <bit>

#include "graphs/element_function.h"
#include "kernels/planning.h"

namespace ferrule::metal {

// The number of threads that share a row. It depends on the width alone, so that a row is added up in the same order in
// any batch.
inline uint32_t team_of(int64_t width) {
  const auto wanted = std::bit_ceil(static_cast<uint64_t>(width + 7) / 8);
  return static_cast<uint32_t>(std::clamp<uint64_t>(wanted, 1, 256));
}

// The offsets of the rows of an operand.
inline Layout rows_of(const sdk::Operand& x) {
  const auto leading = static_cast<size_t>(x.rank() - 1);
  return layout_of(x.shape().first(leading), x.strides().first(leading));
}

// A dispatch of the kernel of this name over the rows of x; `reads` are the kernel's own inputs.
template <class Parameters>
Dispatch rows_dispatch(const PlannedNode& node, const std::string& kernel, const std::string& definitions,
                       const Parameters& p, std::vector<uint32_t> reads) {
  const sdk::Operand x = node.input(0);
  const Format& format = formats().of(x.dtype());
  const uint32_t team = team_of(x.shape().back()), threads = std::max(team, 128u);
  const ElementFunction function = element_function(epilogue_of(node, static_cast<uint32_t>(reads.size())),
                                                    node.output(0).shape(), static_cast<uint32_t>(reads.size()));
  Dispatch dispatch;
  dispatch.kernel = {.text = definitions + definition("TEAM", team) + definition("THREADS", threads) + "typedef " +
                             std::string(format.stored) + " Stored;\n" + element_access(format) +
                             "#include \"normalization/" + kernel + ".metal\"\n",
                     .function = kernel,
                     .threads = threads};
  dispatch.set_parameters(p);
  dispatch.reads = std::move(reads);
  function.finish(dispatch);
  dispatch.shuffles = true;
  set_grid(dispatch, p.row_count * team, threads);
  return dispatch;
}

}  // namespace ferrule::metal
