#include "graphs/elementwise_body.h"

#include "graphs/body_writer.h"

namespace ferrule::cuda {
namespace {

using Value = Writer::Value;

// Whether no operand in memory has items of more than two bytes.
bool is_narrow(const Body& body) {
  return std::all_of(body.operands.begin(), body.operands.end(), [](const Operand& operand) {
    return operand.access == Access::constant || row_of(operand.format).bytes <= 2;
  });
}
// Whether elementwise_bytes.cu can run it: all values have one byte, and no operand has strides.
bool has_only_bytes(const Body& body) {
  return std::all_of(body.operands.begin(), body.operands.end(),
                     [](const Operand& operand) {
                       return operand.access != Access::strided && row_of(operand.format).bytes == 1;
                     }) &&
         std::all_of(body.instructions.begin(), body.instructions.end(),
                     [](const Instruction& instruction) { return row_of(instruction.format).bytes == 1; });
}

template <class Program>
Program program_of(const Body& body) {
  Program program{};
  program.count = body.count;
  program.operands = static_cast<uint32_t>(body.operands.size());
  program.instructions = static_cast<uint32_t>(body.instructions.size());
  program.rank = body.rank;
  program.is_near = body.is_near ? 1 : 0;
  program.is_narrow = is_narrow(body) ? 1 : 0;
  std::copy(std::begin(body.shape), std::end(body.shape), program.shape);
  std::copy(body.operands.begin(), body.operands.end(), program.operand);
  std::copy(body.instructions.begin(), body.instructions.end(), program.instruction);
  return program;
}

bool is_small(const Body& body) {
  return body.operands.size() <= elementwise::small_operands &&
         body.instructions.size() <= elementwise::small_instructions && body.slots <= elementwise::small_slots;
}

// `items` is the number of elements of each thread.
template <class Program>
Launch launch_program(const std::string& kernel, const Body& body, uint32_t items, uint64_t computed) {
  constexpr uint32_t threads = 256;
  Launch launch =
      launch_of(kernel, program_of<Program>(body), quotient_up(body.count, uint64_t{threads} * items), threads);
  bind_operands(body, launch, 0, computed);
  launch.is_program = true;
  return launch;
}

// The ops that complex numbers have, as ops of their parts.
Body complex_body_of(const PlannedNode& node) {
  if (node.body() != nullptr) refuse("it is not fused with complex numbers");
  Writer writer(node);
  const std::string_view op = node.op();
  const DtypeRow& boolean = dtypes().named("bool");
  const DtypeRow* const to = part_of(node.output(0));
  const auto part = [&](uint32_t input, uint32_t number) {
    if (part_of(node.input(input)) == nullptr) refuse("one operand is complex and the other is real");
    return writer.load_part(input, number);
  };
  if (op == "where" && to != nullptr) {
    const Value condition = writer.load(0);
    for (const uint32_t k : {0u, 1u})
      writer.store(0, writer.call("where", {condition, part(1, k), part(2, k)}, to->type, *to), k);
  } else if (op == "astype" && to != nullptr && part_of(node.input(0)) != nullptr) {
    for (const uint32_t k : {0u, 1u}) writer.store(0, writer.convert(part(0, k), *to), k);
  } else if (op == "astype" && to != nullptr) {
    const Value x = writer.load(0), real = writer.convert(x, *to);
    const Type bits = is_wide(to->type) ? Type::u64 : Type::u32;
    writer.store(0, real, 0);
    writer.store(0, writer.call("bitwise_xor", {real, real}, bits, *to), 1);  // bits of zero
  } else if (op == "astype" && node.output(0).is("bool")) {
    const Value real = writer.convert(part(0, 0), boolean), imaginary = writer.convert(part(0, 1), boolean);
    writer.store(0, writer.call("logical_or", {real, imaginary}, Type::u32, boolean));
  } else if (op == "equal" || op == "not_equal") {
    const DtypeRow& row = *part_of(node.input(0));
    const Value real = writer.call(op, {part(0, 0), part(1, 0)}, row.type, boolean);
    const Value imaginary = writer.call(op, {part(0, 1), part(1, 1)}, row.type, boolean);
    const char* const join = op == "equal" ? "logical_and" : "logical_or";
    writer.store(0, writer.call(join, {real, imaginary}, Type::u32, boolean));
  } else {
    refuse(std::string(op) + " of complex numbers is not supported");
  }
  return writer.take();
}

bool has_complex(const PlannedNode& node) {
  for (uint32_t i = 0; i < node.input_count(); ++i)
    if (part_of(node.input(i)) != nullptr) return true;
  return part_of(node.output(0)) != nullptr;
}

}  // namespace

Body body_of(const PlannedNode& node) {
  if (has_complex(node) && node.op() != "copy") return complex_body_of(node);
  Writer writer(node);
  sdk::write_elementwise(node, writer);
  return writer.take();
}

Body epilogue_of(const PlannedNode& node, uint32_t own_inputs) {
  Writer writer(node);
  sdk::write_epilogue(node, own_inputs, writer);
  return writer.take();
}

bool is_epilogue(const Body& body) { return is_small(body) && !body.is_wide; }

elementwise::SmallProgram epilogue_program(const Body& body) { return program_of<elementwise::SmallProgram>(body); }

void bind_operands(const Body& body, Launch& launch, size_t offset, std::optional<uint64_t> computed) {
  using Program = elementwise::SmallProgram;
  static_assert(offsetof(Program, operand) == offsetof(elementwise::LargeProgram, operand) &&
                offsetof(Program, fault) == offsetof(elementwise::LargeProgram, fault));
  for (size_t i = 0; i < body.places.size(); ++i) {
    const size_t at = offset + offsetof(Program, operand) + i * sizeof(Operand) + offsetof(Operand, address);
    const Body::Place& place = body.places[i];
    if (place.is_computed) {
      if (computed) launch.uses_scratch(at, *computed, false);
    } else if (place.is_scalar) {
      launch.takes_scalar(at, place.value);
    } else if (place.is_written) {
      launch.writes(at, place.value);
    } else {
      launch.reads(at, place.value);
    }
  }
  if (body.has_faults) launch.reports_faults(offset + offsetof(Program, fault));
}

Launch launch_of(const Body& body, uint64_t computed) {
  if (is_small(body) && has_only_bytes(body))
    return launch_program<elementwise::SmallProgram>("elementwise_bytes.small", body, 16, computed);
  const std::string word = body.is_wide ? "64" : "32";
  const uint32_t items = body.is_wide ? 4 : 8;
  if (is_small(body))
    return launch_program<elementwise::SmallProgram>("elementwise.small" + word, body, items, computed);
  return launch_program<elementwise::LargeProgram>("elementwise.large" + word, body, items, computed);
}

}  // namespace ferrule::cuda
