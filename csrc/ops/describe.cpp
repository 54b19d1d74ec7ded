#include "ops/describe.h"

#include "ops/table.h"

namespace ferrule::ops {
namespace {

void write(const InputRow& input, JsonText& json) {
  json.begin_object()
      .member("name", input.name)
      .member("accepts", name_of(input.accepts))
      .member("promoted", input.promoted)
      .member("optional", input.optional)
      .member("variadic", input.variadic)
      .end_object();
}

void write(const AttributeRow& attribute, JsonText& json) {
  json.begin_object()
      .member("name", attribute.name)
      .member("type", name_of(attribute.type))
      .member("required", attribute.required)
      .key("default");
  write_default(attribute, json);
  json.end_object();
}

}  // namespace

void write_default(const AttributeRow& attribute, JsonText& json) {
  switch (attribute.type) {
    case AttributeType::integer:
      json.value(attribute.integer_default);
      break;
    case AttributeType::real:
      json.value(attribute.real_default);
      break;
    case AttributeType::boolean:
      json.value(attribute.integer_default != 0);
      break;
    case AttributeType::string:
      json.value(attribute.string_default);
      break;
    case AttributeType::integers:
    case AttributeType::reals:
      json.begin_array().end_array();
      break;
    case AttributeType::dtype:
      json.value(nullptr);
      break;
  }
}

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
    case Kind::host:
      return "host";
    case Kind::internal:
      return "internal";
  }
  return "?";
}

std::string describe_ops() {
  JsonText json;
  json.begin_array();
  for (const Row* row : all_ops()) {
    if (row->kind == Kind::internal) continue;
    json.begin_object()
        .member("name", row->name)
        .member("doc", row->text)
        .member("kind", name_of(row->kind))
        .member("revision", row->revision);
    json.key("inputs").begin_array();
    for (std::size_t i = 0; i < row->input_count; ++i) write(row->inputs[i], json);
    json.end_array().key("attributes").begin_array();
    for (std::size_t i = 0; i < row->attribute_count; ++i) write(row->attributes[i], json);
    json.end_array().key("outputs").begin_array();
    for (std::size_t i = 0; i < row->output_count; ++i) json.value(row->outputs[i]);
    json.end_array().end_object();
  }
  json.end_array();
  return json.take();
}

}  // namespace ferrule::ops
