#include "core/compiler/passes.h"
#include "core/compiler/rewrite.h"

#include <bit>
#include <unordered_map>

namespace ferrule {
namespace {

void mix(std::size_t& hash, std::size_t value) { hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2); }

std::size_t hash_of(const ops::Attribute& attribute) {
  return std::visit(
      [](const auto& value) -> std::size_t {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
          std::size_t hash = value.size();
          for (int64_t item : value) mix(hash, static_cast<std::size_t>(item));
          return hash;
        } else if constexpr (std::is_same_v<T, double>) {
          return std::bit_cast<uint64_t>(value);
        } else {
          return std::hash<T>{}(value);
        }
      },
      attribute);
}

// Bit for bit: 0.0 and -0.0 differ, NaN equals itself.
bool same(const ops::Attribute& a, const ops::Attribute& b) {
  if (a.index() == b.index() && std::holds_alternative<double>(a))
    return std::bit_cast<uint64_t>(std::get<double>(a)) == std::bit_cast<uint64_t>(std::get<double>(b));
  return a == b;
}

struct Call {
  const Node* node;
  std::vector<ValueId> inputs;
  friend bool operator==(const Call& a, const Call& b) {
    const Node &x = *a.node, &y = *b.node;
    return x.op == y.op && x.device == y.device && x.body == y.body && a.inputs == b.inputs &&
           std::equal(x.attributes->begin(), x.attributes->end(), y.attributes->begin(), y.attributes->end(), same);
  }
};

struct CallHash {
  std::size_t operator()(const Call& call) const {
    std::size_t hash = std::hash<const void*>{}(call.node->op);
    mix(hash, std::hash<const void*>{}(call.node->device));
    for (ValueId input : call.inputs) mix(hash, input);
    for (const ops::Attribute& attribute : *call.node->attributes) mix(hash, hash_of(attribute));
    return hash;
  }
};

}  // namespace

Graph remove_duplicates(const Graph& graph) {
  Rewrite rewrite(graph);
  std::unordered_map<Call, const Node*, CallHash> seen;
  seen.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    Call call{&node, node.inputs};
    for (ValueId& input : call.inputs) input = rewrite[input];
    const auto [found, fresh] = seen.emplace(std::move(call), &node);
    if (fresh)
      rewrite.copy(node);
    else
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        rewrite.map(node.outputs[i], rewrite[found->second->outputs[i]]);
  }
  return rewrite.finish();
}

}  // namespace ferrule
