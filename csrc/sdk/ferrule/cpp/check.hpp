// Checks a graph view against graph_view.h and the op table before a derived class sees it, so that its code can rely
// on a well-formed view. Rules that only a kernel knows (the shapes of a matrix product) are left to the kernel. See
// backend.hpp.
#ifndef FERRULE_CPP_CHECK_HPP
#define FERRULE_CPP_CHECK_HPP

#include <ferrule/cpp/check_op.hpp>

#include <vector>

namespace ferrule::sdk {

namespace checks {

// ---- bodies

inline fe_dtype body_dtype(const fe_body& body, uint32_t value) {
  return value < body.input_count ? body.input_dtypes[value] : body.instructions[value - body.input_count]->dtype;
}

inline void check_instruction(const fe_body& body, uint32_t index, int32_t rank) {
  const fe_instruction& instruction = whole(body.instructions[index]);
  const OpInfo* const op = find_op(instruction.op);
  if (op && op->kind != OpKind::elementwise) refuse(std::string(op->name) + " is not elementwise");
  check_revision(op, instruction.revision);
  if (op) check_input_count(*op, instruction.input_count);
  if (instruction.input_count > 0) present(instruction.inputs, "the list of an instruction's inputs");
  for (uint32_t i = 0; i < instruction.input_count; ++i)
    if (instruction.inputs[i] >= body.input_count + index)
      refuse(number("instruction", index) + " reads a value that is not there yet");
  find_dtype(instruction.dtype);
  if (op == nullptr) return;
  if (instruction.output >= op->results.size())
    refuse(std::string(op->name) + ": " + number("there is no output", instruction.output));
  check_input_dtypes(*op, instruction.input_count, [&](uint32_t i) { return body_dtype(body, instruction.inputs[i]); });
  check_attributes(*op, instruction.revision, instruction.attributes, rank);
}

// `in`: the node's inputs that feed the body; they are the body's last inputs.
inline void check_body(const fe_body& body, const fe_node& node, std::span<const fe_value* const> in,
                       std::span<const fe_value* const> out) {
  if (body.instruction_count > 64) refuse("a body of more than 64 instructions");
  if (body.output_count != node.output_count) refuse("its body has other outputs than it");
  if (body.input_count > 0) present(body.input_dtypes, "the list of a body's dtypes");
  if (body.instruction_count > 0) present(body.instructions, "the list of instructions");
  present(body.outputs, "the list of a body's outputs");
  const size_t fed = body.input_count - in.size();
  for (size_t i = 0; i < body.input_count; ++i) {
    find_dtype(body.input_dtypes[i]);
    if (i < fed) continue;
    if (in[i - fed]->dtype != body.input_dtypes[i]) refuse(number("input", i) + " of its body is of another dtype");
    if (!broadcasts_to(*in[i - fed], *out[0]))
      refuse(number("input", i) + " of its body does not broadcast to its output");
  }
  for (uint32_t i = 0; i < body.instruction_count; ++i) check_instruction(body, i, out[0]->rank);
  for (uint32_t i = 0; i < body.output_count; ++i) {
    if (body.outputs[i] >= body.input_count + body.instruction_count) refuse("its body has no such output");
    if (body_dtype(body, body.outputs[i]) != out[i]->dtype) refuse("an output of its body is of another dtype");
    if (!same_shape(*out[i], *out[0])) refuse("its outputs differ in shape");
  }
}

// The number of inputs of the op itself; with a body, the node's other inputs belong to the body.
inline uint32_t own_inputs(const fe_node& node, const OpInfo* op) {
  const bool is_alone = op && op->kind == OpKind::internal;
  if (node.body == nullptr) {
    if (is_alone) refuse("has no body");
    return node.input_count;
  }
  const uint32_t fed = is_alone ? 0 : 1;  // number of body inputs that are the op's result
  const uint32_t others = whole(node.body).input_count - fed;
  if (node.body->input_count < fed || others > node.input_count || (is_alone && others != node.input_count))
    refuse("its body has other inputs than it");
  return node.input_count - others;
}

inline void check_node(const fe_graph_view& view, const fe_node& node, const OpInfo* op) {
  check_revision(op, node.revision);
  const uint32_t own = own_inputs(node, op);
  if (op) check_input_count(*op, own);
  if (node.output_count == 0) refuse("has no output");
  if (node.body && op && op->results.size() > 1) refuse("of several outputs none feeds a body");
  if (node.input_count > 0) present(node.inputs, "the list of its inputs");
  present(node.outputs, "the list of its outputs");
  std::vector<const fe_value*> values;
  // Reserves no memory, because the counts may be invalid.
  for (uint32_t i = 0; i < node.input_count; ++i)
    values.push_back(&check_value(view, node.inputs[i], false));  // NOLINT(performance-inefficient-vector-operation)
  for (uint32_t i = 0; i < node.output_count; ++i) values.push_back(&check_value(view, node.outputs[i], true));
  const std::span<const fe_value* const> in(values.data(), node.input_count);
  const std::span<const fe_value* const> out(values.data() + node.input_count, node.output_count);
  if (node.body) check_body(*node.body, node, in.subspan(own), out);
  if (op == nullptr) return;
  check_input_dtypes(*op, own, [&](uint32_t i) { return in[i]->dtype; });
  check_attributes(*op, node.revision, node.attributes, own > 0 ? in[0]->rank : 0);
  if (!node.body) check_results(*op, node, in, out);
}

}  // namespace checks

// Throws unless node `index` of the view is well formed: FE_UNSUPPORTED for a revision that is newer than this module's
// headers, else FE_INVALID_ARGUMENT.
inline void check_node(const fe_graph_view* given, uint32_t index) {
  const fe_graph_view& view = checks::whole(given);
  if (index >= view.node_count) checks::refuse(checks::number("there is no node", index));
  const fe_node& node = checks::whole(view.nodes[index]);
  const OpInfo* const op = checks::find_op(node.op);
  try {
    checks::check_node(view, node, op);
  } catch (const Error& error) {
    throw Error(error.code(), std::string(host->op_name(node.op)) + ": " + error.what());
  }
}

// Checks every node of the view, and that no value is read before it is written.
inline void check_graph(const fe_graph_view* given) {
  const fe_graph_view& view = checks::whole(given);
  for (uint32_t i = 0; i < view.storage_count; ++i) checks::check_storage(view, i);
  std::vector<bool> written(view.storage_count, false);
  for (uint32_t i = 0; i < view.node_count; ++i) {
    check_node(&view, i);
    const fe_node& node = *view.nodes[i];
    for (uint32_t k = 0; k < node.input_count; ++k) {
      const fe_value& value = *view.values[node.inputs[k]];
      const fe_storage& storage = *view.storages[value.storage];
      if ((storage.kind != FE_STORAGE_OUTPUT && storage.kind != FE_STORAGE_TEMPORARY) || written[value.storage])
        continue;
      if (checks::count_of(checks::shape_of(value), checks::info_of(value.dtype)) == 0) continue;
      checks::refuse(checks::number("node", i) + " reads " + checks::number("value", node.inputs[k]) +
                     " before it was written");
    }
    for (uint32_t k = 0; k < node.output_count; ++k) written[view.values[node.outputs[k]]->storage] = true;
  }
}

}  // namespace ferrule::sdk

#endif
