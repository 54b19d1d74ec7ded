#include "pipelines/spirv.h"

namespace ferrule::vulkan::spirv {

std::string Instruction::text(size_t index) const {
  std::string found;
  for (; index < operand_count(); ++index)
    for (uint32_t word = operand(index), byte = 0; byte < 4; ++byte, word >>= 8) {
      if ((word & 0xffu) == 0) return found;
      found += static_cast<char>(word & 0xffu);
    }
  damaged("a name does not end");
}

std::vector<Instruction> instructions_of(std::span<const uint32_t> module) {
  if (module.size() < header_words || module[0] != magic) damaged("it has no header");
  if (module[bound_word] == 0 || module[bound_word] > max_ids) damaged("it has too many ids");
  std::vector<Instruction> found;
  for (size_t at = header_words; at < module.size();) {
    const size_t length = module[at] >> 16;
    if (length == 0 || length > module.size() - at) damaged("an instruction is longer than what is left of it");
    found.emplace_back(module.subspan(at, length));
    at += length;
  }
  return found;
}

namespace {

// glslang appends the types of the parameters to a function's name: "add_f32(f1;f1;".
void name_functions(Contents& contents) {
  for (const Instruction& instruction : contents.instructions) {
    if (instruction.op() != op_name || !contents.function_at.contains(instruction.operand(0))) continue;
    const std::string name = instruction.text(1);
    contents.by_name.emplace(name.substr(0, name.find('(')), instruction.operand(0));
  }
}

// OpTypeVoid to OpTypePipe, and the types of cooperative matrices (KHR, NV).
bool is_type(uint16_t op) { return (op >= op_type_void && op <= 38) || op == 4456 || op == 5358; }

}  // namespace

Contents read(std::span<const uint32_t> module) {
  Contents contents;
  contents.instructions = instructions_of(module);
  contents.first_function = contents.instructions.size();
  Function function;
  bool inside = false;
  for (size_t i = 0; i < contents.instructions.size(); ++i) {
    const Instruction& instruction = contents.instructions[i];
    if (is_type(instruction.op())) contents.types.emplace(instruction.operand(0), instruction);
    switch (instruction.op()) {
      case op_entry_point:
        contents.entry_point = instruction.operand(1);
        break;
      case op_function:
        if (inside) damaged("a function does not end");
        inside = true;
        function = {.id = instruction.operand(1),
                    .result_type = instruction.operand(0),
                    .type = instruction.operand(3),
                    .begin = i,
                    .end = i,
                    .callees = {}};
        contents.first_function = std::min(contents.first_function, i);
        break;
      case op_function_call:
        if (inside) function.callees.push_back(instruction.operand(2));
        break;
      case op_function_end:
        if (!inside) damaged("a function does not begin");
        inside = false;
        function.end = i + 1;
        contents.function_at.emplace(function.id, contents.functions.size());
        contents.functions.push_back(function);
        break;
      default:
        break;
    }
  }
  if (inside) damaged("a function does not end");
  name_functions(contents);
  return contents;
}

}  // namespace ferrule::vulkan::spirv
