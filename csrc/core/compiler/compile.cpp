#include "core/compiler/layout.h"
#include "core/compiler/passes.h"
#include "core/compiler/segments.h"
#include "core/trace/trace.h"

namespace ferrule {

namespace {

template <class Function>
decltype(auto) pass(const char* name, const Function& function) {
  const TraceSpan span(FE_TRACE_PASS, name);
  return function();
}

}  // namespace

Plan compile(Graph graph, const CompileOptions& options) {
  Support support;
  std::vector<std::string> reasons;
  pass("check", [&] { check(graph); });
  graph = pass("remove_dead", [&] { return remove_dead(graph); });
  graph = pass("remove_duplicates", [&] { return remove_duplicates(graph); });
  graph = pass("fold_constants", [&] { return fold_constants(graph, options); });
  graph = pass("read_blocks", [&] { return read_blocks(std::move(graph)); });
  graph = pass("place", [&] { return place(graph, options, support, reasons); });
  if (options.fuse) graph = pass("fuse", [&] { return fuse(graph, options.device, support, reasons); });
  LoweredGraph lowered =
      pass("lower_views", [&] { return lower_views(std::move(graph), options.device, std::move(reasons)); });
  pass("satisfy_layouts", [&] { satisfy_layouts(lowered, options.device, support); });
  pass("write_in_place", [&] { write_in_place(lowered); });
  return pass("split_into_segments", [&] { return split_into_segments(lowered, options.device); });
}

}  // namespace ferrule
