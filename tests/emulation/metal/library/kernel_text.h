// Converts a text in MSL for clang: removes attributes of Metal, and turns threadgroup memory into memory of the
// emulated block. Also refuses what Metal's compiler refuses and clang does not.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace emulation::metal {

struct KernelParameter {
  enum class Kind : std::uint8_t { device_buffer, constant_buffer, value };
  Kind kind = Kind::value;
  std::string type, name;
  std::string index;      // the expression of its number
  std::string attribute;  // of a value, such as thread_position_in_grid
  bool is_reference = false;
};

struct KernelText {
  std::string name;
  std::string most_threads;  // an expression; empty if the kernel says nothing
  std::vector<KernelParameter> parameters;
};

struct LibraryText {
  std::string text;
  std::vector<KernelText> kernels;
};

// Converts the output of the preprocessor. Throws CompileError.
LibraryText library_text(std::string_view preprocessed);

// The functions by which the emulator calls the kernels, to be compiled behind the text.
std::string entries_of(const std::vector<KernelText>& kernels);

constexpr const char* source_name = "program_source";  // in messages, as Metal has it

}  // namespace emulation::metal
