#include "core/compiler/passes.h"

#include "core/compiler/lowered_graph.h"
#include "core/compiler/rewrite.h"
#include "core/graph/node_text.h"
#include "core/log.h"
#include "core/registry/device.h"
#include "core/sync/immortal.h"
#include "core/sync/mutexes.h"
#include "ops/table.h"

#include <algorithm>
#include <array>
#include <memory>
#include <mutex>
#include <set>

namespace ferrule {
namespace {

// Adds the nodes of decompositions to a graph.
class GraphBuilder final : public ops::Builder {
 public:
  // All nodes request `device` (null: the graph's).
  GraphBuilder(Graph& graph, Device* device) : graph_(graph), device_(device) {}
  using ops::Builder::apply;
  ops::Value apply(std::string_view op, std::span<const ops::Value> inputs,
                   const std::vector<ops::NamedAttribute>& given) override {
    std::vector<ValueId> operands;
    for (const ops::Value& input : inputs) operands.push_back(input.id);
    return {graph_.add(ops::op_named(op), operands, given, device_)};
  }
  ops::Value scalar(double value, DType dtype) override { return {graph_.add_scalar(dtype, scalar_of(value, dtype))}; }
  TensorType type(ops::Value value) const override { return graph_.type(value.id); }

 private:
  Graph& graph_;
  Device* device_;
};

// Device and op of the warnings that were given.
struct Warned {
  BriefMutex mutex;
  std::set<std::pair<std::string, std::string>> pairs;
};

bool is_first(const std::string& device, const std::string& op) {
  auto& warned = Immortal<Warned>::get();
  const std::scoped_lock lock(warned.mutex);
  return warned.pairs.emplace(device, op).second;
}

std::string typed_call(const Graph& graph, const Node& node) {
  std::vector<std::string> operands;
  operands.reserve(node.inputs.size());
  for (ValueId input : node.inputs) operands.push_back(to_string(graph.type(input)));
  return call_text(node, operands);
}

// Limit of nested decompositions. Only a row that decomposes into itself, an error in the op set, reaches it.
constexpr int deepest = 16;

class Placer {
 public:
  Placer(const Graph& graph, const CompileOptions& options, Support& support, std::vector<std::string>& reasons)
      : rewrite_(graph), graph_(graph), options_(options), support_(support), reasons_(reasons) {}

  Graph run() {
    for (const Node& node : graph_.nodes) {
      Node mapped = node;
      for (ValueId& input : mapped.inputs) input = rewrite_[input];
      std::vector<TensorType> types;
      types.reserve(node.outputs.size());
      for (ValueId output : node.outputs) types.push_back(graph_.type(output));
      const std::vector<ValueId> outputs = put(std::move(mapped), types, 0);
      for (std::size_t i = 0; i < outputs.size(); ++i) rewrite_.map(node.outputs[i], outputs[i]);
    }
    return rewrite_.finish();
  }

 private:
  // Adds the node to the new graph on a device that supports it.
  std::vector<ValueId> put(Node node, std::span<const TensorType> types, int depth) {
    Graph& to = rewrite_.graph();
    Device* const asked = node.device ? node.device : options_.device;
    const auto has_elements = [](const TensorType& type) { return element_count(type.shape) > 0; };
    if (node.op->kind == ops::Kind::view || is_dynamic_slice_view(to, node) ||
        std::none_of(types.begin(), types.end(), has_elements))
      return keep(std::move(node), types, asked);
    if (node.inputs.size() > ops::max_inputs) return put_in_groups(std::move(node), types, depth);
    std::string refusal;
    if (takes(node, types, *asked, refusal)) return keep(std::move(node), types, asked);
    const DType wide = wide_operand(to, node);
    const auto takes_wide = [&](Device& device) {
      std::string other;
      return wide != DType::none && takes(node, types, device, other, wide);
    };
    if (takes_wide(*asked)) return put_wide(std::move(node), types, wide, asked, depth);
    if (node.op->decomposition && depth < deepest) return decompose(node, types, asked, depth);
    for (Device* device : options_.fallback) {
      std::string other;
      if (device == asked || !(takes(node, types, *device, other) || takes_wide(*device))) continue;
      const std::string sentence =
          fmt::format("{} runs on {} instead of {}: {}", typed_call(to, node), device->name(), asked->name(), refusal);
      if (options_.on_fallback == Fallback::error) fail(FE_UNSUPPORTED, "{}", sentence);
      const bool is_expected = node.op->kind == ops::Kind::host;
      if (options_.on_fallback == Fallback::warn && !is_expected) log_once(node, *asked, sentence);
      if (!takes(node, types, *device, other)) return put_wide(std::move(node), types, wide, device, depth, refusal);
      return keep(std::move(node), types, device, refusal);
    }
    const bool lacks_cpu = options_.fallback.empty() && asked->kind() != FE_DEVICE_CPU;
    fail(FE_UNSUPPORTED, "{} is not supported by {}: {}{}", typed_call(to, node), asked->name(),
         refusal.empty() ? "it has no kernel for it" : refusal,
         lacks_cpu ? "; no CPU backend is loaded that could compute it (load_all loads it)" : "");
  }

  // The dtype in which the node may have its first operand instead of a narrow one; else none.
  static DType wide_operand(const Graph& graph, const Node& node) {
    const DType dtype = node.inputs.empty() ? DType::none : graph.type(node.inputs[0]).dtype;
    return ops::is_narrow(*node.op, dtype) ? ops::widened(dtype) : DType::none;
  }

  // Casts the first operand for a device that has no kernel for its own dtype.
  std::vector<ValueId> put_wide(Node node, std::span<const TensorType> types, DType wide, Device* device, int depth,
                                std::string reason = {}) {
    const ops::Row& op = ops::op_named("astype");
    Node cast;
    cast.op = &op;
    cast.inputs = {node.inputs[0]};
    cast.attributes = std::make_shared<const ops::Attributes>(ops::complete_attributes(op, {{"dtype", wide}}));
    cast.device = device;
    const std::array type{TensorType{wide, rewrite_.graph().type(node.inputs[0]).shape}};
    node.inputs[0] = put(std::move(cast), type, depth).front();
    return keep(std::move(node), types, device, std::move(reason));
  }

  // Splits a node with more inputs than max_inputs (concat) into groups, then joins their results.
  std::vector<ValueId> put_in_groups(Node node, std::span<const TensorType> types, int depth) {
    std::vector<ValueId> results;
    for (std::size_t begin = 0; begin < node.inputs.size(); begin += ops::max_inputs) {
      const std::size_t end = std::min(begin + ops::max_inputs, node.inputs.size());
      Node group = node;
      group.inputs.assign(node.inputs.begin() + static_cast<std::ptrdiff_t>(begin),
                          node.inputs.begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<TensorType> operands;
      operands.reserve(group.inputs.size());
      for (ValueId input : group.inputs) operands.push_back(rewrite_.graph().type(input));
      ops::Attributes attributes = *node.attributes;
      const std::vector<TensorType> result = ops::infer(*node.op, operands, attributes);
      results.push_back(put(std::move(group), result, depth).front());
    }
    node.inputs = std::move(results);
    return put(std::move(node), types, depth);
  }

  std::vector<ValueId> keep(Node node, std::span<const TensorType> types, Device* device, std::string reason = {}) {
    node.device = device;
    reasons_.push_back(std::move(reason));
    return rewrite_.graph().add_checked(std::move(node), types);
  }

  // `wide`: the dtype of the first operand, if it is not its own.
  bool takes(const Node& node, std::span<const TensorType> types, Device& device, std::string& refusal,
             DType wide = DType::none) {
    // The operands are values of the new graph; temporary values hold the types of the results.
    Graph& to = rewrite_.graph();
    Node probe = node;
    probe.outputs.clear();
    const std::size_t values = to.values.size();
    const auto temporary = [&](const TensorType& type) {
      to.values.push_back({type, ValueKind::result, 0});
      return static_cast<ValueId>(to.values.size() - 1);
    };
    if (wide != DType::none) probe.inputs[0] = temporary({wide, to.type(node.inputs[0]).shape});
    for (const TensorType& type : types) probe.outputs.push_back(temporary(type));
    const SupportAnswer& answer = support_.ask(contiguous_node(probe, to), to, device);
    to.values.resize(values);
    if (!answer.supported) refusal = answer.reason;
    return answer.supported;
  }

  std::vector<ValueId> decompose(const Node& node, std::span<const TensorType> result_types, Device* asked, int depth) {
    // The decomposition is built in a separate graph, whose nodes are then placed like any other.
    Graph& to = rewrite_.graph();
    Graph parts;
    std::vector<ValueId> map;
    std::vector<ops::Value> operands;
    for (ValueId input : node.inputs) {
      operands.push_back({parts.add_input("", to.type(input))});
      map.push_back(input);
    }
    GraphBuilder builder(parts, asked);
    // Decompose half-precision ops in float32 and round once at the end: half-precision steps would accumulate errors,
    // and sums would overflow.
    for (ops::Value& operand : operands)
      if (is_half(builder.type(operand).dtype)) operand = builder.astype(operand, DType::float32);
    ops::Value result = node.op->decomposition(builder, {*node.op, operands, *node.attributes});
    if (builder.type(result).dtype != result_types[0].dtype) result = builder.astype(result, result_types[0].dtype);
    map.resize(parts.values.size());
    for (std::size_t i = 0; i < parts.scalars.size(); ++i)
      map[parts.scalars[i]] = to.add_scalar(parts.type(parts.scalars[i]).dtype, parts.scalar_defaults[i]);
    for (Node& part : parts.nodes) {
      std::vector<TensorType> types;
      types.reserve(part.outputs.size());
      for (ValueId output : part.outputs) types.push_back(parts.type(output));
      const std::vector<ValueId> was = part.outputs;
      for (ValueId& input : part.inputs) input = map[input];
      const std::vector<ValueId> outputs = put(std::move(part), types, depth + 1);
      for (std::size_t i = 0; i < outputs.size(); ++i) map[was[i]] = outputs[i];
    }
    return {map[result.id]};
  }

  static void log_once(const Node& node, const Device& asked, const std::string& sentence) {
    if (is_first(asked.name(), node.op->name)) log_warning("{}", sentence);
  }

  Rewrite rewrite_;
  const Graph& graph_;
  const CompileOptions& options_;
  Support& support_;
  std::vector<std::string>& reasons_;
};

}  // namespace

Graph place(const Graph& graph, const CompileOptions& options, Support& support, std::vector<std::string>& reasons) {
  return Placer(graph, options, support, reasons).run();
}

}  // namespace ferrule
