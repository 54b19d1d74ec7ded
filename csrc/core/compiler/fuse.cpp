#include "core/compiler/passes.h"

#include "core/compiler/rewrite.h"
#include "ops/table.h"

#include <algorithm>
#include <unordered_map>

namespace ferrule {
namespace {

constexpr std::size_t max_instructions = 64;
constexpr std::size_t max_inputs = 64;

// Elementwise nodes of one shape and device that become one node. A region is open until a node outside it reads one of
// its results. So nothing that a later member reads depends on the region, and no cycle can arise.
struct Region {
  std::vector<const Node*> members;
  std::size_t instructions = 0;  // one per output of a member
  bool open = true;
};

class Fuser {
 public:
  Fuser(const Graph& graph, Device* home, Support& support, std::vector<std::string>& reasons)
      : rewrite_(graph),
        graph_(graph),
        home_(home),
        support_(support),
        was_(reasons),
        now_(reasons),
        uses_(count_uses(graph)) {
    now_.clear();
    region_of_.assign(graph.values.size(), no_region);
  }

  Graph run(std::vector<std::string>& reasons) {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const Node& node = graph_.nodes[i];
      if (can_join(node, was_[i]))
        join(node);
      else
        put(node, was_[i]);
    }
    for (uint32_t region = 0; region < regions_.size(); ++region) close(region);
    Graph fused = rewrite_.finish();
    reasons = std::move(now_);
    return remove_folded(std::move(fused), reasons);
  }

 private:
  static constexpr uint32_t no_region = UINT32_MAX;

  bool can_join(const Node& node, const std::string& reason) const {
    return node.op->kind == ops::Kind::elementwise && !node.body && reason.empty() && !casts_blocks(node) &&
           element_count(graph_.type(node.outputs[0]).shape) > 0;
  }

  // Elements of a block cannot be computed one by one.
  bool casts_blocks(const Node& node) const {
    return is_block(graph_.type(node.inputs[0]).dtype) || is_block(graph_.type(node.outputs[0]).dtype);
  }

  // The region that `region` was merged into.
  uint32_t current(uint32_t region) {
    while (merged_into_[region] != region) region = merged_into_[region] = merged_into_[merged_into_[region]];
    return region;
  }

  void join(const Node& node) {
    uint32_t chosen = no_region;
    for (ValueId input : node.inputs) {
      if (region_of_[input] == no_region) continue;
      const uint32_t region = current(region_of_[input]);
      if (region == chosen || !regions_[region].open) continue;
      if (!fits(regions_[region], node)) {
        close(region);
      } else if (chosen == no_region) {
        chosen = region;
      } else if (regions_[chosen].instructions + regions_[region].instructions + node.outputs.size() >
                 max_instructions) {
        close(region);
      } else {
        chosen = merge(chosen, region);
      }
    }
    if (chosen == no_region) {
      chosen = static_cast<uint32_t>(regions_.size());
      regions_.emplace_back();
      merged_into_.push_back(chosen);
    }
    regions_[chosen].members.push_back(&node);
    regions_[chosen].instructions += node.outputs.size();
    for (ValueId output : node.outputs) region_of_[output] = chosen;
  }

  bool fits(const Region& region, const Node& node) const {
    const Node& first = *region.members.front();
    return region.instructions + node.outputs.size() <= max_instructions && first.device == node.device &&
           graph_.type(first.outputs[0]).shape == graph_.type(node.outputs[0]).shape;
  }

  uint32_t merge(uint32_t a, uint32_t b) {
    if (regions_[a].members.size() < regions_[b].members.size()) std::swap(a, b);
    Region &to = regions_[a], &from = regions_[b];
    to.members.insert(to.members.end(), from.members.begin(), from.members.end());
    std::sort(to.members.begin(), to.members.end());  // nodes are in one vector, so address order is node order
    to.instructions += from.instructions;
    from.members.clear();
    from.open = false;
    merged_into_[b] = a;
    return a;
  }

  // Copies a node that is not fused, after the regions that it reads.
  void put(const Node& node, const std::string& reason) {
    for (ValueId input : node.inputs)
      if (region_of_[input] != no_region) close(current(region_of_[input]));
    rewrite_.copy(node);
    now_.push_back(reason);
  }

  void close(uint32_t number) {
    Region& region = regions_[number];
    if (!region.open) return;
    region.open = false;
    // The other regions that its members read come first: they were closed when they were read.
    if (region.members.size() == 1 && !is_epilogue_of(*region.members[0])) {
      rewrite_.copy(*region.members[0]);
      now_.emplace_back();
    } else {
      emit(region);
    }
    std::vector<const Node*>().swap(region.members);
  }

  // True if an operand is the result of a node whose kernel may take this node as its epilogue.
  bool is_epilogue_of(const Node& node) const {
    return std::any_of(node.inputs.begin(), node.inputs.end(), [&](ValueId input) { return may_anchor(input, node); });
  }
  bool may_anchor(ValueId value, const Node& reader) const {
    const ValueInfo& info = graph_.values[value];
    if (info.kind != ValueKind::result || info.type.shape != graph_.type(reader.outputs[0]).shape) return false;
    const Node& producer = graph_.nodes[info.index];
    return !producer.body && producer.device == reader.device && was_[info.index].empty() &&
           producer.outputs.size() == 1 && producer.op->may_have_epilogue;
  }

  void emit(const Region& region) {
    std::unordered_map<ValueId, uint32_t> inside;  // uses within the region
    for (const Node* member : region.members)
      for (ValueId input : member->inputs) ++inside[input];
    ValueId anchor = 0;
    bool anchored = false;
    for (const Node* member : region.members)
      for (ValueId input : member->inputs)
        if (!anchored && may_anchor(input, *member) && inside[input] == uses_[input]) anchor = input, anchored = true;
    if (anchored && emit_node(region, inside, &graph_.nodes[graph_.values[anchor].index], anchor)) return;
    if (region.members.size() == 1) {
      rewrite_.copy(*region.members[0]);
      now_.emplace_back();
    } else if (!emit_node(region, inside, nullptr, 0)) {
      for (const Node* member : region.members) {
        rewrite_.copy(*member);
        now_.emplace_back();
      }
    }
  }

  bool emit_node(const Region& region, const std::unordered_map<ValueId, uint32_t>& inside, const Node* anchor,
                 ValueId anchor_value) {
    auto body = std::make_shared<Body>();
    std::unordered_map<ValueId, uint32_t> number;
    Node fused;
    fused.device = region.members[0]->device;
    fused.attributes = anchor ? anchor->attributes : ops::shared({});
    fused.op = anchor ? anchor->op : &fused_row();
    if (anchor) {
      for (ValueId input : anchor->inputs) fused.inputs.push_back(rewrite_[input]);
      number.emplace(anchor_value, 0);
      body->inputs.push_back(graph_.type(anchor_value).dtype);
    }
    for (const Node* member : region.members)
      for (ValueId output : member->outputs) number.emplace(output, 0);
    for (const Node* member : region.members)
      for (ValueId input : member->inputs) {
        if (!number.emplace(input, static_cast<uint32_t>(body->inputs.size())).second) continue;
        body->inputs.push_back(graph_.type(input).dtype);
        fused.inputs.push_back(rewrite_[input]);
      }
    if (body->inputs.size() > max_inputs) return false;
    auto next = static_cast<uint32_t>(body->inputs.size());
    std::vector<ValueId> results;
    std::vector<TensorType> types;
    for (const Node* member : region.members) {
      std::vector<uint32_t> inputs;
      inputs.reserve(member->inputs.size());
      for (ValueId input : member->inputs) inputs.push_back(number.at(input));
      for (uint32_t i = 0; i < member->outputs.size(); ++i) {
        const ValueId output = member->outputs[i];
        if (uses_[output] == 0) continue;
        body->instructions.push_back({member->op, graph_.type(output).dtype, inputs, *member->attributes, i});
        number[output] = next;
        const auto used = inside.find(output);
        if ((used == inside.end() ? 0 : used->second) < uses_[output]) {
          body->outputs.push_back(next);
          results.push_back(output);
          types.push_back(graph_.type(output));
        }
        ++next;
      }
    }
    if (results.empty()) return true;  // no result is used
    fused.body = std::move(body);
    if (!takes(fused, types)) return false;
    if (anchor) folded_.push_back(rewrite_[anchor_value]);
    const std::vector<ValueId> outputs = rewrite_.graph().add_checked(std::move(fused), types);
    for (std::size_t i = 0; i < outputs.size(); ++i) rewrite_.map(results[i], outputs[i]);
    now_.emplace_back();
    return true;
  }

  bool takes(const Node& node, std::span<const TensorType> types) {
    Graph& to = rewrite_.graph();
    Node probe = node;
    const std::size_t values = to.values.size();
    for (const TensorType& type : types) {
      probe.outputs.push_back(static_cast<ValueId>(to.values.size()));
      to.values.push_back({type, ValueKind::result, 0});
    }
    const bool supported = support_.ask(contiguous_node(probe, to), to, *(node.device ? node.device : home_)).supported;
    to.values.resize(values);
    return supported;
  }

  // Removes the anchors, whose work is done by the nodes with an epilogue.
  Graph remove_folded(Graph graph, std::vector<std::string>& reasons) const {
    if (folded_.empty()) return graph;
    std::vector<bool> gone(graph.values.size(), false);
    for (ValueId value : folded_) gone[value] = true;
    Rewrite rewrite(graph);
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
      if (gone[graph.nodes[i].outputs[0]]) continue;
      rewrite.copy(graph.nodes[i]);
      kept.push_back(std::move(reasons[i]));
    }
    reasons = std::move(kept);
    return rewrite.finish();
  }

  static const ops::Row& fused_row();

  Rewrite rewrite_;
  const Graph& graph_;
  Device* home_;
  Support& support_;
  std::vector<std::string> was_, now_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> region_of_;  // of each value of the old graph
  std::vector<Region> regions_;
  std::vector<uint32_t> merged_into_;
  std::vector<ValueId> folded_;
};

const ops::Row& Fuser::fused_row() { return *ops::find_op("fused"); }

}  // namespace

Graph fuse(const Graph& graph, Device* home, Support& support, std::vector<std::string>& reasons) {
  return Fuser(graph, home, support, reasons).run(reasons);
}

}  // namespace ferrule
