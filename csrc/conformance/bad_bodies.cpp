// Invalid fused nodes.
#include "conformance/bad_graphs.h"

namespace ferrule::conformance {
namespace {

// A body of two instructions over float32(4, 6): multiply(x, y), then add of that and y.
struct Fused {
  static constexpr uint32_t spare = 80;

  Fused() {
    const TensorSample type{"float32", {4, 6}};
    std::vector<uint32_t> values;
    values.reserve(3);
    for (int i = 0; i < 3; ++i)
      values.push_back(
          graph.add_value(type, graph.add_storage(i < 2 ? FE_STORAGE_INPUT : FE_STORAGE_OUTPUT, byte_size(type))));
    graph.add_node(op_id("fused"), {values[0], values[1]}, {values[2]});
    graph.node().body = &body;
    for (uint32_t i = 0; i < spare; ++i) {
      first[i] = second[i] = i < 2 ? i : 0;
      list[i] = &instructions[0];
    }
    second[0] = 2;
    list[1] = &instructions[1];
  }

  Graph graph;
  fe_dtype float32 = dtype_id("float32");
  std::vector<fe_dtype> dtypes = std::vector<fe_dtype>(spare, float32);
  std::vector<uint32_t> first = std::vector<uint32_t>(spare), second = std::vector<uint32_t>(spare);
  std::vector<uint32_t> outputs = std::vector<uint32_t>(spare, 3);
  fe_instruction instructions[2] = {
      {sizeof(fe_instruction), op_id("multiply"), float32, 2, 1, first.data(), nullptr, 0},
      {sizeof(fe_instruction), op_id("add"), float32, 2, 1, second.data(), nullptr, 0},
  };
  std::vector<const fe_instruction*> list = std::vector<const fe_instruction*>(spare);
  fe_body body{sizeof(fe_body), 2, 2, 1, dtypes.data(), list.data(), outputs.data()};
};

struct Case {
  const char* name;
  const char* what;
  void (*spoil)(Fused&);
  std::vector<fe_code> codes = {FE_INVALID_ARGUMENT, FE_UNSUPPORTED};
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"no_body", "the op `fused` without a body", [](Fused& f) { f.graph.node().body = nullptr; }},
      {"too_short", "a body that ends after its struct_size", [](Fused& f) { f.body.struct_size = sizeof(size_t); }},
      {"unknown_op", "an instruction of an unknown op", [](Fused& f) { f.instructions[1].op = 0xfffffff0u; }},
      {"not_elementwise", "an instruction that is not elementwise",
       [](Fused& f) { f.instructions[1].op = op_id("matmul"); }},
      {"nested", "an instruction that is `fused` itself", [](Fused& f) { f.instructions[1].op = op_id("fused"); }},
      {"unknown_revision",
       "an instruction of a revision that the module cannot know",
       [](Fused& f) { f.instructions[0].revision = 1000; },
       {FE_UNSUPPORTED}},
      {"unknown_dtype", "an instruction of an unknown dtype", [](Fused& f) { f.instructions[0].dtype = 0xfffffff0u; }},
      {"reads_itself", "an instruction that reads itself", [](Fused& f) { f.second[0] = 3; }},
      {"reads_later", "an instruction that reads a later one", [](Fused& f) { f.first[0] = 3; }},
      {"input_index", "an instruction that reads a value that is not there", [](Fused& f) { f.first[1] = 1000000; }},
      {"too_few_inputs", "an instruction with an input less than its op has",
       [](Fused& f) { f.instructions[1].input_count = 1; }},
      {"too_many_inputs", "an instruction with an input more than its op has",
       [](Fused& f) { f.instructions[1].input_count = 3; }},
      {"mixed_dtypes", "an instruction whose inputs differ in dtype",
       [](Fused& f) { f.instructions[0].dtype = dtype_id("int16"); }},
      {"instruction_output", "an output that its op does not have", [](Fused& f) { f.instructions[0].output = 1; }},
      {"output_index", "an output that is not there", [](Fused& f) { f.outputs[0] = 1000000; }},
      {"output_dtype", "an output of another dtype than the node's",
       [](Fused& f) { f.instructions[1].dtype = dtype_id("float64"); }},
      {"output_count", "two outputs, where the node has one", [](Fused& f) { f.body.output_count = 2; }},
      {"no_output", "a body without an output", [](Fused& f) { f.body.output_count = 0; }},
      {"input_count", "an input more than the node has", [](Fused& f) { f.body.input_count = 3; }},
      {"input_dtype", "an input of another dtype than the node's", [](Fused& f) { f.dtypes[0] = dtype_id("float64"); }},
      {"too_long", "65 instructions", [](Fused& f) { f.body.instruction_count = 65; }},
      {"null_instructions", "null for the list of instructions", [](Fused& f) { f.body.instructions = nullptr; }},
      {"null_instruction", "null for an instruction", [](Fused& f) { f.list[1] = nullptr; }},
      {"null_instruction_inputs", "null for an instruction's inputs",
       [](Fused& f) { f.instructions[1].inputs = nullptr; }},
      {"instruction_too_short", "an instruction that ends after its struct_size",
       [](Fused& f) { f.instructions[0].struct_size = sizeof(size_t); }},
      {"null_dtypes", "null for the list of dtypes", [](Fused& f) { f.body.input_dtypes = nullptr; }},
      {"null_outputs", "null for the list of outputs", [](Fused& f) { f.body.outputs = nullptr; }},
      {"does_not_broadcast", "an input that does not broadcast to the output",
       [](Fused& f) {
         f.graph.value(0).rank = 1;
         f.graph.shape(0)[0] = 5;
         f.graph.strides(0)[0] = 1;
       }},
  };
  return list;
}

void run(const Subject& subject, Report& report, const void* argument) {
  const Case& spoiler = *static_cast<const Case*>(argument);
  const Opened opened(subject);
  Fused fused;
  spoiler.spoil(fused);
  // A module that supports no fused nodes must also survive invalid ones.
  expect_refused(opened.device, fused.graph, std::string("a fused node with ") + spoiler.what, report, spoiler.codes);
}

void right_body(const Subject& subject, Report& report, const void*) {
  const Opened opened(subject);
  Fused fused;
  report.now("a fused node");
  if (!supports(opened.device, fused.graph.view())) throw NotApplicable{"it supports no fused node"};
  const Executable executable(opened.device, fused.graph.view());
  Bound bound(opened.device, opened.device.queue(), fused.graph, executable, subject.seed);
  expect(execute(opened.device, opened.device.queue(), executable, bound.execution()), "a fused node");
}

}  // namespace

void add_bad_body_checks(Checks& checks) {
  checks.push_back({"body", "a fused node that it supports compiles and runs", right_body});
  for (const Case& spoiler : cases())
    checks.push_back({std::string("bad_body.") + spoiler.name, std::string("refuses ") + spoiler.what, run, &spoiler});
}

}  // namespace ferrule::conformance
