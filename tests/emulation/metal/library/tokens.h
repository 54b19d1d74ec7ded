// The tokens of a text in C++ that has passed the preprocessor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace emulation::metal {

struct Token {
  enum class Kind : std::uint8_t { identifier, number, text, punctuation, directive };
  Kind kind = Kind::punctuation;
  std::string_view text;
  std::size_t begin = 0;  // in the whole text
  unsigned line = 0;      // of the original file
  bool is(std::string_view other) const { return text == other; }
};

// Splits the output of the preprocessor into tokens. Linemarkers set the lines of tokens and are not tokens; pragmas
// are tokens.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace emulation::metal
