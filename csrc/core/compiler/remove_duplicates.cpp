#include "core/compiler/passes.h"
#include "core/compiler/rewrite.h"
#include "ops/table.h"

#include <algorithm>
#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace ferrule {
namespace {

void mix(std::size_t& hash, std::size_t value) { hash ^= value + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2); }

std::size_t hash_of(double value) { return std::bit_cast<uint64_t>(value); }
template <class T>
std::size_t hash_of(const T& value) {
  return std::hash<T>{}(value);
}
template <class T>
std::size_t hash_of(const std::vector<T>& list) {
  std::size_t hash = list.size();
  for (const T& item : list) mix(hash, hash_of(item));
  return hash;
}
std::size_t hash_of(const ops::Attribute& attribute) {
  return std::visit([](const auto& value) { return hash_of(value); }, attribute);
}

// Compares bits: 0.0 and -0.0 differ, NaN equals itself.
bool same_bits(double a, double b) { return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b); }
bool same(const ops::Attribute& a, const ops::Attribute& b) {
  if (a.index() != b.index()) return false;
  if (const double* const real = std::get_if<double>(&a)) return same_bits(*real, std::get<double>(b));
  if (const auto* const reals = std::get_if<std::vector<double>>(&a)) {
    const auto& other = std::get<std::vector<double>>(b);
    return std::equal(reals->begin(), reals->end(), other.begin(), other.end(), same_bits);
  }
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

bool is_view(const Graph& graph, const Node& node) {
  return node.op->kind == ops::Kind::view || is_dynamic_slice_view(graph, node);
}

// The values that are outputs, or of which outputs are views.
std::unordered_set<ValueId> values_seen_outside(const Graph& graph) {
  std::unordered_set<ValueId> seen(graph.outputs.begin(), graph.outputs.end());
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node)
    if (is_view(graph, *node) && seen.contains(node->outputs[0])) seen.insert(node->inputs[0]);
  return seen;
}

}  // namespace

// Copies are removed, too, as values do not change. One that is seen outside is kept, as it lets go of the memory of a
// larger array, or is apart from that of the caller; unless it is the only one to see what a node has computed.
Graph remove_duplicates(const Graph& graph) {
  Rewrite rewrite(graph);
  std::unordered_set<ValueId> computed;  // of the rewritten graph: values with memory of their own
  const ops::Row* const copy = &ops::op_named("copy");
  const std::unordered_set<ValueId> seen_outside = values_seen_outside(graph);
  std::unordered_map<Call, const Node*, CallHash> seen;
  seen.reserve(graph.nodes.size());
  for (const Node& node : graph.nodes) {
    const auto is_needed = [&] {
      return seen_outside.contains(node.outputs[0]) &&
             (seen_outside.contains(node.inputs[0]) || !computed.contains(rewrite[node.inputs[0]]));
    };
    if (node.op == copy && node.device == nullptr && !is_needed()) {
      rewrite.map(node.outputs[0], rewrite[node.inputs[0]]);
      continue;
    }
    Call call{&node, node.inputs};
    for (ValueId& input : call.inputs) input = rewrite[input];
    const auto [found, fresh] = seen.emplace(std::move(call), &node);
    if (fresh) {
      rewrite.copy(node);
      if (!is_view(graph, node))
        for (const ValueId output : node.outputs) computed.insert(rewrite[output]);
    } else {
      for (std::size_t i = 0; i < node.outputs.size(); ++i)
        rewrite.map(node.outputs[i], rewrite[found->second->outputs[i]]);
    }
  }
  return rewrite.finish();
}

}  // namespace ferrule
