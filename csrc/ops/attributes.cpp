#include "ops/attributes.h"

#include "ops/row.h"

#include <ferrule/cpp/op_info.hpp>

#include <fmt/ranges.h>

#include <cstring>

namespace ferrule::ops {
namespace {

struct FieldLayout {
  std::size_t size, alignment;
};

FieldLayout layout_of(AttributeType type) {
  switch (type) {
    case AttributeType::integer:
      return {sizeof(int64_t), alignof(int64_t)};
    case AttributeType::real:
      return {sizeof(double), alignof(double)};
    case AttributeType::boolean:
      return {sizeof(int32_t), alignof(int32_t)};
    case AttributeType::string:
      return {sizeof(const char*), alignof(const char*)};
    case AttributeType::integers:
      return {sizeof(fe_int64_list), alignof(fe_int64_list)};
    case AttributeType::reals:
      return {sizeof(fe_float64_list), alignof(fe_float64_list)};
    case AttributeType::dtype:
      return {sizeof(fe_dtype), alignof(fe_dtype)};
  }
  return {0, 1};
}

std::size_t aligned(std::size_t offset, std::size_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

std::string known_attributes(const Row& row) {
  std::string names;
  for (std::size_t i = 0; i < row.attribute_count; ++i) names += (i ? ", " : "") + std::string(row.attributes[i].name);
  return names.empty() ? "none" : names;
}

template <class T>
void write(std::byte* at, const T& value) {
  std::memcpy(at, &value, sizeof value);
}

}  // namespace

Attribute default_value_of(const AttributeRow& row) {
  switch (row.type) {
    case AttributeType::integer:
      return row.integer_default;
    case AttributeType::real:
      return row.real_default;
    case AttributeType::boolean:
      return row.integer_default != 0;
    case AttributeType::string:
      return std::string(row.string_default);
    case AttributeType::integers:
      return std::vector<int64_t>();
    case AttributeType::reals:
      return std::vector<double>();
    case AttributeType::dtype:
      return DType::none;
  }
  return int64_t{0};
}

const char* description_of(AttributeType type) {
  switch (type) {
    case AttributeType::integer:
      return "one integer";
    case AttributeType::real:
      return "a number";
    case AttributeType::boolean:
      return "True or False";
    case AttributeType::string:
      return "a string";
    case AttributeType::integers:
      return "a list of integers";
    case AttributeType::reals:
      return "a list of numbers";
    case AttributeType::dtype:
      return "a dtype";
  }
  return "?";
}

std::shared_ptr<const Attributes> shared(Attributes attributes) {
  // Never destroyed: threads may record until the process ends.
  static const auto& none =
      *std::make_unique<const std::shared_ptr<const Attributes>>(std::make_shared<const Attributes>()).release();
  return attributes.empty() ? none : std::make_shared<const Attributes>(std::move(attributes));
}

namespace {
// Made while libferrule is loaded, so that a fork cannot find it half made.
[[maybe_unused]] const bool are_none_made = shared({}) != nullptr;
}  // namespace

const char* name_of(AttributeType type) {
  switch (type) {
    case AttributeType::integer:
      return "int";
    case AttributeType::real:
      return "float";
    case AttributeType::boolean:
      return "bool";
    case AttributeType::string:
      return "str";
    case AttributeType::integers:
      return "list of int";
    case AttributeType::reals:
      return "list of float";
    case AttributeType::dtype:
      return "dtype";
  }
  return "?";
}

std::string to_string(const Attribute& value) {
  switch (static_cast<AttributeType>(value.index())) {
    case AttributeType::integer:
      return fmt::format("{}", std::get<int64_t>(value));
    case AttributeType::real:
      return fmt::format("{}", std::get<double>(value));
    case AttributeType::boolean:
      return std::get<bool>(value) ? "true" : "false";
    case AttributeType::string:
      return fmt::format("'{}'", std::get<std::string>(value));
    case AttributeType::integers:
      return fmt::format("[{}]", fmt::join(std::get<std::vector<int64_t>>(value), ", "));
    case AttributeType::reals:
      return fmt::format("[{}]", fmt::join(std::get<std::vector<double>>(value), ", "));
    case AttributeType::dtype: {
      const DType dtype = std::get<DType>(value);
      return dtype == DType::none ? "none" : ferrule::name_of(dtype);
    }
  }
  return "?";
}

const Attribute& AttributeReader::at(std::string_view name) const {
  for (std::size_t i = 0; i < row_.attribute_count && i < values_.size(); ++i)
    if (name == row_.attributes[i].name) return values_[i];
  fail(FE_INTERNAL, "{}: its row has no attribute '{}'", row_.name, name);
}

Attributes complete_attributes(const Row& row, const std::vector<NamedAttribute>& given) {
  Attributes values(row.attribute_count);
  std::vector<bool> set(row.attribute_count, false);
  for (const NamedAttribute& attribute : given) {
    std::size_t i = 0;
    while (i < row.attribute_count && attribute.name != row.attributes[i].name) ++i;
    if (i == row.attribute_count)
      fail_argument("{}: there is no attribute '{}'; it has: {}", row.name, attribute.name, known_attributes(row));
    if (set[i]) fail_argument("{}: attribute '{}' is given twice", row.name, attribute.name);
    const AttributeType type = row.attributes[i].type;
    if (type == AttributeType::real && std::holds_alternative<int64_t>(attribute.value))
      values[i] = static_cast<double>(std::get<int64_t>(attribute.value));
    else if (const auto* integers = std::get_if<std::vector<int64_t>>(&attribute.value);
             type == AttributeType::reals && integers)
      values[i] = std::vector<double>(integers->begin(), integers->end());
    else if (attribute.value.index() != static_cast<std::size_t>(type))
      fail_argument("{}: {} must be {}, not {}", row.name, attribute.name, description_of(type),
                    to_string(attribute.value));
    else
      values[i] = attribute.value;
    if (const char* const choices = row.attributes[i].choices; choices)
      if (const std::string& text = std::get<std::string>(values[i]); !sdk::is_choice(choices, text))
        fail_argument("{}: {} is '{}', and must be one of {}", row.name, attribute.name, text, choices);
    set[i] = true;
  }
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    if (set[i]) continue;
    if (row.attributes[i].required) fail_argument("{}: attribute '{}' is missing", row.name, row.attributes[i].name);
    values[i] = default_value_of(row.attributes[i]);
  }
  return values;
}

std::vector<std::size_t> packed_layout(const Row& row) {
  std::vector<std::size_t> offsets;
  std::size_t offset = sizeof(std::size_t), alignment = alignof(std::size_t);
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const FieldLayout field = layout_of(row.attributes[i].type);
    offset = aligned(offset, field.alignment);
    alignment = std::max(alignment, field.alignment);
    offsets.push_back(offset);
    offset += field.size;
  }
  offsets.push_back(aligned(offset, alignment));
  return offsets;
}

PackedAttributes::PackedAttributes(const Row& row, Attributes values) {
  if (row.attribute_count == 0) return;
  values_ = std::make_unique<Attributes>(std::move(values));
  const std::vector<std::size_t> offsets = packed_layout(row);
  bytes_ = std::make_unique<std::byte[]>(offsets.back());
  write(bytes_.get(), offsets.back());
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    std::byte* at = bytes_.get() + offsets[i];
    const Attribute& value = (*values_)[i];
    switch (row.attributes[i].type) {
      case AttributeType::integer:
        write(at, std::get<int64_t>(value));
        break;
      case AttributeType::real:
        write(at, std::get<double>(value));
        break;
      case AttributeType::boolean:
        write(at, static_cast<int32_t>(std::get<bool>(value)));
        break;
      case AttributeType::string:
        write(at, std::get<std::string>(value).c_str());
        break;
      case AttributeType::integers: {
        const auto& list = std::get<std::vector<int64_t>>(value);
        write(at, fe_int64_list{list.data(), list.size()});
        break;
      }
      case AttributeType::reals: {
        const auto& list = std::get<std::vector<double>>(value);
        write(at, fe_float64_list{list.data(), list.size()});
        break;
      }
      case AttributeType::dtype:
        write(at, static_cast<fe_dtype>(std::get<DType>(value)));
        break;
    }
  }
}

}  // namespace ferrule::ops
