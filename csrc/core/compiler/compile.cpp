#include "core/compiler/layout.h"
#include "core/compiler/passes.h"
#include "core/compiler/segments.h"

namespace ferrule {

Plan compile(Graph graph, const CompileOptions& options) {
  check(graph);
  graph = fold_constants(remove_duplicates(remove_dead(graph)), options);
  Support support;
  std::vector<std::string> reasons;
  graph = place(graph, options, support, reasons);
  if (options.fuse) graph = fuse(graph, options.device, support, reasons);
  Lowered lowered = lower_views(std::move(graph), options.device, std::move(reasons));
  satisfy_layouts(lowered, options.device, support);
  write_in_place(lowered);
  return split_into_segments(lowered, options.device);
}

}  // namespace ferrule
