// The rows as JSON, for python_files.py.
#include "base/json_text.h"
#include "ops/describe.h"
#include "ops/generate/generate.h"
#include "ops/generate/result_words.h"
#include "ops/table.h"

namespace ferrule::ops {
namespace {

void write_inputs(const Row& row, JsonText& json) {
  json.key("inputs").begin_array();
  for (std::size_t i = 0; i < row.input_count; ++i)
    json.begin_object()
        .member("name", row.inputs[i].name)
        .member("accepts", name_of(row.inputs[i].accepts))
        .member("promoted", row.inputs[i].promoted)
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
