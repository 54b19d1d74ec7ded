// Holds a graph view against graph_view.h and the op table, before an author's code sees it: what passes can be read
// without fear. What only a kernel knows (the shapes of a matrix product) stays with the kernel. See backend.hpp.
#ifndef FERRULE_CPP_CHECK_HPP
#define FERRULE_CPP_CHECK_HPP

#include <ferrule/cpp/error.hpp>
#include <ferrule/op_table.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule::sdk {

namespace checks {

[[noreturn]] inline void refuse(const std::string& sentence) { throw Error(FE_INVALID_ARGUMENT, sentence); }

inline std::string number(const char* what, uint64_t index) { return std::string(what) + " " + std::to_string(index); }

// A pointer that the header does not allow to be null.
template <class Pointer>
Pointer present(Pointer pointer, const char* what) {
  if (pointer == nullptr) refuse(std::string(what) + " is null");
  return pointer;
}

// A struct that is there and holds `size` bytes: all fields of the first minor.
template <class Struct>
const Struct& whole(const Struct* given, size_t size, const char* what) {
  if (present(given, what)->struct_size < size)
    refuse(std::string(what) + " has a struct_size of " + std::to_string(given->struct_size) + ", less than the " +
           std::to_string(size) + " bytes of its fields");
  return *given;
}

#define FE_SIZE_UNTIL(type, field) (offsetof(type, field) + sizeof(type::field))
inline const fe_graph_view& whole(const fe_graph_view* view) {
  const fe_graph_view& found = whole(view, FE_SIZE_UNTIL(fe_graph_view, workspace_alignment), "the view");
  if (found.storage_count > 0) present(found.storages, "the list of storages");
  if (found.value_count > 0) present(found.values, "the list of values");
  if (found.node_count > 0) present(found.nodes, "the list of nodes");
  return found;
}
inline const fe_storage& whole(const fe_storage* storage) {
  return whole(storage, FE_SIZE_UNTIL(fe_storage, prepared), "a storage");
}
inline const fe_value& whole(const fe_value* value) { return whole(value, FE_SIZE_UNTIL(fe_value, offset), "a value"); }
inline const fe_node& whole(const fe_node* node) { return whole(node, FE_SIZE_UNTIL(fe_node, body), "a node"); }
inline const fe_body& whole(const fe_body* body) { return whole(body, FE_SIZE_UNTIL(fe_body, outputs), "the body"); }
inline const fe_instruction& whole(const fe_instruction* instruction) {
  return whole(instruction, FE_SIZE_UNTIL(fe_instruction, attributes), "an instruction");
}
inline const fe_binding& whole(const fe_binding* binding) {
  return whole(binding, FE_SIZE_UNTIL(fe_binding, generation), "a binding");
}
inline const fe_execution& whole(const fe_execution* execution) {
  return whole(execution, FE_SIZE_UNTIL(fe_execution, poll_argument), "the execution");
}
#undef FE_SIZE_UNTIL

inline const DTypeInfo* find_dtype(fe_dtype id) {
  const char* const name = host->dtype_name(id);
  if (name == nullptr) refuse(std::to_string(id) + " is the id of no dtype");
  for (const DTypeInfo& row : dtype_table)
    if (std::strcmp(row.name, name) == 0) return &row;
  return nullptr;  // younger than this module: its kernels say no
}

inline std::string dtype_word(fe_dtype id) {
  const char* const name = host->dtype_name(id);
  return name ? name : "no dtype";
}

// What the module knows of an op; nothing of one that is younger than its headers, which its kernels refuse by name.
inline const OpInfo* find_op(fe_op id) {
  const char* const name = id == 0 ? nullptr : host->op_name(id);
  if (name == nullptr) refuse(std::to_string(id) + " is the id of no op");
  const auto before = [](const OpInfo& row, std::string_view wanted) { return row.name < wanted; };
  const OpInfo* const found =
      std::lower_bound(std::begin(op_table), std::end(op_table), std::string_view(name), before);
  return found != std::end(op_table) && std::string_view(found->name) == name ? found : nullptr;
}

inline void check_revision(const OpInfo* op, uint32_t revision) {
  const uint32_t known = op ? op->revision : 1;
  if (revision == 0) refuse("there is no revision 0");
  if (revision > known)
    throw Error(FE_UNSUPPORTED, number("revision", revision) + " is younger than this module, which knows up to " +
                                    std::to_string(known));
}

// ---- storages and values

inline const fe_storage& check_storage(const fe_graph_view& view, uint32_t index) {
  if (index >= view.storage_count) refuse(number("there is no storage", index));
  const fe_storage& storage = whole(view.storages[index]);
  const bool is_scalar = storage.kind == FE_STORAGE_SCALAR;
  switch (storage.kind) {
    case FE_STORAGE_TEMPORARY:
      if (storage.offset > view.workspace_size || storage.size > view.workspace_size - storage.offset)
        refuse(number("storage", index) + " reaches past the workspace of " + std::to_string(view.workspace_size) +
               " bytes");
      return storage;
    case FE_STORAGE_INPUT:
    case FE_STORAGE_OUTPUT:
    case FE_STORAGE_CONSTANT:
    case FE_STORAGE_SCALAR:
      if (storage.binding >= (is_scalar ? view.scalar_count : view.binding_count))
        refuse(number("storage", index) + ": " +
               number(is_scalar ? "there is no scalar" : "there is no binding", storage.binding));
      if (is_scalar && storage.size > sizeof(fe_scalar)) refuse(number("storage", index) + " is larger than a scalar");
      return storage;
    default:
      refuse(number("storage", index) + ": " + number("there is no kind", storage.kind));
  }
}

inline std::span<const int64_t> shape_of(const fe_value& value) {
  return {value.shape, static_cast<size_t>(value.rank)};
}

// Sums and products that say when they do not fit.
struct Exact {
  int64_t value;
  bool fits = true;
  void add(int64_t other) {
    if (other > 0 ? value > std::numeric_limits<int64_t>::max() - other
                  : value < std::numeric_limits<int64_t>::min() - other)
      fits = false;
    else
      value += other;
  }
  void multiply(int64_t other) {  // `other` is not negative
    constexpr int64_t most = std::numeric_limits<int64_t>::max(), least = std::numeric_limits<int64_t>::min();
    if (other != 0 && (value > most / other || value < least / other))
      fits = false;
    else
      value *= other;
  }
};

// Elements of a shape, none of whose sizes is negative; throws when they, or their bytes, are too many to count.
inline int64_t count_of(std::span<const int64_t> shape, size_t item) {
  for (const int64_t size : shape)
    if (size < 0) refuse("a size is negative: " + std::to_string(size));
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  Exact bytes{static_cast<int64_t>(item)};
  for (const int64_t size : shape) bytes.multiply(size);
  if (!bytes.fits) refuse("a shape has more bytes than can be counted");
  return item == 0 ? 0 : bytes.value / static_cast<int64_t>(item);
}

// The bytes from the storage's first that the elements of a value take up, without what is added when it runs.
struct Reach {
  int64_t first = 0, end = 0;
};

inline Reach reach_of(const fe_value& value, size_t item, int64_t count) {
  if (count == 0) return {};
  Exact first{value.offset}, last{value.offset};
  for (int32_t axis = 0; axis < value.rank; ++axis) {
    const int64_t stride = value.strides[axis];
    if (stride == std::numeric_limits<int64_t>::min()) refuse("a stride is too large");
    Exact span{stride};
    span.multiply(value.shape[axis] - 1);
    if (!span.fits) refuse("the strides reach further than can be counted");
    (stride < 0 ? first : last).add(span.value);
  }
  last.add(1);
  first.multiply(static_cast<int64_t>(item));
  last.multiply(static_cast<int64_t>(item));
  if (!first.fits || !last.fits) refuse("the strides reach further than can be counted");
  return {first.value, last.value};
}

inline void check_contiguous(const fe_value& value, int64_t count) {
  if (count == 0) return;
  int64_t expected = 1;
  for (int32_t axis = value.rank; axis-- > 0; expected *= value.shape[axis])
    if (value.shape[axis] != 1 && value.strides[axis] != expected) refuse("an output is not C-contiguous");
}

inline const fe_value& check_value(const fe_graph_view& view, uint32_t index, bool is_output) {
  if (index >= view.value_count) refuse(number("there is no value", index));
  const fe_value& value = whole(view.values[index]);
  if (value.rank < 0 || value.rank > FE_MAX_RANK) refuse("a rank of " + std::to_string(value.rank));
  if (value.rank > 0) {
    present(value.shape, "a shape");
    present(value.strides, "the list of strides");
  }
  find_dtype(value.dtype);
  const size_t item = host->dtype_size(value.dtype);
  const int64_t count = count_of(shape_of(value), item);
  if (value.offset_slot < -1 ||
      (value.offset_slot >= 0 && static_cast<uint32_t>(value.offset_slot) >= view.offset_count))
    refuse("there is no offset " + std::to_string(value.offset_slot));
  const fe_storage& storage = check_storage(view, value.storage);
  if (is_output) {
    if (storage.kind != FE_STORAGE_OUTPUT && storage.kind != FE_STORAGE_TEMPORARY)
      refuse("an output lies in a storage that may only be read");
    check_contiguous(value, count);
  }
  if (storage.kind == FE_STORAGE_CONSTANT && storage.prepared != 0) return value;
  const Reach reach = reach_of(value, item, count);
  const auto size = static_cast<uint64_t>(reach.end - reach.first);
  const bool moves = value.offset_slot >= 0;
  if (moves ? size > storage.size : reach.first < 0 || static_cast<uint64_t>(reach.end) > storage.size)
    refuse("the elements of " + number("value", index) + " lie outside its storage of " + std::to_string(storage.size) +
           " bytes");
  return value;
}

// ---- nodes

inline void check_axis(int64_t axis, int32_t rank, const char* name) {
  if (axis < 0 || axis >= rank)
    refuse(std::string(name) + " is " + std::to_string(axis) + ", of " + std::to_string(rank) + " dimensions");
}

inline bool is_choice(std::string_view choices, std::string_view text) {
  for (;;) {
    const size_t bar = choices.find('|');
    if (choices.substr(0, bar) == text) return true;
    if (bar == std::string_view::npos) return false;
    choices.remove_prefix(bar + 1);
  }
}

template <class Field>
Field field_of(const void* attributes, const AttributeInfo& row) {
  Field field;
  std::memcpy(&field, static_cast<const char*>(attributes) + row.offset, sizeof field);
  return field;
}

inline void check_attribute(const AttributeInfo& row, const void* attributes, int32_t rank) {
  switch (row.kind) {
    case AttributeKind::axis:
      check_axis(field_of<int64_t>(attributes, row), rank, row.name);
      break;
    case AttributeKind::string: {
      const auto* const text = present(field_of<const char*>(attributes, row), row.name);
      if (row.choices && !is_choice(row.choices, text))
        refuse(std::string(row.name) + " is '" + text + "', and must be one of " + row.choices);
      break;
    }
    case AttributeKind::dtype:
      find_dtype(field_of<fe_dtype>(attributes, row));
      break;
    case AttributeKind::integers:
    case AttributeKind::axes: {
      const auto list = field_of<fe_int64_list>(attributes, row);
      if (list.count > 0) present(list.data, row.name);
      if (row.kind == AttributeKind::integers) break;
      if (list.count > FE_MAX_RANK) refuse(std::string(row.name) + " lists too many axes");
      for (size_t i = 0; i < list.count; ++i) {
        check_axis(list.data[i], rank, row.name);
        if (std::find(list.data, list.data + i, list.data[i]) != list.data + i)
          refuse(std::string(row.name) + " lists an axis twice");
      }
      break;
    }
    default:
      break;
  }
}

// `rank` is that of the op's first input.
inline void check_attributes(const OpInfo& op, uint32_t revision, const void* attributes, int32_t rank) {
  for (uint32_t i = 0; i < op.attribute_count; ++i) {
    const AttributeInfo& row = op.attributes[i];
    if (row.since > revision) continue;
    const auto size = *static_cast<const size_t*>(present(attributes, "the struct of attributes"));
    if (size < size_t{row.offset} + row.size)
      refuse(std::string("the struct of attributes ends before ") + row.name + ": its struct_size is " +
             std::to_string(size));
    check_attribute(row, attributes, rank);
  }
}

inline void check_input_count(const OpInfo& op, uint32_t count) {
  if (count < op.required_inputs || (!op.variadic && count > op.most_inputs))
    refuse(number("takes", op.required_inputs) + " inputs, not " + std::to_string(count));
}

// `dtype_at(i)` is the dtype of input i.
template <class DTypeAt>
void check_input_dtypes(const OpInfo& op, uint32_t count, DTypeAt dtype_at) {
  fe_dtype common = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const InputInfo& input = op.inputs[std::min(i, op.most_inputs - 1)];
    const fe_dtype dtype = dtype_at(i);
    const DTypeInfo* const row = find_dtype(dtype);
    if (row && (input.dtypes >> (row - dtype_table) & 1) == 0)
      refuse(std::string(input.name) + " cannot be " + row->name);
    if (!input.promoted) continue;
    if (common == 0) common = dtype;
    if (dtype != common) refuse("inputs of two dtypes: " + dtype_word(common) + " and " + dtype_word(dtype));
  }
}

inline uint32_t first_promoted(const OpInfo& op) {
  for (uint32_t i = 0; i < op.most_inputs; ++i)
    if (op.inputs[i].promoted) return i;
  return 0;
}

inline bool broadcasts_to(const fe_value& value, const fe_value& target) {
  for (int32_t axis = 0; axis < value.rank; ++axis) {
    const int32_t at = axis + target.rank - value.rank;
    if (at < 0 || (value.shape[axis] != 1 && value.shape[axis] != target.shape[at])) return false;
  }
  return true;
}

inline bool same_shape(const fe_value& a, const fe_value& b) {
  return a.rank == b.rank && std::equal(a.shape, a.shape + a.rank, b.shape);
}

// The first input without the axes that `axis` names (all, when it is an empty list), or with them at size one.
inline bool is_reduced(const fe_value& in, const fe_value& out, const OpInfo& op, const void* attributes) {
  uint32_t gone = 0;
  bool keep = false;
  for (uint32_t i = 0; i < op.attribute_count; ++i) {
    const AttributeInfo& row = op.attributes[i];
    if (row.kind == AttributeKind::boolean && std::string_view(row.name) == "keepdims")
      keep = field_of<int32_t>(attributes, row) != 0;
    if (row.kind == AttributeKind::axis) gone = 1u << field_of<int64_t>(attributes, row);
    if (row.kind != AttributeKind::axes) continue;
    const auto list = field_of<fe_int64_list>(attributes, row);
    for (size_t k = 0; k < list.count; ++k) gone |= 1u << list.data[k];
    if (list.count == 0) gone = ~0u;
  }
  int32_t at = 0;
  for (int32_t axis = 0; axis < in.rank; ++axis) {
    const bool is_gone = (gone >> axis & 1) != 0;
    if (is_gone && !keep) continue;
    if (at >= out.rank || out.shape[at++] != (is_gone ? 1 : in.shape[axis])) return false;
  }
  return at == out.rank;
}

inline fe_dtype result_dtype(const OpInfo& op, const fe_node& node, std::span<const fe_value* const> in) {
  if (op.result_dtype == ResultDType::same) return in[first_promoted(op)]->dtype;
  if (op.result_dtype == ResultDType::fixed) return host->dtype_id(op.fixed_dtype);
  fe_dtype dtype = 0;
  for (uint32_t i = 0; i < op.attribute_count; ++i)
    if (op.attributes[i].kind == AttributeKind::dtype) dtype = field_of<fe_dtype>(node.attributes, op.attributes[i]);
  return dtype;
}

// What the op table says of the result of a node without a body.
inline void check_result(const OpInfo& op, const fe_node& node, std::span<const fe_value* const> in,
                         const fe_value& out) {
  const fe_dtype wanted = result_dtype(op, node, in);
  if (out.dtype != wanted) refuse("its result is " + dtype_word(wanted) + ", not " + dtype_word(out.dtype));
  bool fits = true;
  if (op.result_shape == ResultShape::same) fits = same_shape(*in[0], out);
  if (op.result_shape == ResultShape::reduced) fits = is_reduced(*in[0], out, op, node.attributes);
  if (op.result_shape == ResultShape::broadcast || op.kind == OpKind::elementwise)
    for (const fe_value* value : in) fits = fits && broadcasts_to(*value, out);
  if (!fits) refuse("its output has another shape than its result");
}

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
  check_input_dtypes(*op, instruction.input_count, [&](uint32_t i) { return body_dtype(body, instruction.inputs[i]); });
  check_attributes(*op, instruction.revision, instruction.attributes, rank);
}

// `in` are the node's inputs that are the body's: the last ones of the body.
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

// The number of the op's own inputs: with a body, the rest are the body's.
inline uint32_t own_inputs(const fe_node& node, const OpInfo* op) {
  const bool is_alone = op && op->kind == OpKind::internal;
  if (node.body == nullptr) {
    if (is_alone) refuse("has no body");
    return node.input_count;
  }
  const uint32_t fed = is_alone ? 0 : 1;  // body inputs that the op itself feeds
  const uint32_t others = whole(node.body).input_count - fed;
  if (node.body->input_count < fed || others > node.input_count || (is_alone && others != node.input_count))
    refuse("its body has other inputs than it");
  return node.input_count - others;
}

inline void check_node(const fe_graph_view& view, const fe_node& node, const OpInfo* op) {
  check_revision(op, node.revision);
  const uint32_t own = own_inputs(node, op);
  if (op) check_input_count(*op, own);
  if (node.output_count == 0 || (!node.body && node.output_count > 1))
    refuse(checks::number("cannot have", node.output_count) + " outputs");
  if (node.input_count > 0) present(node.inputs, "the list of its inputs");
  present(node.outputs, "the list of its outputs");
  std::vector<const fe_value*> values;
  for (uint32_t i = 0; i < node.input_count; ++i) values.push_back(&check_value(view, node.inputs[i], false));
  for (uint32_t i = 0; i < node.output_count; ++i) values.push_back(&check_value(view, node.outputs[i], true));
  const std::span<const fe_value* const> in(values.data(), node.input_count);
  const std::span<const fe_value* const> out(values.data() + node.input_count, node.output_count);
  if (node.body) check_body(*node.body, node, in.subspan(own), out);
  if (op == nullptr) return;
  check_input_dtypes(*op, own, [&](uint32_t i) { return in[i]->dtype; });
  check_attributes(*op, node.revision, node.attributes, own > 0 ? in[0]->rank : 0);
  if (!node.body) check_result(*op, node, in, *out[0]);
}

}  // namespace checks

// Throws unless node `index` of the view is well formed: FE_UNSUPPORTED for a revision that this module cannot know,
// else FE_INVALID_ARGUMENT.
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

// The same for every node of the view, and their order: nothing is read before it was written.
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
      if (checks::count_of(checks::shape_of(value), 1) == 0) continue;
      checks::refuse(checks::number("node", i) + " reads " + checks::number("value", node.inputs[k]) +
                     " before it was written");
    }
    for (uint32_t k = 0; k < node.output_count; ++k) written[view.values[node.outputs[k]]->storage] = true;
  }
}

}  // namespace ferrule::sdk

#endif
