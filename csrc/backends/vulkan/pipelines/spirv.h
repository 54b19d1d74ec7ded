// A SPIR-V module as its instructions (SPIR-V specification 1.5, section 2.3).
#pragma once

#include <ferrule/cpp/error.hpp>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace ferrule::vulkan::spirv {

enum Op : uint16_t {
  op_name = 5,
  op_entry_point = 15,
  op_execution_mode = 16,
  op_capability = 17,
  op_type_void = 19,
  op_type_int = 21,
  op_type_pointer = 32,
  op_type_function = 33,
  op_constant = 43,
  op_function = 54,
  op_function_end = 56,
  op_function_call = 57,
  op_variable = 59,
  op_store = 62,
  op_decorate = 71,
  op_label = 248,
  op_return = 253,
};

inline constexpr uint32_t magic = 0x07230203;
inline constexpr size_t header_words = 5, bound_word = 3;
inline constexpr uint32_t max_ids = 4194303;  // universal limits, section 2.17
inline constexpr uint32_t storage_function = 7;

[[noreturn]] inline void damaged(const std::string& what) {
  throw sdk::Error(FE_INTERNAL, "a SPIR-V module is damaged: " + what);
}

class Instruction {
 public:
  explicit Instruction(std::span<const uint32_t> words) : words_(words) {}
  uint16_t op() const { return static_cast<uint16_t>(words_[0] & 0xffffu); }
  // An operand, counted from the word after the first.
  uint32_t operand(size_t index) const {
    if (index + 1 >= words_.size()) damaged("an instruction ends before its operands");
    return words_[index + 1];
  }
  size_t operand_count() const { return words_.size() - 1; }
  std::span<const uint32_t> words() const { return words_; }
  std::string text(size_t index) const;  // the literal string that starts at this operand

 private:
  std::span<const uint32_t> words_;
};

// The instructions after the header, as parts of `module`. Throws if the words are not a module.
std::vector<Instruction> instructions_of(std::span<const uint32_t> module);

struct Function {
  uint32_t id = 0, result_type = 0, type = 0;
  size_t begin = 0, end = 0;      // instructions, OpFunction to after OpFunctionEnd
  std::vector<uint32_t> callees;  // ids
};

// The contents of a module that are needed to call its functions.
struct Contents {
  std::vector<Instruction> instructions;
  std::vector<Function> functions;                       // in module order
  std::map<uint32_t, size_t> function_at;                // by id
  std::map<std::string, uint32_t, std::less<>> by_name;  // GLSL names of functions
  std::map<uint32_t, Instruction> types;                 // by id
  uint32_t entry_point = 0;                              // id
  size_t first_function = 0;                             // instruction
};
Contents read(std::span<const uint32_t> module);

// Assembles the words that are added to a module.
class Assembler {
 public:
  void add(Op op, std::initializer_list<uint32_t> operands) { add(op, std::span(operands.begin(), operands.size())); }
  void add(Op op, std::span<const uint32_t> operands) {
    words_.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
    words_.insert(words_.end(), operands.begin(), operands.end());
  }
  void add(const Instruction& instruction) {
    words_.insert(words_.end(), instruction.words().begin(), instruction.words().end());
  }
  std::vector<uint32_t>& words() { return words_; }

 private:
  std::vector<uint32_t> words_;
};

}  // namespace ferrule::vulkan::spirv
