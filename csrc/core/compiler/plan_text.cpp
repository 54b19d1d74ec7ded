// The plan as people and programs read it.
#include "core/compiler/plan.h"
#include "core/compiler/view.h"
#include "core/memory/storage.h"
#include "core/registry/device.h"

#include <nlohmann/json.hpp>

namespace ferrule {
namespace {

using Json = nlohmann::ordered_json;

template <class Visit>
void for_each_node(const Plan& plan, Visit visit) {
  for (const auto& step : plan.steps)
    if (const auto* segment = std::get_if<Segment>(&step))
      for (const PlannedNode& node : segment->nodes) visit(*segment, node);
}

}  // namespace

std::string plan_to_json(const Plan& plan) {
  Json json = {{"workspace_bytes", plan.workspace_size}, {"steps", Json::array()}};
  for (const auto& step : plan.steps) {
    if (const auto* transfer = std::get_if<Transfer>(&step)) {
      const Slot &from = plan.slots[transfer->from], &to = plan.slots[transfer->to];
      json["steps"].push_back({{"transfer", to_string(from.type)},
                               {"from", from.device->name()},
                               {"to", to.device->name()},
                               {"bytes", byte_count(from.type)}});
      continue;
    }
    const auto& segment = std::get<Segment>(step);
    Json nodes = Json::array();
    for (const PlannedNode& node : segment.nodes)
      nodes.push_back({{"text", node.text},
                       {"op", node.op},
                       {"kernel", node.kernel},
                       {"reason", node.reason},
                       {"bytes", node.output_bytes}});
    json["steps"].push_back({{"device", segment.device->name()},
                             {"workspace_bytes", view_of(*segment.view).workspace_size},
                             {"nodes", std::move(nodes)}});
  }
  uint64_t prepared = 0;
  for (const Slot& slot : plan.slots)
    if (slot.prepared) prepared += slot.prepared->size();
  json["prepared_bytes"] = prepared;
  return json.dump();
}

std::string placement_to_json(const Plan& plan) {
  Json nodes = Json::array(), constants = Json::array();
  for_each_node(plan, [&](const Segment& segment, const PlannedNode& node) {
    nodes.push_back({{"node", node.text},
                     {"op", node.op},
                     {"device", segment.device->name()},
                     {"kernel", node.kernel},
                     {"reason", node.reason}});
  });
  for (const GraphConstant& constant : plan.constants) {
    const Storage* const storage = constant.view.storage.get();
    constants.push_back({{"name", constant.name},
                         {"device", storage ? storage->device()->name() : plan.home->name()},
                         {"placement", constant.placement.empty() ? "computed" : constant.placement}});
  }
  const Json json = {{"nodes", std::move(nodes)}, {"constants", std::move(constants)}};
  return json.dump();
}

}  // namespace ferrule
