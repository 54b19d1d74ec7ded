// Invalid graphs. Each case changes a valid view in one way. For every op that it supports, the module must return an
// error or not support the node.
#include "conformance/bad_graphs.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace ferrule::conformance {
namespace {

using sdk::AttributeKind;
using sdk::ResultShape;

// The view of one node that a case changes. Values 0 to inputs - 1 are its inputs, the rest its outputs.
struct Spoilt {
  Graph& graph;
  const Sample& sample;
  const sdk::OpInfo& op;
  uint32_t inputs;
  bool applies = true;  // the case, to this op
  uint32_t output() const { return inputs; }
  void skip() { applies = false; }
};

// Makes the view invalid, or skips the op.
using Spoil = void (*)(Spoilt&);

struct Case {
  const char* name;
  const char* what;
  Spoil spoil;
  std::vector<fe_code> codes = {FE_INVALID_ARGUMENT, FE_UNSUPPORTED};
};

// Whether the node has the attribute: later revisions of an op append some.
bool has(Spoilt& s, const sdk::AttributeInfo& attribute) { return attribute.since <= s.graph.node().revision; }
bool has_attributes(Spoilt& s) {
  return std::any_of(s.op.attributes.begin(), s.op.attributes.end(),
                     [&](const sdk::AttributeInfo& attribute) { return has(s, attribute); });
}

template <class Function>
bool any_attribute(Spoilt& s, AttributeKind kind, Function spoil) {
  for (const sdk::AttributeInfo& attribute : s.op.attributes) {
    if (attribute.kind != kind || !has(s, attribute)) continue;
    spoil(s.graph.attribute(attribute), attribute);
    return true;
  }
  return false;
}

template <class Field>
void set(void* at, const Field& field) {
  std::memcpy(at, &field, sizeof field);
}

// Changes the dtype of a value, in a storage that is large enough for any dtype.
void change_dtype(Spoilt& s, uint32_t value, const char* dtype) {
  s.graph.value(value).dtype = dtype_id(dtype);
  s.graph.storage(s.graph.value(value).storage).size *= 16;
}
const char* other_dtype(const char* dtype) { return std::strcmp(dtype, "int16") == 0 ? "float64" : "int16"; }

// Changes the shape; the value is contiguous and fills its storage.
void set_shape(Spoilt& s, uint32_t value, int64_t rows, int64_t columns) {
  fe_value& changed = s.graph.value(value);
  changed.rank = 2;
  s.graph.shape(value)[0] = rows;
  s.graph.shape(value)[1] = s.graph.strides(value)[0] = columns;
  s.graph.strides(value)[1] = 1;
  s.graph.storage(value).size = static_cast<uint64_t>(fe_bytes_of(dtype_info(changed.dtype), rows * columns));
}

// Sets an axis out of range in an attribute `axis` or `axes`.
bool set_axis(Spoilt& s, int64_t axis) {
  static int64_t kept;
  kept = axis;
  const bool one = any_attribute(s, AttributeKind::axis, [&](void* at, const auto&) { set(at, axis); });
  return any_attribute(s, AttributeKind::axes, [&](void* at, const auto&) { set(at, fe_int64_list{&kept, 1}); }) || one;
}

constexpr int64_t huge = int64_t{1} << 62;

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"unknown_op", "an op id that the core never gave", [](Spoilt& s) { s.graph.node().op = 0xfffffff0u; }},
      {"op_zero", "the op id 0", [](Spoilt& s) { s.graph.node().op = 0; }},
      {"unknown_revision",
       "a revision that the module cannot know",
       [](Spoilt& s) { s.graph.node().revision = 1000; },
       {FE_UNSUPPORTED}},
      {"revision_zero", "revision 0", [](Spoilt& s) { s.graph.node().revision = 0; }},
      {"unknown_input_dtype", "an input of an unknown dtype",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         if (s.inputs > 0) s.graph.value(0).dtype = 0xfffffff0u;
       }},
      {"unknown_output_dtype", "an output of an unknown dtype", [](Spoilt& s) { s.graph.value(s.output()).dtype = 0; }},
      {"wrong_output_dtype", "an output of another dtype than the op's result",
       [](Spoilt& s) { change_dtype(s, s.output(), other_dtype(s.sample.outputs[0].dtype)); }},
      {"mixed_input_dtypes", "two inputs of two dtypes, where the op has one",
       [](Spoilt& s) {
         uint32_t promoted = 0, last = 0;
         for (uint32_t i = 0; i < s.inputs; ++i)
           if (s.op.inputs[std::min<size_t>(i, s.op.inputs.size() - 1)].promoted) ++promoted, last = i;
         if (promoted < 2) return s.skip();
         change_dtype(s, last, other_dtype(s.sample.inputs[last].dtype));
       }},
      {"forbidden_dtype", "inputs of a dtype that the op does not take",
       [](Spoilt& s) {
         for (size_t dtype = 0; dtype < std::size(sdk::dtype_table); ++dtype) {
           if (s.inputs == 0 || s.op.inputs[0].dtypes.contains(dtype)) continue;
           for (uint32_t i = 0; i <= s.inputs; ++i) change_dtype(s, i, sdk::dtype_table[dtype].name);
           return;
         }
         s.skip();
       }},
      {"too_few_inputs", "an input less than the op has",
       [](Spoilt& s) {
         if (s.inputs == 0) return s.skip();
         s.graph.node().input_count = s.op.required_inputs - 1;
       }},
      {"too_many_inputs", "an input more than the op has",
       [](Spoilt& s) {
         if (s.op.variadic) return s.skip();
         s.graph.node().input_count = static_cast<uint32_t>(s.op.inputs.size()) + 1;
       }},
      {"no_output", "a node without an output", [](Spoilt& s) { s.graph.node().output_count = 0; }},
      {"too_many_outputs", "an output more than the op has", [](Spoilt& s) { ++s.graph.node().output_count; }},
      {"too_few_outputs", "an output less than the op has",
       [](Spoilt& s) {
         s.applies = s.op.results.size() > 1;
         --s.graph.node().output_count;
       }},
      {"wrong_last_dtype", "a last output of another dtype than the op's",
       [](Spoilt& s) {
         const auto last = static_cast<uint32_t>(s.sample.outputs.size() - 1);
         s.applies = last > 0;
         change_dtype(s, s.output() + last, other_dtype(s.sample.outputs[last].dtype));
       }},
      {"input_index", "an input that is no value of the view",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         s.graph.inputs()[0] = s.graph.view().value_count;
       }},
      {"output_index", "an output that is no value of the view",
       [](Spoilt& s) { s.graph.outputs()[0] = std::numeric_limits<uint32_t>::max(); }},
      {"rank_nine", "an input of nine dimensions", [](Spoilt& s) { s.graph.value(0).rank = FE_MAX_RANK + 1; }},
      {"output_rank_nine", "an output of nine dimensions",
       [](Spoilt& s) { s.graph.value(s.output()).rank = FE_MAX_RANK + 1; }},
      {"rank_negative", "a rank of -1", [](Spoilt& s) { s.graph.value(0).rank = -1; }},
      {"size_negative", "a size of -1",
       [](Spoilt& s) {
         s.applies = s.graph.value(0).rank > 0;
         s.graph.shape(0)[0] = -1;
       }},
      {"output_size_negative", "an output with a size of -1",
       [](Spoilt& s) {
         s.applies = s.graph.value(s.output()).rank > 0;
         s.graph.shape(s.output())[0] = -1;
       }},
      {"size_overflow", "sizes whose product overflows",
       [](Spoilt& s) {
         for (uint32_t i = 0; i <= s.inputs; ++i) {
           s.graph.value(i).rank = 2;
           s.graph.shape(i)[0] = s.graph.shape(i)[1] = huge;
         }
       }},
      {"reach_overflow", "strides whose reach overflows",
       [](Spoilt& s) {
         s.applies = s.inputs > 0 && s.graph.value(0).rank > 0;
         s.graph.strides(0)[0] = huge;
       }},
      {"output_shape", "an output of another shape than the op's result",
       [](Spoilt& s) {
         s.applies = s.op.results[0].shape != ResultShape::unknown;
         set_shape(s, s.output(), 5, 7);
       }},
      {"input_shape", "a second input of a shape that does not fit the first's",
       [](Spoilt& s) {
         s.applies = s.inputs > 1 && s.op.results[0].shape == ResultShape::broadcast;
         if (s.inputs > 1) set_shape(s, 1, 5, 7);
       }},
      {"larger_first_input", "a first input larger than the others and the output say",
       [](Spoilt& s) {
         s.applies = s.op.results[0].shape == ResultShape::same || s.op.results[0].shape == ResultShape::broadcast;
         if (s.inputs > 0) set_shape(s, 0, 50, 70);
       }},
      {"storage_index", "a value in a storage that is not there",
       [](Spoilt& s) { s.graph.value(0).storage = s.graph.view().storage_count; }},
      {"storage_kind", "a storage of an unknown kind", [](Spoilt& s) { s.graph.storage(0).kind = 77; }},
      {"storage_too_small", "an input larger than its storage",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         s.graph.storage(0).size = 1;
       }},
      {"output_storage_too_small", "an output larger than its storage",
       [](Spoilt& s) { s.graph.storage(s.output()).size = 0; }},
      {"binding_index", "a storage in a binding that is not there",
       [](Spoilt& s) { s.graph.storage(0).binding = s.graph.view().binding_count; }},
      {"scalar_index", "a scalar that is not there",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         s.graph.storage(0).kind = FE_STORAGE_SCALAR;
       }},
      {"strides_leave_storage", "strides that leave the storage",
       [](Spoilt& s) {
         s.applies = s.inputs > 0 && s.graph.value(0).rank > 0;
         s.graph.strides(0)[0] = 1000;
       }},
      {"strides_before_storage", "negative strides from the first element",
       [](Spoilt& s) {
         s.applies = s.inputs > 0 && s.graph.value(0).rank > 0;
         s.graph.strides(0)[0] = -1;
       }},
      {"offset_leaves_storage", "an offset that leaves the storage",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         s.graph.value(0).offset = 1000;
       }},
      {"offset_negative", "a negative offset", [](Spoilt& s) { s.graph.value(0).offset = -1; }},
      {"offset_slot", "an offset slot that is not there", [](Spoilt& s) { s.graph.value(0).offset_slot = 0; }},
      {"output_not_contiguous", "an output with strides of its own",
       [](Spoilt& s) {
         s.applies = s.graph.value(s.output()).rank > 0;
         s.graph.strides(s.output())[0] = 0;
       }},
      {"output_in_input", "an output in a storage that may only be read",
       [](Spoilt& s) { s.graph.storage(s.output()).kind = FE_STORAGE_INPUT; }},
      {"temporary_past_workspace", "a temporary that reaches past the workspace",
       [](Spoilt& s) {
         s.graph.storage(s.output()).kind = FE_STORAGE_TEMPORARY;
         s.graph.storage(s.output()).offset = 1;
         s.graph.view().workspace_size = s.graph.storage(s.output()).size;
       }},
      {"temporary_offset_overflow", "a temporary whose end overflows",
       [](Spoilt& s) {
         s.graph.storage(s.output()).kind = FE_STORAGE_TEMPORARY;
         s.graph.storage(s.output()).offset = std::numeric_limits<uint64_t>::max() - 7;
         s.graph.view().workspace_size = 4096;
       }},
      {"reads_unwritten_temporary", "a node that reads a temporary which nothing wrote",
       [](Spoilt& s) {
         if (s.inputs == 0) return s.skip();
         s.graph.storage(0).kind = FE_STORAGE_TEMPORARY;
         s.graph.view().workspace_size = s.graph.storage(0).size;
       }},
      {"reads_own_output", "a node that reads its own output",
       [](Spoilt& s) {
         if (s.inputs == 0 || s.sample.inputs[0].shape != s.sample.outputs[0].shape ||
             std::strcmp(s.sample.inputs[0].dtype, s.sample.outputs[0].dtype) != 0)
           return s.skip();
         s.graph.inputs()[0] = s.output();
       }},
      {"null_storages", "null for the list of storages", [](Spoilt& s) { s.graph.view().storages = nullptr; }},
      {"null_values", "null for the list of values", [](Spoilt& s) { s.graph.view().values = nullptr; }},
      {"null_nodes", "null for the list of nodes", [](Spoilt& s) { s.graph.view().nodes = nullptr; }},
      {"null_storage", "null for a storage", [](Spoilt& s) { s.graph.storage_list()[0] = nullptr; }},
      {"null_value", "null for a value", [](Spoilt& s) { s.graph.value_list()[0] = nullptr; }},
      {"null_node", "null for a node", [](Spoilt& s) { s.graph.node_list()[0] = nullptr; }},
      {"null_inputs", "null for the list of inputs",
       [](Spoilt& s) {
         s.applies = s.inputs > 0;
         s.graph.node().inputs = nullptr;
       }},
      {"null_outputs", "null for the list of outputs", [](Spoilt& s) { s.graph.node().outputs = nullptr; }},
      {"null_shape", "null for a shape",
       [](Spoilt& s) {
         s.applies = s.graph.value(0).rank > 0;
         s.graph.value(0).shape = nullptr;
       }},
      {"null_strides", "null for the strides",
       [](Spoilt& s) {
         s.applies = s.graph.value(0).rank > 0;
         s.graph.value(0).strides = nullptr;
       }},
      {"view_too_short", "a view that ends after its struct_size",
       [](Spoilt& s) { s.graph.view().struct_size = sizeof(size_t); }},
      {"node_too_short", "a node that ends after its struct_size",
       [](Spoilt& s) { s.graph.node().struct_size = sizeof(size_t); }},
      {"value_too_short", "a value that ends after its struct_size",
       [](Spoilt& s) { s.graph.value(0).struct_size = sizeof(size_t); }},
      {"storage_too_short", "a storage that ends after its struct_size",
       [](Spoilt& s) { s.graph.storage(0).struct_size = sizeof(size_t); }},
      {"attributes_null", "null for the attributes",
       [](Spoilt& s) {
         s.applies = has_attributes(s);
         s.graph.node().attributes = nullptr;
       }},
      {"attributes_too_short", "attributes that end after their struct_size",
       [](Spoilt& s) {
         if (!has_attributes(s)) return s.skip();
         s.graph.attributes_size() = sizeof(size_t);
       }},
      {"axis_too_large", "an axis that the input does not have",
       [](Spoilt& s) { s.applies = s.inputs > 0 && set_axis(s, s.graph.value(0).rank); }},
      {"axis_huge", "an axis of 2^62", [](Spoilt& s) { s.applies = set_axis(s, huge); }},
      {"axis_negative", "a negative axis", [](Spoilt& s) { s.applies = set_axis(s, -1); }},
      {"axis_twice", "an axis that is named twice",
       [](Spoilt& s) {
         static const std::array<int64_t, 2> twice = {0, 0};
         s.applies = any_attribute(s, AttributeKind::axes, [](void* at, const auto&) {
           set(at, fe_int64_list{twice.data(), twice.size()});
         });
       }},
      {"list_null", "a list without its elements",
       [](Spoilt& s) {
         const auto spoil = [](void* at, const auto&) { set(at, fe_int64_list{nullptr, 2}); };
         s.applies = any_attribute(s, AttributeKind::axes, spoil) || any_attribute(s, AttributeKind::integers, spoil);
       }},
      {"string_null", "null for a string",
       [](Spoilt& s) {
         s.applies =
             any_attribute(s, AttributeKind::string, [](void* at, const auto&) { set<const char*>(at, nullptr); });
       }},
      {"no_such_choice", "a string that is none of the attribute's choices",
       [](Spoilt& s) {
         s.skip();
         any_attribute(s, AttributeKind::string, [&](void* at, const sdk::AttributeInfo& info) {
           s.applies = info.choices != nullptr;
           set<const char*>(at, "no such choice");
         });
       }},
      {"attribute_dtype", "an attribute that is not a dtype",
       [](Spoilt& s) {
         s.applies =
             any_attribute(s, AttributeKind::dtype, [](void* at, const auto&) { set<fe_dtype>(at, 0xfffffff0u); });
       }},
  };
  return list;
}

void run(const Subject& subject, Report& report, const void* argument) {
  const Case& spoiler = *static_cast<const Case*>(argument);
  const Opened opened(subject);
  bool concerns = false;
  for (const Sample* sample : supported_samples(opened.device, subject)) {
    const auto graph = graph_of(*sample);
    Spoilt spoilt{*graph, *sample, info_of(*sample), static_cast<uint32_t>(sample->inputs.size())};
    spoiler.spoil(spoilt);
    if (!spoilt.applies) continue;
    concerns = true;
    expect_refused(opened.device, *graph, name_of(*sample) + " with " + spoiler.what, report, spoiler.codes);
  }
  if (!concerns) throw NotApplicable{"no op that it supports can be spoilt so"};
}

// Two valid nodes in the wrong order.
void nodes_out_of_order(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  bool concerns = false;
  for (const Sample* sample : supported_samples(opened.device, subject)) {
    const auto graph = chain_of(*sample);
    if (!graph) continue;
    const std::string what = "two nodes of " + name_of(*sample);
    report.now(what);
    { const Executable right(opened.device, graph->view()); }
    concerns = true;
    std::swap(graph->node_list()[0], graph->node_list()[1]);
    fe_module_executable* executable = nullptr;
    report.now(what + ", the reader first");
    const Outcome outcome = take(opened.device.backend()->compile(opened.device.handle(), &graph->view(), &executable));
    if (outcome && executable) opened.backend->executable_release(executable);
    expect_error(report, outcome, what + ", the reader first", {FE_INVALID_ARGUMENT, FE_UNSUPPORTED});
  }
  if (!concerns) throw NotApplicable{"no op that it supports can read its own result"};
}

// An invalid storage that no value uses.
void unused_storage(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  const Sample& sample = *supported_samples(opened.device, subject).front();
  const auto graph = graph_of(sample);
  graph->storage(graph->add_storage(FE_STORAGE_OUTPUT, 64)).binding = 1000000;
  fe_module_executable* executable = nullptr;
  report.now("a storage that no value lies in, of a binding that is not there");
  const Outcome outcome = take(opened.device.backend()->compile(opened.device.handle(), &graph->view(), &executable));
  if (outcome && executable) opened.backend->executable_release(executable);
  expect_error(report, outcome, "a storage that no value lies in, of a binding that is not there");
}

}  // namespace

void expect_refused(const Device& device, Graph& graph, const std::string& what, Report& report,
                    const std::vector<fe_code>& codes) {
  report.now("supports: " + what);
  std::string reason;
  const bool supported = supports(device, graph.view(), 0, &reason);
  report.now("compile: " + what);
  static char nothing;
  auto* const untouched = reinterpret_cast<fe_module_executable*>(&nothing);
  fe_module_executable* executable = untouched;
  const Outcome outcome = take(device.backend()->compile(device.handle(), &graph.view(), &executable));
  if (outcome) {
    if (executable && executable != untouched) device.backend()->executable_release(executable);
    if (supported) report.problem(what + " is supported and compiled; one of the two must refuse it");
    return;
  }
  expect_error(report, outcome, what, codes);
  if (executable != untouched) report.problem(what + ": compile gives an error and an executable");
}

void add_bad_graph_checks(Checks& checks) {
  for (const Case& spoiler : cases())
    checks.push_back({std::string("bad_graph.") + spoiler.name, std::string("refuses ") + spoiler.what, run, &spoiler});
  checks.push_back(
      {"bad_graph.nodes_out_of_order", "refuses a node that reads what a later one writes", nodes_out_of_order});
  checks.push_back({"bad_graph.unused_storage", "refuses a wrong storage that nothing uses", unused_storage});
}

}  // namespace ferrule::conformance
