#include "core/api/json_arguments.h"

namespace ferrule {
namespace {

using nlohmann::json;

[[noreturn]] void wrong(const ops::Row& op, const ops::AttributeRow& row, const json& value) {
  fail_argument("{}: {} must be {}, not {}", op.name, row.name, ops::description_of(row.type), shown(value));
}

int64_t integer(const ops::Row& op, const ops::AttributeRow& row, const json& value) {
  if (value.is_number_unsigned() && value.get<uint64_t>() > static_cast<uint64_t>(INT64_MAX)) wrong(op, row, value);
  if (!value.is_number_integer()) wrong(op, row, value);
  return value.get<int64_t>();
}

ops::Attribute attribute(const ops::Row& op, const ops::AttributeRow& row, const json& value) {
  switch (row.type) {
    case ops::AttributeType::integer:
      return integer(op, row, value);
    case ops::AttributeType::real:
      if (!value.is_number()) wrong(op, row, value);
      return value.get<double>();
    case ops::AttributeType::boolean:
      if (!value.is_boolean()) wrong(op, row, value);
      return value.get<bool>();
    case ops::AttributeType::string:
      if (!value.is_string()) wrong(op, row, value);
      return value.get<std::string>();
    case ops::AttributeType::integers: {
      if (!value.is_array()) wrong(op, row, value);
      std::vector<int64_t> list;
      for (const json& item : value) list.push_back(integer(op, row, item));
      return list;
    }
    case ops::AttributeType::reals: {
      if (!value.is_array()) wrong(op, row, value);
      std::vector<double> list;
      for (const json& item : value) {
        if (!item.is_number()) wrong(op, row, value);
        list.push_back(item.get<double>());
      }
      return list;
    }
    case ops::AttributeType::dtype: {
      if (!value.is_string()) wrong(op, row, value);
      const DTypeRow* const dtype = find_dtype(std::string_view(value.get_ref<const std::string&>()));
      if (!dtype) fail_argument("{}: there is no dtype '{}'", op.name, value.get<std::string>());
      return dtype->dtype;
    }
  }
  wrong(op, row, value);
}

}  // namespace

std::vector<ops::NamedAttribute> parse_attributes(const ops::Row& op, const char* text) {
  std::vector<ops::NamedAttribute> attributes;
  if (!text || !*text || (text[0] == '{' && text[1] == '}')) return attributes;
  const JsonDocument given = parse_object(op.name, text);
  for (const auto& [name, value] : given->items()) {
    const auto* row = op.attributes.begin();
    const auto* const end = row + op.attribute_count;
    while (row != end && name != row->name) ++row;
    // An unknown name is told of, with the known ones, by complete_attributes.
    attributes.push_back({name, row == end ? ops::Attribute(int64_t{0}) : attribute(op, *row, value)});
  }
  return attributes;
}

}  // namespace ferrule
