#include "graphs/elementwise_text.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>

#include "graphs/layout.h"
#include "graphs/program_tables.h"

namespace ferrule::cuda {
namespace {

using namespace elementwise;

static_assert(offsetof(OperandTable<1>, fault) == offsetof(SmallProgram, fault) &&
              offsetof(OperandTable<1>, rank) == offsetof(SmallProgram, rank) &&
              offsetof(OperandTable<1>, shape) == offsetof(SmallProgram, shape) &&
              offsetof(OperandTable<1>, operand) == offsetof(SmallProgram, operand) &&
              offsetof(LargeProgram, operand) == offsetof(SmallProgram, operand));

constexpr uint32_t group_items = 4;  // group_size of kernels/elementwise/elements.h

constexpr const char* names_of_accesses[] = {"flat", "single", "constant", "strided"};

bool is_wide(Format format) { return row_of(format).bytes == 8; }
const char* name_of(Access access) { return names_of_accesses[static_cast<size_t>(access)]; }

// Whether all versions of CUDA give the same bits.
bool is_exact(const Instruction& instruction) {
  const bool is_floating = instruction.type == Type::f32 || instruction.type == Type::f64;
  return !is_floating || row_of(instruction.function).is_exact;
}

// A program in the parameters of a launch. Its operands begin at one place in programs of all sizes.
struct ProgramView {
  const OperandTable<1>& head;  // the fields before `operand`
  std::span<const Operand> operands;
  std::span<const Instruction> instructions;
};
ProgramView program_of(const Launch& launch) {
  const std::byte* const bytes = launch.parameters.data();
  const auto& head = *reinterpret_cast<const OperandTable<1>*>(bytes);
  const size_t first = launch.parameters.size() == sizeof(SmallProgram) ? offsetof(SmallProgram, instruction)
                                                                        : offsetof(LargeProgram, instruction);
  return {
      head, {head.operand, head.operands}, {reinterpret_cast<const Instruction*>(bytes + first), head.instructions}};
}

// The program with a value for each operand and each result: a slot has several results, one after the other.
struct Value {
  std::string name;
  Format format;
  uint32_t first_use, last_use;  // instructions, from 1 on; 0 if it is not read
};
struct Call {
  const Instruction& instruction;
  std::vector<size_t> sources;  // values
  size_t result;
};
struct StraightLine {
  std::vector<Value> values;  // those of operands first, by number
  std::vector<Call> calls;
};
StraightLine straight_line_of(const ProgramView& program) {
  StraightLine line;
  for (uint32_t i = 0; i < program.operands.size(); ++i)
    line.values.push_back({"x" + std::to_string(i), program.operands[i].format, 0, 0});
  std::map<uint8_t, size_t> in_slot;
  for (uint32_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction& instruction = program.instructions[i];
    Call call{.instruction = instruction, .sources = {}, .result = line.values.size()};
    for (uint32_t k = 0; k < row_of(instruction.function).arity; ++k) {
      const uint8_t source = instruction.sources[k];
      const bool is_read = (source & is_operand) != 0;
      call.sources.push_back(is_read ? size_t{source} & ~size_t{is_operand} : in_slot.at(source));
      Value& value = line.values[call.sources.back()];
      value.last_use = i + 1;
      if (value.first_use == 0) value.first_use = i + 1;
    }
    line.values.push_back({"v" + std::to_string(i), instruction.format, 0, 0});
    if (instruction.result != no_slot) in_slot[instruction.result] = call.result;
    line.calls.push_back(std::move(call));
  }
  return line;
}

// Registers that the values of one element take at most. `early`: operands are read before the first instruction.
uint32_t registers_of(const ProgramView& program, const StraightLine& line, bool early) {
  uint32_t most = 0;
  for (uint32_t at = 1; at <= line.calls.size(); ++at) {
    uint32_t live = 0;
    for (size_t i = 0; i < line.values.size(); ++i) {
      const Value& value = line.values[i];
      const bool is_one = i < program.operands.size() && (program.operands[i].access == Access::constant ||
                                                          program.operands[i].access == Access::single);
      const size_t begin = i >= program.operands.size() ? i - program.operands.size() + 1 : early ? 1 : value.first_use;
      const bool is_live = begin <= at && (value.last_use >= at || begin == at);
      if (is_live && value.last_use != 0 && !is_one) live += is_wide(value.format) ? 2 : 1;
    }
    most = std::max(most, live);
  }
  return most;
}

// The elements that a thread computes. layout_of() returns none if the values do not fit into registers.
struct ThreadLayout {
  uint32_t groups;
  bool early;
};
std::optional<ThreadLayout> layout_of(const ProgramView& program, const StraightLine& line) {
  const bool has_wide =
      std::any_of(line.values.begin(), line.values.end(), [](const Value& value) { return is_wide(value.format); });
  const bool has_bytes_alone = std::all_of(
      program.operands.begin(), program.operands.end(),
      [](const Operand& operand) { return operand.access == Access::constant || row_of(operand.format).bytes == 1; });
  // A thread has 255 registers; some are for addresses and within functions.
  constexpr uint32_t desired = 96, most = 160;
  const uint32_t early = registers_of(program, line, true) * group_items;
  for (const uint32_t groups : {4, 2, 1}) {
    if (groups == 4 ? !has_bytes_alone : groups == 2 && has_wide) continue;
    if (early * groups <= desired) return ThreadLayout{groups, true};
  }
  if (registers_of(program, line, false) * group_items <= most) return ThreadLayout{1, false};
  return std::nullopt;
}

}  // namespace

ProgramSize program_size(const Launch& launch) {
  const ProgramView program = program_of(launch);
  return {program.head.count, program.head.instructions};
}

std::optional<ElementwiseText> elementwise_text(const Launch& launch, const std::string& name) {
  const ProgramView program = program_of(launch);
  const StraightLine line = straight_line_of(program);
  const auto layout = layout_of(program, line);
  if (!layout) return std::nullopt;
  const uint64_t blocks = quotient_up(program.head.count, uint64_t{launch.block} * layout->groups * group_items);
  if (blocks > INT32_MAX) return std::nullopt;
  const bool has_strides = std::any_of(program.operands.begin(), program.operands.end(),
                                       [](const Operand& operand) { return operand.access == Access::strided; });
  const bool is_adjacent = layout->groups == 1 || program.head.is_narrow != 0;

  ElementwiseText result{.text = {}, .has_math = false, .blocks = static_cast<uint32_t>(blocks)};
  std::string& text = result.text;
  const auto declare = [&](const Value& value) {
    text += std::string("  ") + row_of(row_of(value.format).type).name + " " + value.name + "[Own::items];\n";
  };
  const auto access = [&](const char* function, uint32_t number, const Value& value) {
    const Operand& operand = program.operands[number];
    text += std::string("  ") + function + "<Format::" + row_of(operand.format).name +
            ", Access::" + name_of(operand.access) + ">(shape, p.operand[" + std::to_string(number) + "], elements, " +
            value.name + ");\n";
  };
  const auto read = [&](uint32_t number) {
    declare(line.values[number]);
    access("load", number, line.values[number]);
  };
  text = "#include \"kernels/elementwise/generated_program.h\"\n\nusing namespace ferrule::cuda::elementwise;\n\n";
  text += "FERRULE_KERNEL(" + name + ", OperandTable<" + std::to_string(program.operands.size()) +
          ">, block_threads) {\n  using Own = TileElements<" + std::to_string(layout->groups) +
          ", Adjacency::" + (is_adjacent ? "always" : "never") +
          ">;\n  const Own elements = {p.count, p.is_narrow};\n  if (!elements.has(0)) return;\n";
  text += "  const KnownShape<" + std::to_string(has_strides ? program.head.rank : 1) + ", " +
          (!has_strides || program.head.is_near != 0 ? "true" : "false") + "> shape = {p.shape};\n";
  for (uint32_t i = 0; i < program.operands.size() && layout->early; ++i)
    if (line.values[i].last_use != 0) read(i);
  for (uint32_t at = 1; at <= line.calls.size(); ++at) {
    const Call& call = line.calls[at - 1];
    const Instruction& instruction = call.instruction;
    for (uint32_t i = 0; i < program.operands.size() && !layout->early; ++i)
      if (line.values[i].first_use == at) read(i);
    const Value& value = line.values[call.result];
    declare(value);
    text += std::string("  apply<calls::") + row_of(instruction.function).name + ", " + row_of(instruction.type).name +
            ", Format::" + row_of(instruction.format).name + ">({p.fault, " + std::to_string(instruction.detail) +
            "u}, " + value.name;
    for (const size_t source : call.sources) text += ", " + line.values[source].name;
    text += ");\n";
    if (instruction.output != no_slot) access("store", instruction.output, value);
    result.has_math = result.has_math || !is_exact(instruction);
  }
  text += "}\n";
  return result;
}

Launch generated_launch(Launch launch, const ElementwiseText& text) {
  const ProgramView program = program_of(launch);
  launch.grid = {text.blocks, 1, 1};
  launch.parameters.resize(offsetof(OperandTable<1>, operand) + program.operands.size() * sizeof(Operand));
  launch.kernel = "elementwise.generated";
  launch.is_program = false;
  return launch;
}

}  // namespace ferrule::cuda
