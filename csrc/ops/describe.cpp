#include "ops/describe.h"

#include "ops/table.h"

#include <nlohmann/json.hpp>

namespace ferrule::ops {
namespace {

nlohmann::ordered_json default_of(const AttributeRow& attribute) {
  switch (attribute.type) {
    case AttributeType::integer:
      return attribute.integer_default;
    case AttributeType::real:
      return attribute.real_default;
    case AttributeType::boolean:
      return attribute.integer_default != 0;
    case AttributeType::string:
      return attribute.string_default;
    case AttributeType::integers:
      return nlohmann::ordered_json::array();
    case AttributeType::dtype:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::elementwise:
      return "elementwise";
    case Kind::view:
      return "view";
    case Kind::primitive:
      return "primitive";
    case Kind::composite:
      return "composite";
    case Kind::internal:
      return "internal";
  }
  return "?";
}

std::string describe_ops() {
  auto all = nlohmann::ordered_json::array();
  for (const Row* row : all_ops()) {
    if (row->kind == Kind::internal) continue;
    nlohmann::ordered_json op = {
        {"name", row->name}, {"doc", row->text}, {"kind", name_of(row->kind)}, {"revision", row->revision}};
    op["inputs"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < row->input_count; ++i) {
      const InputRow& input = row->inputs[i];
      op["inputs"].push_back({{"name", input.name},
                              {"accepts", name_of(input.accepts)},
                              {"promoted", input.promoted},
                              {"optional", input.optional},
                              {"variadic", input.variadic}});
    }
    op["attributes"] = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < row->attribute_count; ++i) {
      const AttributeRow& attribute = row->attributes[i];
      op["attributes"].push_back({{"name", attribute.name},
                                  {"type", name_of(attribute.type)},
                                  {"required", attribute.required},
                                  {"default", default_of(attribute)}});
    }
    all.push_back(std::move(op));
  }
  return all.dump(1);
}

}  // namespace ferrule::ops
