#include "metal/library/address_space_rules.h"

#include <set>
#include <string>

#include "metal/library/kernel_text.h"
#include "metal/msl_library.h"

namespace emulation::metal {
namespace {

using Kind = Token::Kind;

bool is_address_space(const Token& one) {
  return one.is("device") || one.is("constant") || one.is("thread") || one.is("threadgroup");
}
bool is_pointer_mark(const Token& one) { return one.is("*") || one.is("&") || one.is("&&"); }

// Reads declarations; the bodies of functions are read as statements.
class Checker {
 public:
  explicit Checker(const std::vector<Token>& tokens) : tokens_(tokens) {}

  void run() {
    check_casts();
    at_ = 0;
    while (at_ < tokens_.size()) declarations();
  }

 private:
  const Token& token(std::size_t i) const {
    static const Token none;
    return i < tokens_.size() ? tokens_[i] : none;
  }

  [[noreturn]] static void refuse(const Token& at, const Token& mark) {
    throw CompileError(std::string(source_name) + ":" + std::to_string(at.line) + ": error: " +
                       (mark.is("*") ? "pointer" : "reference") + " type must have explicit address space qualifier");
  }

  std::size_t behind_closing(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const Token& one = tokens_[i];
      if (one.kind != Kind::punctuation) continue;
      if (one.is("(") || one.is("[") || one.is("{")) ++depth;
      if ((one.is(")") || one.is("]") || one.is("}")) && --depth == 0) return i + 1;
    }
    return tokens_.size();
  }
  std::size_t behind_angles(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const Token& one = tokens_[i];
      if (one.is("(") || one.is("[") || one.is("{")) {
        i = behind_closing(i) - 1;
        continue;
      }
      if (one.is(";")) break;
      if (one.is("<")) ++depth;
      if (one.is(">") && --depth == 0) return i + 1;
      if (one.is(">>")) depth -= 2;
      if (one.is(">>") && depth <= 0) return i + 1;
    }
    return open + 1;
  }

  // One declaration of a namespace or a class, or its end.
  void declarations() {
    bool is_class = false, is_namespace = false, is_enumeration = false, has_parameters = false, has_space = false;
    bool has_initializers = false;
    const Token* mark = nullptr;
    for (; at_ < tokens_.size(); ++at_) {
      const Token& one = tokens_[at_];
      if (one.kind == Kind::directive) continue;
      if (one.is(";") || one.is("}")) {
        if (!has_parameters) check_result(mark, has_space);
        ++at_;
        return;
      }
      if (one.is(":") && !is_class && !has_parameters) {  // public:
        ++at_;
        return;
      }
      if (one.is("template") && token(at_ + 1).is("<")) {
        at_ = behind_angles(at_ + 1) - 1;
        continue;
      }
      if (one.is("using") || one.is("typedef") || one.is("static_assert")) {
        skip_statement();
        return;
      }
      is_class = is_class || one.is("struct") || one.is("class") || one.is("union");
      is_namespace = is_namespace || one.is("namespace") || one.is("extern");
      is_enumeration = is_enumeration || one.is("enum");
      has_space = has_space || is_address_space(one);
      if (one.is("[")) {
        at_ = behind_closing(at_) - 1;
        continue;
      }
      if (one.is("<") && !token(at_ - 1).is("operator")) {
        at_ = behind_angles(at_) - 1;
        continue;
      }
      if (one.is("operator")) {
        check_result(mark, has_space);
        has_space = false;
        mark = nullptr;
        ++at_;
        while (at_ < tokens_.size() && !token(at_ + 1).is("(")) ++at_;  // also `operator T*`
        if (token(at_).is("(") && token(at_ + 1).is("(")) continue;
        if (token(at_ + 1).is("(") && token(at_ + 2).is(")") && token(at_ + 3).is("(")) at_ += 2;
        continue;
      }
      if (is_pointer_mark(one) && !has_parameters) mark = &one;
      if (one.is("=")) {
        if (!has_parameters) check_result(mark, has_space);
        skip_statement();
        return;
      }
      if (one.is("(") && !has_parameters) {
        const std::size_t end = behind_closing(at_);
        if (is_parameter_list()) {
          check_result(mark, has_space);
          parameters(at_ + 1, end - 1);
          has_parameters = true;
        }
        at_ = end - 1;
        continue;
      }
      if (one.is("(")) {
        at_ = behind_closing(at_) - 1;
        continue;
      }
      has_initializers = has_initializers || (one.is(":") && has_parameters);
      if (!one.is("{")) continue;
      if (has_initializers && token(at_ - 1).kind == Kind::identifier) {  // `: x{1}`
        at_ = behind_closing(at_) - 1;
        continue;
      }
      if (has_parameters) {
        const std::size_t end = behind_closing(at_);
        statements(at_ + 1, end - 1);
        at_ = end;
        return;
      }
      if (is_enumeration || !(is_class || is_namespace)) {
        at_ = behind_closing(at_) - 1;
        continue;
      }
      ++at_;  // what follows are declarations again
      return;
    }
  }

  void skip_statement() {
    while (at_ < tokens_.size() && !tokens_[at_].is(";")) {
      const Token& one = tokens_[at_];
      at_ = one.is("(") || one.is("{") || one.is("[") ? behind_closing(at_) : at_ + 1;
    }
    ++at_;
  }

  static void check_result(const Token* mark, bool has_space) {
    if (mark != nullptr && !has_space) refuse(*mark, *mark);
  }

  bool is_parameter_list() const {
    static const std::set<std::string_view> others = {"decltype", "sizeof",        "alignas",
                                                      "alignof",  "noexcept",      "explicit",
                                                      "requires", "__attribute__", "max_total_threads"};
    const Token& before = token(at_ - 1);
    if (at_ == 0 || others.contains(before.text)) return false;
    return before.kind == Kind::identifier || before.is(">") || (at_ >= 2 && is_operator(at_ - 1));
  }
  bool is_operator(std::size_t i) const {
    for (std::size_t back = 0; back < 4 && back <= i; ++back)
      if (token(i - back).is("operator")) return true;
    return false;
  }

  // Checks the parameters in the tokens [first, end).
  void parameters(std::size_t first, std::size_t end) {
    bool has_space = false, is_value = false;
    for (std::size_t i = first; i < end; ++i) {
      const Token& one = tokens_[i];
      if (one.is(",")) {
        has_space = is_value = false;
        continue;
      }
      if (one.is("=")) is_value = true;
      if (is_value && (one.is("(") || one.is("{"))) i = behind_closing(i) - 1;
      if (is_value) continue;
      if (one.is("[")) {
        i = behind_closing(i) - 1;
        continue;
      }
      if (one.is("<")) {
        i = behind_angles(i) - 1;
        continue;
      }
      if (one.is("decltype") || one.is("sizeof")) {
        i = behind_closing(i + 1) - 1;
        continue;
      }
      has_space = has_space || is_address_space(one);
      if (is_pointer_mark(one) && !has_space) refuse(one, one);
    }
  }

  // Variables in the body of a function: `float* p = ...`, at the beginning of a statement.
  void statements(std::size_t first, std::size_t end) const {
    for (std::size_t i = first; i < end; ++i) {
      const Token& before = token(i - 1);
      const bool begins = before.kind == Kind::directive || before.is(";") || before.is("{") || before.is("}") ||
                          (before.is("(") && i >= 2 && token(i - 2).is("for"));
      if (begins) variable(i);
    }
  }
  void variable(std::size_t i) const {
    static const std::set<std::string_view> others = {"auto", "return", "case", "else", "sizeof", "co_return"};
    while (token(i).is("const") || token(i).is("volatile") || token(i).is("static") || token(i).is("constexpr")) ++i;
    if (token(i).kind != Kind::identifier || is_address_space(token(i)) || others.contains(token(i).text)) return;
    ++i;
    while (token(i).is("::") || token(i).is("const")) i += token(i).is("::") ? 2 : 1;
    if (token(i).is("<")) {
      const std::size_t behind = behind_angles(i);
      if (behind == i + 1) return;
      i = behind;
    }
    if (token(i).is("const")) ++i;
    if (!is_pointer_mark(token(i))) return;
    const Token& mark = token(i);
    while (is_pointer_mark(token(i)) || token(i).is("const")) ++i;
    if (token(i).kind != Kind::identifier) return;
    const Token& next = token(i + 1);
    if (next.is("=") || next.is(";") || next.is("[") || next.is(",") || next.is("{")) refuse(mark, mark);
  }

  // `(float*)x`, `reinterpret_cast<float*>(x)`
  void check_casts() const {
    for (std::size_t i = 1; i + 1 < tokens_.size(); ++i) {
      if (!is_pointer_mark(tokens_[i]) || !(tokens_[i + 1].is(")") || tokens_[i + 1].is(">"))) continue;
      std::size_t open = i;
      bool has_space = false;
      while (open > 0 && !tokens_[open].is("(") && !tokens_[open].is("<") && !tokens_[open].is(",") &&
             !tokens_[open].is(";") && !tokens_[open].is("{")) {
        has_space = has_space || is_address_space(tokens_[open]);
        --open;
      }
      if (has_space || open + 1 >= i || open == 0) continue;
      const bool is_cast =
          tokens_[i + 1].is(")") && tokens_[open].is("(") && tokens_[open - 1].kind != Kind::identifier;
      const bool is_named = tokens_[i + 1].is(">") && tokens_[open].is("<") &&
                            (tokens_[open - 1].text.ends_with("_cast") || tokens_[open - 1].is("as_type"));
      if (is_cast || is_named) refuse(tokens_[i], tokens_[i]);
    }
  }

  const std::vector<Token>& tokens_;
  std::size_t at_ = 0;
};

}  // namespace

void check_address_spaces(const std::vector<Token>& tokens) { Checker(tokens).run(); }

}  // namespace emulation::metal
