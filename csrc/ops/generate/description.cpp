// The rows as JSON, for python_files.py.
#include "base/json_text.h"
#include "ops/generate/generate.h"
#include "ops/generate/result_words.h"
#include "ops/table.h"

namespace ferrule::ops {
namespace {

// The default of an attribute that is not required; an empty list or null of those without one.
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

void write_inputs(const Row& row, JsonText& json) {
  json.key("inputs").begin_array();
  for (std::size_t i = 0; i < row.input_count; ++i)
    json.begin_object()
        .member("name", row.inputs[i].name)
        .member("accepts", name_of(row.inputs[i].accepts))
        .member("optional", row.inputs[i].optional)
        .member("variadic", row.inputs[i].variadic)
        .member("truth", row.inputs[i].truth)
        .member("text", row.inputs[i].text)
        .end_object();
  json.end_array();
}

void write_attributes(const Row& row, JsonText& json) {
  json.key("attributes").begin_array();
  for (std::size_t i = 0; i < row.attribute_count; ++i) {
    const AttributeRow& attribute = row.attributes[i];
    json.begin_object()
        .member("name", attribute.name)
        .member("type", name_of(attribute.type))
        .member("required", attribute.required)
        .member("choices", attribute.choices == nullptr ? "" : attribute.choices)
        .member("text", attribute.text);
    write_default(attribute, json.key("default"));
    json.end_object();
  }
  json.end_array();
}

void write_outputs(const Row& row, JsonText& json) {
  json.key("outputs").begin_array();
  for (std::size_t i = 0; i < row.output_count; ++i) {
    const ResultWords words = result_words(row, i);
    json.begin_object()
        .member("name", row.outputs[i])
        .member("shape", words.shape)
        .member("dtype", words.dtype)
        .member("fixed_dtype", words.fixed_dtype)
        .end_object();
  }
  json.end_array();
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
    case Kind::host:
      return "host";
    case Kind::internal:
      return "internal";
  }
  return "?";
}

std::string description() {
  JsonText json;
  json.begin_array();
  for (const Row* row : all_ops()) {
    if (row->kind == Kind::internal) continue;
    json.begin_object()
        .member("name", row->name)
        .member("family", family_of(*row))
        .member("kind", name_of(row->kind))
        .member("text", row->text)
        .member("returns", row->result_text)
        .member("raises", row->error_text)
        .member("example", row->example_text)
        .member("by_hand", row->written_by_hand)
        .member("casts_integers", row->casts_integers);
    write_inputs(*row, json);
    write_attributes(*row, json);
    write_outputs(*row, json);
    json.end_object();
  }
  json.end_array();
  return json.take() + "\n";
}

}  // namespace ferrule::ops
