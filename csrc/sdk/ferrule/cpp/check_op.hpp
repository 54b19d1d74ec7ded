// Checks the operands and attributes of an op against its row in the op table. See check.hpp.
#ifndef FERRULE_CPP_CHECK_OP_HPP
#define FERRULE_CPP_CHECK_OP_HPP

#include <ferrule/cpp/check_value.hpp>

#include <iterator>
#include <string_view>

namespace ferrule::sdk::checks {

// The row of an op; null for an op that is newer than these headers, which no kernel supports.
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

inline void check_axis(int64_t axis, int32_t rank, const char* name) {
  if (axis < 0 || axis >= rank)
    refuse(std::string(name) + " is " + std::to_string(axis) + ", of " + std::to_string(rank) + " dimensions");
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
    case AttributeKind::reals: {
      const auto list = field_of<fe_float64_list>(attributes, row);
      if (list.count > 0) present(list.data, row.name);
      break;
    }
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

// `rank`: of the op's first input.
inline void check_attributes(const OpInfo& op, uint32_t revision, const void* attributes, int32_t rank) {
  for (const AttributeInfo& row : op.attributes) {
    if (row.since > revision) continue;
    const auto size = *static_cast<const size_t*>(present(attributes, "the struct of attributes"));
    if (size < size_t{row.offset} + row.size)
      refuse(std::string("the struct of attributes ends before ") + row.name + ": its struct_size is " +
             std::to_string(size));
    check_attribute(row, attributes, rank);
  }
}

inline void check_input_count(const OpInfo& op, uint32_t count) {
  if (count < op.required_inputs || (!op.variadic && count > op.inputs.size()))
    refuse(number("takes", op.required_inputs) + " inputs, not " + std::to_string(count));
}

// `dtype_at(i)` returns the dtype of input i.
template <class DTypeAt>
void check_input_dtypes(const OpInfo& op, uint32_t count, DTypeAt dtype_at) {
  fe_dtype common = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const InputInfo& input = op.inputs[std::min<size_t>(i, op.inputs.size() - 1)];
    const fe_dtype dtype = dtype_at(i);
    const DTypeInfo* const row = find_dtype(dtype);
    if (row && !input.dtypes.contains(static_cast<size_t>(row - dtype_table)))
      refuse(std::string(input.name) + " cannot be " + row->name);
    if (!input.promoted) continue;
    if (common == 0) common = dtype;
    if (dtype != common) refuse("inputs of two dtypes: " + dtype_word(common) + " and " + dtype_word(dtype));
  }
}

inline uint32_t first_promoted(const OpInfo& op) {
  for (uint32_t i = 0; i < op.inputs.size(); ++i)
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

// Whether the shape of `out` is that of `in` without the axes in the attributes `axis` or `axes` (an empty list: all
// axes), or with them at size 1 if `keepdims` is set.
inline bool is_reduced(const fe_value& in, const fe_value& out, const OpInfo& op, const void* attributes) {
  uint32_t gone = 0;
  bool keep = false;
  for (const AttributeInfo& row : op.attributes) {
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
    if (at >= out.rank || out.shape[at] != (is_gone ? 1 : in.shape[axis])) return false;
    ++at;
  }
  return at == out.rank;
}

inline fe_dtype result_dtype(const OpInfo& op, const ResultInfo& result, const fe_node& node,
                             std::span<const fe_value* const> in) {
  if (result.dtype == ResultDType::fixed) return host->dtype_id(result.fixed_dtype);
  if (result.dtype == ResultDType::attribute) {
    fe_dtype dtype = 0;
    for (const AttributeInfo& row : op.attributes)
      if (row.kind == AttributeKind::dtype) dtype = field_of<fe_dtype>(node.attributes, row);
    return dtype;
  }
  const fe_dtype first = in[first_promoted(op)]->dtype;
  const DTypeInfo* const row = find_dtype(first);
  const DTypeInfo* other = nullptr;  // null: it is the first dtype itself
  if (row && result.dtype == ResultDType::real) other = part_of(*row);
  if (row && result.dtype == ResultDType::complex) other = complex_of(*row);
  if (row && result.dtype == ResultDType::widened && (row->is_integer() || row->dtype_class == FE_CLASS_BOOL))
    other = sdk::find_dtype(row->dtype_class == FE_CLASS_UNSIGNED ? "uint64" : "int64");
  return other ? host->dtype_id(other->name) : first;
}

// Checks dtype and shape of one result of a node without a body.
inline void check_result(const OpInfo& op, const ResultInfo& result, const fe_node& node,
                         std::span<const fe_value* const> in, const fe_value& out) {
  const fe_dtype wanted = result_dtype(op, result, node, in);
  if (out.dtype != wanted)
    refuse("its " + std::string(result.name) + " is " + dtype_word(wanted) + ", not " + dtype_word(out.dtype));
  bool fits = true;
  if (result.shape == ResultShape::same) fits = same_shape(*in[0], out);
  if (result.shape == ResultShape::reduced) fits = is_reduced(*in[0], out, op, node.attributes);
  if (result.shape == ResultShape::broadcast || op.kind == OpKind::elementwise)
    for (const fe_value* value : in) fits = fits && broadcasts_to(*value, out);
  if (!fits) refuse("its output has another shape than its " + std::string(result.name));
}

inline void check_results(const OpInfo& op, const fe_node& node, std::span<const fe_value* const> in,
                          std::span<const fe_value* const> out) {
  if (out.size() != op.results.size())
    refuse(number("has", op.results.size()) + " outputs, not " + std::to_string(out.size()));
  for (size_t i = 0; i < out.size(); ++i) check_result(op, op.results[i], node, in, *out[i]);
}

}  // namespace ferrule::sdk::checks

#endif
