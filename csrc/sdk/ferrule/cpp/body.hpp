// The instructions of elementwise nodes, single or fused, for modules that write programs or shaders for them.
#ifndef FERRULE_CPP_BODY_HPP
#define FERRULE_CPP_BODY_HPP

#include <ferrule/cpp/check_op.hpp>
#include <ferrule/cpp/graph.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ferrule::sdk {

// The values of a body: `values`, which are its inputs, and what `apply(instruction, inputs)` gives for each
// instruction. fe_body.outputs are numbers of them.
template <class Value, class Apply>
std::vector<Value> values_of(const fe_body& body, std::vector<Value> values, const Apply& apply) {
  values.reserve(values.size() + body.instruction_count);
  std::vector<Value> inputs;
  for (uint32_t i = 0; i < body.instruction_count; ++i) {
    const fe_instruction& instruction = *body.instructions[i];
    inputs.clear();
    for (uint32_t k = 0; k < instruction.input_count; ++k) inputs.push_back(values[instruction.inputs[k]]);
    values.push_back(apply(instruction, std::span<const Value>(inputs)));
  }
  return values;
}

// The name of the function that computes an output of an op: the op's, followed by what selects among its functions, an
// attribute of text ("gelu_tanh") or the output ("frexp_mantissa").
inline std::string function_name(fe_op id, const void* attributes, uint32_t output) {
  std::string name = host->op_name(id);
  const OpInfo* const info = checks::find_op(id);
  if (info == nullptr) return name;
  for (const AttributeInfo& row : info->attributes) {
    if (row.kind != AttributeKind::string) continue;
    const std::string_view text = checks::field_of<const char*>(attributes, row);
    if (text != "none") name += "_" + std::string(text);
  }
  if (info->results.size() > 1) name += "_" + std::string(info->results[output].name);
  return name;
}

// Whether an op gives the bits of its operand, whatever its dtype.
inline bool moves_bits(std::string_view op) { return op == "copy" || op == "positive"; }

// A writer writes the code of one node. It has
//   Value                                                       a value of that code
//   Value load(uint32_t input)                                  an element of an input of the node
//   Value apply(fe_op op, std::span<const Value> in, fe_dtype result, const void* attributes, uint32_t output)
//   void store(uint32_t output, const Value& value)             all stores follow all loads
// and, for epilogues,
//   Value own(fe_dtype dtype)                                   the result of the op, rounded to its dtype
template <class Writer>
void write_body(const fe_body& body, Writer& writer, std::vector<typename Writer::Value> values) {
  using Value = typename Writer::Value;
  values = values_of(body, std::move(values), [&](const fe_instruction& one, std::span<const Value> in) {
    return writer.apply(one.op, in, one.dtype, one.attributes, one.output);
  });
  for (uint32_t i = 0; i < body.output_count; ++i) writer.store(i, values[body.outputs[i]]);
}

// Writes a node that is an elementwise op or `fused`.
template <class Writer>
void write_elementwise(const Node& node, Writer& writer) {
  std::vector<typename Writer::Value> values, results;
  for (uint32_t i = 0; i < node.input_count(); ++i) values.push_back(writer.load(i));
  if (node.body() != nullptr) return write_body(*node.body(), writer, std::move(values));
  const void* const attributes = node.view().nodes[node.index()]->attributes;
  for (uint32_t i = 0; i < node.output_count(); ++i)
    results.push_back(writer.apply(node.id(), values, node.output(i).dtype(), attributes, i));
  for (uint32_t i = 0; i < node.output_count(); ++i) writer.store(i, results[i]);
}

// The dtype that an op that is not elementwise computes, before the ops that are fused to it.
inline fe_dtype own_dtype(const Node& node) {
  return node.body() != nullptr ? node.body()->input_dtypes[0] : node.output(0).dtype();
}

// Writes the epilogue of an op that is not elementwise: the ops that are fused to it, if any, and the stores. The
// node's inputs from `own_inputs` on are the body's values from 1 on.
template <class Writer>
void write_epilogue(const Node& node, uint32_t own_inputs, Writer& writer) {
  std::vector<typename Writer::Value> values = {writer.own(own_dtype(node))};
  if (node.body() == nullptr) return writer.store(0, values[0]);
  for (uint32_t i = own_inputs; i < node.input_count(); ++i) values.push_back(writer.load(i));
  write_body(*node.body(), writer, std::move(values));
}

// Slots for values. A value has one from the instruction that computes it to the last one that reads it.
class ValueSlots {
 public:
  // A slot that is free at instruction `from`, and again at instruction `until`.
  uint32_t take(size_t from, size_t until) {
    const auto free = std::find_if(until_.begin(), until_.end(), [&](size_t taken) { return taken <= from; });
    const auto slot = static_cast<size_t>(free - until_.begin());
    if (free == until_.end()) until_.push_back(0);
    until_[slot] = until;
    return static_cast<uint32_t>(slot);
  }
  uint32_t count() const { return static_cast<uint32_t>(until_.size()); }

 private:
  std::vector<size_t> until_;  // by slot
};

}  // namespace ferrule::sdk

#endif
