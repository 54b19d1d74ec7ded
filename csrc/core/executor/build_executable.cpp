#include "core/copy/transfer.h"
#include "core/executor/executable.h"
#include "core/registry/registry.h"
#include "core/trace/trace.h"

#include <fmt/format.h>

namespace ferrule {

std::shared_ptr<Executable> build_executable(Graph graph, std::shared_ptr<Device> device, Fallback fallback, bool fuse,
                                             bool guard) {
  TraceSpan span(FE_TRACE_COMPILE, "compile");
  span.describe([&](TraceLabel& label) {
    label.detail = fmt::format("{} nodes", graph.nodes.size());
    label.device = device->name();
  });
  CompileOptions options;
  options.device = device.get();
  options.on_fallback = fallback;
  options.fuse = fuse;
  const DeviceUse compiling = device->use("a graph that is being compiled");
  // Nodes that the device does not support run on the first CPU that does: another backend than `cpu` may have few ops.
  std::vector<DeviceUse> compiling_on_cpus;
  for (const std::shared_ptr<Device>& cpu : Registry::instance().cpus()) {
    if (cpu == device) continue;
    compiling_on_cpus.push_back(cpu->use("a graph that is being compiled"));
    options.fallback.push_back(cpu.get());
  }
  options.evaluate = [&](const Graph& constants) {
    CompileOptions plain = options;
    plain.evaluate = nullptr;
    const auto executable = Executable::create(compile(constants, plain), "constants");
    std::vector<GraphConstant> results;
    for (StridedArray& result : executable->compute({}, constants.scalar_defaults)) {
      // Views of a constant pass through with their strides, but folded constants are contiguous.
      if (!is_contiguous(result.type.shape, result.data.strides)) result = copy_to(result, device);
      results.push_back({"folded", std::move(result.data)});
    }
    return results;
  };
  return Executable::create(compile(std::move(graph), options), "compiled graph", guard);
}

}  // namespace ferrule
