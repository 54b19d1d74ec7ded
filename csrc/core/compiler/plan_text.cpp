// JSON of a plan and of its placement.
#include "core/compiler/owned_graph_view.h"
#include "core/compiler/plan.h"
#include "core/graph/node_text.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"
#include "base/json_text.h"

namespace ferrule {
namespace {

template <class Visit>
void for_each_node(const Plan& plan, Visit visit) {
  for (const auto& step : plan.steps)
    if (const auto* segment = std::get_if<Segment>(&step))
      for (const PlannedNode& node : segment->nodes) visit(*segment, node);
}

std::string text_of(const PlannedNode& planned) { return assignment_text(planned.node, planned.types); }

int64_t output_bytes(const PlannedNode& planned) {
  int64_t bytes = 0;
  for (const TensorType& type : planned.types) bytes += byte_count(type);
  return bytes;
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  uint64_t prepared = 0;
  for (const Slot& slot : plan.slots)
    if (slot.prepared) prepared += slot.prepared->size();
  JsonText json;
  json.begin_object().member("workspace_bytes", plan.workspace_size).key("steps").begin_array();
  for (const auto& step : plan.steps) {
    if (const auto* transfer = std::get_if<Transfer>(&step)) {
      const Slot &from = plan.slots[transfer->from], &to = plan.slots[transfer->to];
      json.begin_object()
          .member("transfer", to_string(from.type))
          .member("from", from.device->name())
          .member("to", to.device->name())
          .member("bytes", byte_count(from.type))
          .end_object();
      continue;
    }
    const auto& segment = std::get<Segment>(step);
    json.begin_object()
        .member("device", segment.device->name())
        .member("workspace_bytes", graph_view_of(*segment.view).workspace_size);
    json.key("nodes").begin_array();
    for (const PlannedNode& node : segment.nodes)
      json.begin_object()
          .member("text", text_of(node))
          .member("op", node.op())
          .member("kernel", node.kernel)
          .member("reason", node.reason)
          .member("bytes", output_bytes(node))
          .end_object();
    json.end_array().end_object();
  }
  json.end_array().member("prepared_bytes", prepared).end_object();
  return json.take();
}

std::string placement_to_json(const Plan& plan) {
  JsonText json;
  json.begin_object().key("nodes").begin_array();
  for_each_node(plan, [&](const Segment& segment, const PlannedNode& node) {
    json.begin_object()
        .member("node", text_of(node))
        .member("op", node.op())
        .member("device", segment.device->name())
        .member("kernel", node.kernel)
        .member("reason", node.reason)
        .end_object();
  });
  json.end_array().key("constants").begin_array();
  for (const GraphConstant& constant : plan.constants) {
    const Storage* const storage = constant.data.storage.get();
    json.begin_object()
        .member("name", constant.name)
        .member("device", storage ? storage->device()->name() : plan.home->name())
        .member("placement", constant.placement.empty() ? "computed" : constant.placement)
        .end_object();
  }
  json.end_array().end_object();
  return json.take();
}

}  // namespace ferrule
