// Contiguous copies of strided arrays by compiled graphs of one node.
#include "core/copy/gather.h"
#include "core/error.h"
#include "core/executor/executable.h"
#include "core/executor/executable_cache.h"
#include "core/key.h"
#include "core/registry/device.h"
#include "core/sync/immortal.h"
#include "ops/table.h"

#include <string>

namespace ferrule {
namespace {

struct Gathers : ExecutableCache<std::shared_ptr<Executable>> {
  Gathers() : ExecutableCache(64) {}
};
Gathers& gathers() { return Immortal<Gathers>::get(); }

std::shared_ptr<Executable> compile_gather(const StridedArray& from, Device& device) {
  Key key;
  key.add(&device);
  key.add(from.type);
  key.add(from.data.strides);
  if (std::shared_ptr<Executable> found = gathers().find(key.bytes())) return found;
  Graph graph;
  Node node;
  node.op = &ops::op_named("copy");
  node.attributes = ops::shared({});
  node.inputs = {graph.add_input("x", from.type, from.data.strides)};
  graph.outputs = graph.add_checked(std::move(node), std::span(&from.type, 1));
  return gathers().insert(std::string(key.bytes()),
                          build_executable(std::move(graph), device.shared_from_this(), Fallback::error, true));
}

std::optional<StridedArray> contiguous_copy(const StridedArray& from, Device& device) {
  try {
    std::vector<StridedArray> results = compile_gather(from, device)->compute({&from, 1}, {});
    if (is_contiguous(from.type.shape, results[0].data.strides)) return std::move(results[0]);
  } catch (const Error& error) {
    if (error.code() != FE_UNSUPPORTED) throw;
  }
  return std::nullopt;
}

[[maybe_unused]] const bool is_set = (set_gather_by_graph(contiguous_copy), true);

}  // namespace

void clear_gathers() { gathers().clear(); }

}  // namespace ferrule
