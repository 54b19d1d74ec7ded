#include "metal/library/tokens.h"

#include <array>
#include <cctype>
#include <charconv>

namespace emulation::metal {
namespace {

constexpr std::array<std::string_view, 22> long_punctuation = {"<<=", ">>=", "...", "->*", "::", "->", "++", "--",
                                                               "<<",  "<=",  ">=",  "==",  "!=", "&&", "||", "+=",
                                                               "-=",  "*=",  "/=",  "&=",  "|=", "^="};

bool begins_identifier(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The end of a literal that begins with a quotation mark.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote && text[at] != '\n') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

std::size_t end_of_number(std::string_view text, std::size_t at) {
  for (; at < text.size(); ++at) {
    const bool is_exponent =
        (text[at] == '+' || text[at] == '-') && std::string_view("eEpP").find(text[at - 1]) != std::string_view::npos;
    if (!continues_identifier(text[at]) && text[at] != '.' && text[at] != '\'' && !is_exponent) break;
  }
  return at;
}

std::size_t length_of_punctuation(std::string_view text) {
  for (const std::string_view one : long_punctuation)
    if (text.starts_with(one)) return one.size();
  return 1;
}

// The line after the linemarker `# 12 "file"`; 0 if it is another directive.
unsigned line_of_marker(std::string_view directive) {
  std::size_t at = 1;
  while (at < directive.size() && directive[at] == ' ') ++at;
  unsigned line = 0;
  std::from_chars(directive.data() + at, directive.data() + directive.size(), line);
  return line;
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> found;
  unsigned line = 1;
  bool is_line_new = true;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '\n') {
      ++line;
      ++at;
      is_line_new = true;
      continue;
    }
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at;
      continue;
    }
    if (c == '#' && is_line_new) {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      const std::string_view directive = text.substr(at, end - at);
      if (const unsigned marked = line_of_marker(directive); marked != 0)
        line = marked - 1;  // the end of this line follows
      else
        found.push_back({Token::Kind::directive, directive, at, line});
      at = end;
      continue;
    }
    is_line_new = false;
    std::size_t end = at;
    Token::Kind kind = Token::Kind::punctuation;
    if (begins_identifier(c)) {
      kind = Token::Kind::identifier;
      while (end < text.size() && continues_identifier(text[end])) ++end;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0 ||
               (c == '.' && at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0)) {
      kind = Token::Kind::number;
      end = end_of_number(text, at);
    } else if (c == '"' || c == '\'') {
      kind = Token::Kind::text;
      end = end_of_literal(text, at);
    } else {
      end += length_of_punctuation(text.substr(at));
    }
    found.push_back({kind, text.substr(at, end - at), at, line});
    at = end;
  }
  return found;
}

}  // namespace emulation::metal
