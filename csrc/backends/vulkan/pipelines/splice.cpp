#include "pipelines/splice.h"

#include <unordered_set>

#include "pipelines/spirv.h"

namespace ferrule::vulkan {
namespace {

using spirv::Assembler;
using spirv::Contents;
using spirv::Function;
using spirv::Instruction;

class Splice {
 public:
  Splice(std::span<const uint32_t> module, std::span<const Call> calls)
      : module_(module), calls_(calls), contents_(spirv::read(module)), next_id_(module[spirv::bound_word]) {}

  std::vector<uint32_t> run() {
    const Function& target = function("spliced");
    const auto result = contents_.types.find(target.result_type);
    if (signature(target).operand_count() != 2 || result == contents_.types.end() ||
        result->second.op() != spirv::op_type_void)
      fail("the function spliced has parameters or a result");
    body_.add(contents_.instructions[target.begin]);
    body_.add(spirv::op_label, {next_id_++});
    for (const Call& call : calls_) add(call);
    body_.words().insert(body_.words().end(), variables_.words().begin(), variables_.words().end());
    body_.words().insert(body_.words().end(), code_.words().begin(), code_.words().end());
    body_.add(spirv::op_return, {});
    body_.add(spirv::op_function_end, {});
    reach(contents_.entry_point, target.id);
    return assemble(target.id);
  }

 private:
  struct Result {
    uint32_t id, type;
  };

  [[noreturn]] static void fail(const std::string& what) { throw sdk::Error(FE_INTERNAL, "splice: " + what); }

  const Function& function(std::string_view name) const {
    const auto found = contents_.by_name.find(name);
    if (found == contents_.by_name.end()) fail("the shader has no function " + std::string(name));
    return contents_.functions[contents_.function_at.find(found->second)->second];
  }
  // A function's type instruction: its own id, the result type, the parameter types.
  const Instruction& signature(const Function& of) const {
    const auto found = contents_.types.find(of.type);
    if (found == contents_.types.end() || found->second.op() != spirv::op_type_function ||
        found->second.operand_count() < 2)
      spirv::damaged("a function is of no function type");
    return found->second;
  }
  bool is_uint(uint32_t type) const {
    const auto found = contents_.types.find(type);
    return found != contents_.types.end() && found->second.op() == spirv::op_type_int &&
           found->second.operand(1) == 32 && found->second.operand(2) == 0;
  }
  // The type that a function-storage pointer points to; 0 for other types.
  uint32_t pointee(uint32_t type) const {
    const auto found = contents_.types.find(type);
    return found != contents_.types.end() && found->second.op() == spirv::op_type_pointer &&
                   found->second.operand(1) == spirv::storage_function
               ? found->second.operand(2)
               : 0;
  }

  Result literal(uint32_t value, uint32_t type) {
    const auto [known, added] = literals_.try_emplace(value, next_id_);
    if (added) constants_.add(spirv::op_constant, {type, next_id_++, value});
    return {known->second, type};
  }

  void add(const Call& call) {
    const Function& callee = function(call.function);
    const Instruction& type = signature(callee);
    const size_t parameters = type.operand_count() - 2;
    if (call.arguments.size() != parameters)
      fail(call.function + " takes " + std::to_string(parameters) + " arguments, not " +
           std::to_string(call.arguments.size()));
    const uint32_t result = next_id_++;
    std::vector<uint32_t> operands = {callee.result_type, result, callee.id};
    for (size_t i = 0; i < parameters; ++i) operands.push_back(argument(call, i, type.operand(i + 2)));
    code_.add(spirv::op_function_call, operands);
    results_.push_back({result, callee.result_type});
    called_.push_back(callee.id);
  }

  // The id of an argument: the value or, for a pointer parameter, a variable that holds it, as in glslang's own calls.
  uint32_t argument(const Call& call, size_t index, uint32_t parameter) {
    const Call::Argument& from = call.arguments[index];
    const uint32_t variable_type = pointee(parameter) != 0 ? parameter : 0;
    const uint32_t type = variable_type != 0 ? pointee(parameter) : parameter;
    const std::string what = "argument " + std::to_string(index) + " of " + call.function;
    if (!from.is_literal && from.value >= results_.size()) fail(what + " is the result of no earlier call");
    if (from.is_literal ? !is_uint(type) : results_[from.value].type != type) fail(what + " is of another type");
    const Result value = from.is_literal ? literal(from.value, type) : results_[from.value];
    if (variable_type == 0) return value.id;
    const uint32_t variable = next_id_++;
    variables_.add(spirv::op_variable, {variable_type, variable, spirv::storage_function});
    code_.add(spirv::op_store, {variable, value.id});
    return variable;
  }

  void reach(uint32_t id, uint32_t target) {
    const auto found = contents_.function_at.find(id);
    if (found == contents_.function_at.end()) spirv::damaged("a called id is not a function");
    if (!reached_.insert(id).second) return;
    for (const uint32_t callee : id == target ? called_ : contents_.functions[found->second].callees)
      reach(callee, target);
  }

  // The ids that the removed functions define. An instruction whose first operand is a type has a result, which is its
  // second operand.
  std::unordered_set<uint32_t> gone(uint32_t target) const {
    std::unordered_set<uint32_t> ids;
    for (const Function& function : contents_.functions) {
      if (reached_.contains(function.id) && function.id != target) continue;
      for (size_t i = function.begin; i < function.end; ++i) {
        const Instruction& instruction = contents_.instructions[i];
        if (instruction.op() == spirv::op_label) ids.insert(instruction.operand(0));
        if (instruction.operand_count() >= 2 && contents_.types.contains(instruction.operand(0)))
          ids.insert(instruction.operand(1));
      }
    }
    if (reached_.contains(target)) ids.erase(target);
    return ids;
  }

  std::vector<uint32_t> assemble(uint32_t target) {
    const std::unordered_set<uint32_t> gone_ids = gone(target);
    Assembler out;
    out.words().assign(module_.begin(), module_.begin() + spirv::header_words);
    out.words()[spirv::bound_word] = next_id_;
    for (size_t i = 0; i < contents_.first_function; ++i) {
      const Instruction& instruction = contents_.instructions[i];
      const bool is_about = instruction.op() == spirv::op_name || instruction.op() == spirv::op_decorate;
      if (!is_about || !gone_ids.contains(instruction.operand(0))) out.add(instruction);
    }
    out.words().insert(out.words().end(), constants_.words().begin(), constants_.words().end());
    for (const Function& function : contents_.functions) {
      if (!reached_.contains(function.id)) continue;
      if (function.id == target)
        out.words().insert(out.words().end(), body_.words().begin(), body_.words().end());
      else
        for (size_t i = function.begin; i < function.end; ++i) out.add(contents_.instructions[i]);
    }
    return std::move(out.words());
  }

  std::span<const uint32_t> module_;
  std::span<const Call> calls_;
  Contents contents_;
  uint32_t next_id_;
  Assembler constants_, variables_, code_, body_;
  std::map<uint32_t, uint32_t> literals_;  // ids by value
  std::vector<Result> results_;            // by call
  std::vector<uint32_t> called_;
  std::unordered_set<uint32_t> reached_;
};

}  // namespace

std::vector<uint32_t> splice(std::span<const uint32_t> module, std::span<const Call> calls) {
  return Splice(module, calls).run();
}

std::set<std::string, std::less<>> function_names(std::span<const uint32_t> module) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, id] : spirv::read(module).by_name) names.insert(name);
  return names;
}

std::vector<uint32_t> with_float_controls(std::span<const uint32_t> module, const FloatControls& controls) {
  struct Promise {
    const std::vector<uint32_t>& widths;
    uint32_t mode, capability;
  };
  const Promise promises[] = {{controls.denorm_preserve, 4459, 4464},
                              {controls.signed_zero_inf_nan_preserve, 4461, 4466},
                              {controls.rounding_mode_rte, 4462, 4467}};
  const Contents contents = spirv::read(module);
  Assembler out;
  out.words().assign(module.begin(), module.begin() + spirv::header_words);
  // Capabilities come first in a module; execution modes directly follow the entry points.
  for (const Promise& promise : promises)
    if (!promise.widths.empty()) out.add(spirv::op_capability, {promise.capability});
  for (const Instruction& instruction : contents.instructions) {
    out.add(instruction);
    if (instruction.op() != spirv::op_entry_point) continue;
    for (const Promise& promise : promises)
      for (const uint32_t width : promise.widths)
        out.add(spirv::op_execution_mode, {contents.entry_point, promise.mode, width});
  }
  return std::move(out.words());
}

}  // namespace ferrule::vulkan
