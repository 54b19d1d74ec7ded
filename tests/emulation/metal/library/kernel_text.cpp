#include "metal/library/kernel_text.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "metal/library/address_space_rules.h"
#include "metal/library/tokens.h"
#include "metal/msl_library.h"

namespace emulation::metal {
namespace {

using Kind = Token::Kind;

// Words that MSL does not allow (Metal Shading Language Specification, "Restrictions") and clang does.
const std::map<std::string_view, std::string_view> refused_words = {
    {"double", "'double' is not supported in Metal"},
    {"goto", "'goto' is not supported in Metal"},
    {"register", "'register' is not supported in Metal"},
    {"thread_local", "'thread_local' is not supported in Metal"},
    {"virtual", "virtual functions are not supported in Metal"},
    {"try", "exceptions are not supported in Metal"},
    {"catch", "exceptions are not supported in Metal"},
    {"throw", "exceptions are not supported in Metal"},
    {"new", "'new' is not supported in Metal"},
    {"delete", "'delete' is not supported in Metal"},
    {"dynamic_cast", "'dynamic_cast' is not supported in Metal"},
    {"typeid", "'typeid' is not supported in Metal"},
    {"asm", "'asm' is not supported in Metal"},
    {"__asm__", "'asm' is not supported in Metal"},
};

// Words of OpenCL that MSL does not reserve.
const std::set<std::string_view> words_of_opencl = {
    "global",    "local",      "generic",    "pipe",      "read_only",    "write_only", "read_write",
    "vec_step",  "event_t",    "queue_t",    "sampler_t", "clk_event_t",  "image1d_t",  "image2d_t",
    "image3d_t", "__constant", "__global",   "__local",   "__private",    "__generic",  "__kernel",
    "printf",    "uniform",    "work_group", "ndrange_t", "reserve_id_t",
};

// Attributes of parameters, with the name of the field of the emulator's table (entries.h).
const std::map<std::string_view, std::string_view> value_attributes = {
    {"thread_position_in_grid", "thread_position_in_grid"},
    {"threadgroup_position_in_grid", "threadgroup_position_in_grid"},
    {"thread_position_in_threadgroup", "thread_position_in_threadgroup"},
    {"threads_per_threadgroup", "threads_per_threadgroup"},
    {"dispatch_threads_per_threadgroup", "threads_per_threadgroup"},
    {"threadgroups_per_grid", "threadgroups_per_grid"},
    {"threads_per_grid", "threads_per_grid"},
    {"thread_index_in_threadgroup", "thread_index_in_threadgroup"},
    {"thread_index_in_simdgroup", "thread_index_in_simdgroup"},
    {"simdgroup_index_in_threadgroup", "simdgroup_index_in_threadgroup"},
    {"simdgroups_per_threadgroup", "simdgroups_per_threadgroup"},
    {"dispatch_simdgroups_per_threadgroup", "simdgroups_per_threadgroup"},
    {"threads_per_simdgroup", "threads_per_simdgroup"},
    {"thread_execution_width", "threads_per_simdgroup"},
};
const std::set<std::string_view> positions = {"thread_position_in_grid",        "threadgroup_position_in_grid",
                                              "thread_position_in_threadgroup", "threads_per_threadgroup",
                                              "threadgroups_per_grid",          "threads_per_grid"};

[[noreturn]] void refuse(const Token& at, const std::string& what) {
  throw CompileError(std::string(source_name) + ":" + std::to_string(at.line) + ": error: " + what);
}

// float4, ushort2, packed_half3, ...
bool is_vector_type(std::string_view word) {
  if (word.starts_with("packed_")) word.remove_prefix(7);
  static constexpr std::array<std::string_view, 12> elements = {"float",  "half", "bfloat", "int",  "uint",  "short",
                                                                "ushort", "char", "uchar",  "long", "ulong", "bool"};
  if (word.empty() || word.back() < '2' || word.back() > '4') return false;
  word.remove_suffix(1);
  return std::find(elements.begin(), elements.end(), word) != elements.end();
}

bool is_address_space(std::string_view word) {
  return word == "device" || word == "constant" || word == "thread" || word == "threadgroup";
}

class Rewriter {
 public:
  explicit Rewriter(std::string_view text) : text_(text), tokens_(tokens_of(text)) {}

  LibraryText run() {
    check_words();
    check_address_spaces(tokens_);
    for (at_ = 0; at_ < tokens_.size();) step();
    out_.text += text_.substr(copied_);
    return std::move(out_);
  }

 private:
  struct Attribute {
    std::string_view name;
    std::string argument;
    std::size_t first = 0;  // its token
  };

  const Token& token(std::size_t i) const {
    static const Token none;
    return i < tokens_.size() ? tokens_[i] : none;
  }
  const Token& last() const { return tokens_.back(); }

  void check_words() const {
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& one = tokens_[i];
      if (one.kind != Kind::identifier) continue;
      // clang itself warns of values other than literals (strict_checks.cpp).
      if (one.is("bfloat") && token(i + 2).is("=") && token(i + 3).kind == Kind::number)
        refuse(one, "cannot initialize a variable of type 'bfloat' with a literal of another type");
      if (const auto found = refused_words.find(one.text); found != refused_words.end())
        refuse(one, std::string(found->second));
      if (one.text.starts_with("ferrule_") && !one.is("ferrule_threadgroup_memory"))
        refuse(one, "names that begin with ferrule_ belong to the emulator");
    }
  }

  // The token behind the bracket that closes the one at `open`.
  std::size_t behind_closing(std::size_t open) const {
    std::size_t depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const std::string_view one = tokens_[i].text;
      if (tokens_[i].kind != Kind::punctuation) continue;
      if (one == "(" || one == "[" || one == "{") ++depth;
      if ((one == ")" || one == "]" || one == "}") && --depth == 0) return i + 1;
    }
    refuse(tokens_[open], "'" + std::string(tokens_[open].text) + "' without its end");
  }
  // The same of `<`.
  std::size_t behind_angles(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < tokens_.size(); ++i) {
      const std::string_view one = tokens_[i].text;
      if (one == "(" || one == "[") {
        i = behind_closing(i) - 1;
        continue;
      }
      if (one == ";" || one == "{" || one == "}") break;
      if (one == "<") ++depth;
      if (one == ">" && --depth == 0) return i + 1;
    }
    return open;  // a comparison
  }

  std::size_t end_of(std::size_t i) const { return tokens_[i].begin + tokens_[i].text.size(); }
  std::string text_of(std::size_t first, std::size_t end) const {
    std::string all;
    for (std::size_t i = first; i < end; ++i) all += (all.empty() ? "" : " ") + std::string(tokens_[i].text);
    return all;
  }

  // Writes `replacement` in place of the tokens [first, end), and keeps their ends of lines.
  void replace(std::size_t first, std::size_t end, std::string_view replacement) {
    const std::size_t begin = tokens_[first].begin, behind = end_of(end - 1);
    out_.text += text_.substr(copied_, begin - copied_);
    out_.text += replacement;
    for (const char c : text_.substr(begin, behind - begin))
      if (c == '\n') out_.text += '\n';
    copied_ = behind;
    at_ = end;
  }

  bool is_attribute(std::size_t i) const { return token(i).is("[") && token(i + 1).is("["); }

  // [[a, b(c)]] at `i`, which becomes the token behind it.
  std::vector<Attribute> read_attributes(std::size_t& i) const {
    std::vector<Attribute> found;
    const std::size_t end = behind_closing(i);
    for (std::size_t k = i + 2; k + 2 < end; ++k) {
      Attribute one{tokens_[k].text, "", k};
      while (token(k + 1).is("::")) k += 2, one.name = token(k).text;
      if (token(k + 1).is("(")) {
        const std::size_t behind = behind_closing(k + 1);
        one.argument = text_of(k + 2, behind - 1);
        k = behind - 1;
      }
      found.push_back(one);
      if (token(k + 1).is(",")) ++k;
    }
    i = end;
    return found;
  }

  void step() {
    const Token& one = tokens_[at_];
    if (one.kind == Kind::directive) return directive();
    if (is_attribute(at_)) return attributes();
    if (one.kind != Kind::identifier) return leave();
    if (one.is("kernel")) return kernel();
    if (one.is("ferrule_threadgroup_memory")) return threadgroup_macro();
    if (one.is("threadgroup") && begins_statement(at_) && threadgroup_declaration()) return;
    if (is_address_space(one.text) && is_method_qualifier(at_))
      return replace(at_, at_ + 1, "ferrule_method_" + std::string(serves_temporaries(at_) ? "any" : one.text));
    if (words_of_opencl.contains(one.text)) return replace(at_, at_ + 1, "ferrule_user_" + std::string(one.text));
    if (one.is("static_cast") && is_cast_to_value(at_)) return replace(at_, at_ + 1, "ferrule_cast");
    if (const std::size_t end = end_of_constructed_type(at_); end != 0)
      return replace(at_, end, "ferrule_make<" + text_of(at_, end) + ">");
    leave();
  }

  void leave() {
    if (body_end_ == ++at_) body_end_ = 0;
  }

  void directive() {
    const std::string_view all = tokens_[at_].text;
    static constexpr std::array<std::string_view, 3> modes = {"off", "on", "fast"};
    if (all.find("METAL internals") != std::string_view::npos) return replace(at_, at_ + 1, "");
    if (all.find("METAL") != std::string_view::npos) {
      const std::size_t found = all.find("contract");
      const auto mode = std::find_if(modes.begin(), modes.end(), [&](std::string_view name) {
        return found != std::string_view::npos &&
               all.find("(" + std::string(name) + ")", found) != std::string_view::npos;
      });
      if (mode == modes.end()) refuse(tokens_[at_], "unknown pragma: " + std::string(all));
      return replace(at_, at_ + 1, "#pragma clang fp contract(" + std::string(*mode) + ")");
    }
    leave();
  }

  // Attributes outside of the heads of kernels.
  void attributes() {
    std::size_t end = at_;
    for (const Attribute& one : read_attributes(end)) {
      if (one.name == "kernel" || one.name == "max_total_threads_per_threadgroup") return kernel();
      static const std::set<std::string_view> known = {"maybe_unused", "nodiscard", "likely", "unlikely",
                                                       "fallthrough"};
      // Metal takes those of parameters of kernels on other functions, too, and does nothing there.
      const bool is_of_parameter = one.name == "buffer" || value_attributes.contains(one.name);
      if (!known.contains(one.name) && !is_of_parameter)
        refuse(tokens_[one.first], "unknown attribute '" + std::string(one.name) + "'");
    }
    replace(at_, end, "");
  }

  bool begins_statement(std::size_t i) const {
    if (i == 0) return true;
    const Token& before = tokens_[i - 1];
    return before.kind == Kind::directive || before.is(";") || before.is("{") || before.is("}");
  }

  // `int sum() const device`
  bool is_method_qualifier(std::size_t i) const {
    std::size_t before = i;
    while (before > 0 && (tokens_[before - 1].is("const") || tokens_[before - 1].is("volatile"))) --before;
    if (before == 0 || !tokens_[before - 1].is(")")) return false;
    const Token& next = token(i + 1);
    return next.is("{") || next.is(";") || next.is(":") || next.is("const") || next.is("->") || next.is("=");
  }

  // A constructor or a constant method of thread, whose `thread` stands at `i`.
  bool serves_temporaries(std::size_t i) const {
    if (!tokens_[i].is("thread")) return false;
    if (tokens_[i - 1].is("const") || token(i + 1).is(":")) return true;
    std::size_t open = i - 1;
    for (int depth = 0; open > 0; --open) {
      if (tokens_[open].is(")")) ++depth;
      if (tokens_[open].is("(") && --depth == 0) break;
    }
    if (open < 2) return false;
    const Token& before = tokens_[open - 2];  // what stands in front of the name
    return before.is(";") || before.is("{") || before.is("}") || before.is(":") || before.is("constexpr") ||
           before.is("explicit") || before.is(">");
  }

  // clang converts no half to bfloat; ferrule_cast does.
  bool is_cast_to_value(std::size_t i) const {
    if (!token(i + 1).is("<")) return false;
    const std::size_t end = behind_angles(i + 1);
    if (end == i + 1) return false;
    for (std::size_t k = i + 2; k < end; ++k)
      if (tokens_[k].is("*") || tokens_[k].is("&") || tokens_[k].is("&&") || tokens_[k].is("void")) return false;
    return true;
  }

  // A vector's type whose constructor is called; returns the token behind the type, or 0.
  std::size_t end_of_constructed_type(std::size_t i) const {
    std::size_t end = i + 1;
    if (tokens_[i].is("vec") && token(i + 1).is("<"))
      end = behind_angles(i + 1);
    else if (!is_vector_type(tokens_[i].text))
      return 0;
    if (!token(end).is("(") || token(end + 1).is("&") || token(end + 1).is("*")) return 0;
    std::size_t before = i;  // of the qualified name
    while (before >= 2 && tokens_[before - 1].is("::")) before -= 2;
    return before > 0 && tokens_[before - 1].is("operator") ? 0 : end;
  }

  // ---- kernels
  void kernel() {
    const std::size_t first = at_;
    std::size_t i = at_;
    KernelText made;
    bool is_kernel = false;
    const auto take = [&](const std::vector<Attribute>& attributes) {
      for (const Attribute& one : attributes) {
        if (one.name == "kernel")
          is_kernel = true;
        else if (one.name == "max_total_threads_per_threadgroup")
          made.most_threads = one.argument;
        else
          refuse(tokens_[one.first], "unknown attribute '" + std::string(one.name) + "' of a kernel");
      }
    };
    for (;;) {
      if (is_attribute(i)) {
        take(read_attributes(i));
      } else if (token(i).is("kernel")) {
        is_kernel = true;
        ++i;
      } else {
        break;
      }
    }
    if (!is_kernel) refuse(tokens_[first], "an attribute of kernels on another function");
    if (scope_depth(first) != 0) refuse(tokens_[first], "the emulator takes kernels only outside of namespaces");
    if (first > 0 && tokens_[first - 1].is(">"))
      refuse(tokens_[first], "the emulator takes no templates of kernels: call a template from a kernel");
    if (!token(i).is("void")) refuse(token(i), "a kernel must return void");
    const Token& name = token(i + 1);
    if (name.kind != Kind::identifier || !token(i + 2).is("(")) refuse(name, "a kernel has a name and parameters");
    made.name = name.text;
    for (const KernelText& other : out_.kernels)
      if (other.name == made.name) refuse(name, "two kernels are called '" + made.name + "'");
    replace(first, i + 2, "void " + made.name);
    const std::size_t parameters_end = behind_closing(i + 2);
    for (std::size_t k = i + 3; k + 1 < parameters_end;) k = parameter(made, k, parameters_end - 1);
    // The rest of the parameters is copied without attributes.
    at_ = parameters_end;
    std::size_t behind = parameters_end;
    while (is_attribute(behind)) {
      const std::size_t begin = behind;
      take(read_attributes(behind));
      replace(begin, behind, "");
    }
    if (token(behind).is("{")) {
      check_bindings(made, name);
      body_end_ = behind_closing(behind);
      out_.kernels.push_back(std::move(made));
    } else if (!token(behind).is(";")) {
      refuse(token(behind), "the body of kernel '" + made.name + "' is missing");
    }
  }

  std::size_t scope_depth(std::size_t end) const {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < end; ++i) {
      if (tokens_[i].kind != Kind::punctuation) continue;
      if (tokens_[i].is("{")) ++depth;
      if (tokens_[i].is("}")) --depth;
    }
    return depth;
  }

  // One parameter that begins with token `first`, of those that end at `end`; returns the token behind its comma.
  std::size_t parameter(KernelText& made, std::size_t first, std::size_t end) {
    std::size_t behind = first;
    std::vector<Attribute> attributes;
    std::vector<std::size_t> rest;
    int angles = 0;
    while (behind < end && !(token(behind).is(",") && angles == 0)) {
      if (is_attribute(behind)) {
        const std::size_t begin = behind;
        for (const Attribute& one : read_attributes(behind)) attributes.push_back(one);
        replace(begin, behind, "");
        continue;
      }
      if (token(behind).is("<")) ++angles;
      if (token(behind).is(">")) --angles;
      rest.push_back(behind);
      if (words_of_opencl.contains(token(behind).text))
        replace(behind, behind + 1, "ferrule_user_" + std::string(token(behind).text));
      ++behind;
    }
    const Token& begin = token(first);
    if (rest.size() < 2 || tokens_[rest.back()].kind != Kind::identifier)
      refuse(begin, "a parameter of a kernel has a type and a name");
    KernelParameter one;
    one.name = tokens_[rest.back()].text;
    rest.pop_back();
    std::string_view space;
    bool is_pointer = false;
    for (const std::size_t i : rest) {
      const std::string_view word = tokens_[i].text;
      if (is_address_space(word) && space.empty()) space = word;
      is_pointer = is_pointer || word == "*";
      one.is_reference = one.is_reference || word == "&";
      if (word == "__restrict" || word == "restrict" || word == "&") continue;
      one.type += (one.type.empty() ? "" : " ") + std::string(word);
    }
    classify(one, begin, attributes, space, is_pointer);
    made.parameters.push_back(std::move(one));
    return behind < end ? behind + 1 : end;
  }

  static void classify(KernelParameter& one, const Token& at, const std::vector<Attribute>& attributes,
                       std::string_view space, bool is_pointer) {
    const std::string parameter = "parameter '" + one.name + "' of a kernel";
    if (attributes.size() != 1) refuse(at, parameter + " needs one attribute, such as [[buffer(0)]]");
    const Attribute& attribute = attributes[0];
    const bool is_memory = is_pointer || one.is_reference;
    one.attribute = attribute.name;
    one.index = attribute.argument;
    if (attribute.name == "buffer") {
      if (!is_memory || (space != "device" && space != "constant"))
        refuse(at, parameter + " with [[buffer]] must be a pointer or a reference to device or constant memory");
      one.kind = space == "device" ? KernelParameter::Kind::device_buffer : KernelParameter::Kind::constant_buffer;
    } else if (const auto found = value_attributes.find(attribute.name); found != value_attributes.end()) {
      one.attribute = found->second;
      check_value(one, at, parameter, is_memory);
      return;
    } else {
      refuse(at, "unknown attribute '" + std::string(attribute.name) + "' of " + parameter);
    }
    if (one.index.empty()) refuse(at, parameter + " lacks the number in [[" + one.attribute + "]]");
  }

  static void check_value(const KernelParameter& one, const Token& at, const std::string& parameter, bool is_memory) {
    static const std::set<std::string_view> scalars = {"uint", "ushort", "uint32_t", "uint16_t"};
    static const std::set<std::string_view> vectors = {"uint2", "uint3", "ushort2", "ushort3"};
    std::string_view type = one.type;
    if (type.starts_with("const ")) type.remove_prefix(6);
    if (type.starts_with("metal :: ")) type.remove_prefix(9);
    const bool fits = scalars.contains(type) || (vectors.contains(type) && positions.contains(one.attribute));
    if (is_memory || !fits)
      refuse(at, "the type '" + one.type + "' of " + parameter + " does not fit [[" + one.attribute + "]]");
  }

  static void check_bindings(const KernelText& made, const Token& at) {
    std::set<std::string> used;
    for (const KernelParameter& one : made.parameters) {
      if (one.kind == KernelParameter::Kind::value) continue;
      const std::string place = one.attribute + "(" + one.index + ")";
      if (!used.insert(place).second) refuse(at, "two parameters of kernel '" + made.name + "' are [[" + place + "]]");
    }
  }

  // ---- threadgroup memory
  // Writes a reference to memory of the block: `type name extents`.
  std::string shared_memory(const Token& at, const std::string& type, std::string_view name,
                            const std::string& extents) {
    if (body_end_ == 0) refuse(at, "threadgroup memory can only be declared in kernels");
    const std::string alias = "ferrule_type_of_" + std::string(name);
    return "typedef " + type + " " + alias + " " + extents + "; threadgroup " + alias + "& " + std::string(name) +
           " = *(threadgroup " + alias + "*)ferrule_metal_threadgroup(" + std::to_string(++declarations_) +
           ", sizeof(" + alias + "));";
  }

  void threadgroup_macro() {
    const std::size_t first = at_, end = behind_closing(at_ + 1);
    std::vector<std::size_t> commas;
    int depth = 0;
    for (std::size_t i = first + 2; i + 1 < end; ++i) {
      const std::string_view one = tokens_[i].text;
      if (one == "(" || one == "[") ++depth;
      if (one == ")" || one == "]") --depth;
      if (one == "," && depth == 0) commas.push_back(i);
    }
    if (commas.size() < 2) refuse(tokens_[first], "FERRULE_THREADGROUP has a type, a name and extents");
    const std::size_t second = commas.back(), one = commas[commas.size() - 2];
    if (second != one + 2) refuse(tokens_[first], "the second argument of FERRULE_THREADGROUP is a name");
    const std::string text =
        shared_memory(tokens_[first], rewritten(first + 2, one), tokens_[one + 1].text, rewritten(second + 1, end - 1));
    replace(first, end, text);
    if (token(at_).is(";")) replace(at_, at_ + 1, "");
  }

  std::string rewritten(std::size_t first, std::size_t end) const { return text_of(first, end); }

  // `threadgroup float tile[32][33], sum;` of a kernel. False if it is something else, such as a pointer.
  bool threadgroup_declaration() {
    const std::size_t first = at_;
    std::size_t name = 0, end = first + 1;
    std::string made;
    std::string type;
    for (std::size_t i = first + 1; i < tokens_.size(); ++i) {
      const std::string_view one = tokens_[i].text;
      if (one == "<") {
        const std::size_t behind = behind_angles(i);
        if (behind == i) return false;
        i = behind - 1;
        continue;
      }
      if (one == "*" || one == "&" || one == "(" || one == "=" || one == "{") return false;
      if (one != "[" && one != "," && one != ";") continue;
      name = i - 1;
      if (name <= first || (type.empty() && name == first + 1)) return false;
      if (type.empty()) type = text_of(first + 1, name);
      std::size_t behind = i;
      while (token(behind).is("[")) behind = behind_closing(behind);
      made += shared_memory(tokens_[first], type, tokens_[name].text, text_of(i, behind));
      end = behind + 1;
      if (token(behind).is(";")) break;
      if (!token(behind).is(",")) refuse(token(behind), "threadgroup memory has no initial value");
      i = behind;
    }
    replace(first, end, made);
    return true;
  }

  const std::string_view text_;
  const std::vector<Token> tokens_;
  LibraryText out_;
  std::size_t at_ = 0, copied_ = 0;
  std::size_t body_end_ = 0;  // of the kernel that is being read; 0 outside
  unsigned declarations_ = 0;
};

}  // namespace

LibraryText library_text(std::string_view preprocessed) { return Rewriter(preprocessed).run(); }

std::string entries_of(const std::vector<KernelText>& kernels) {
  using ParameterKind = KernelParameter::Kind;
  std::string out = "\n# 1 \"the emulator's entries\"\n", description;
  for (const KernelText& kernel : kernels) {
    std::string call, numbers = kernel.most_threads.empty() ? "0" : "(ulong)(" + kernel.most_threads + ")";
    description += "kernel " + kernel.name + "\\n";
    for (const KernelParameter& one : kernel.parameters) {
      call += call.empty() ? "" : ", ";
      if (one.kind == ParameterKind::value) {
        call += "ferrule_index<" + one.type + ">(call->" + one.attribute + ")";
        continue;
      }
      description += std::string(one.kind == ParameterKind::device_buffer ? "device " : "constant ") + one.name + "\\n";
      numbers += ", (ulong)(" + one.index + "), ";
      numbers += one.is_reference ? "sizeof(" + one.type + ")" : "0";
      call += (one.is_reference ? "*(" : "(") + one.type + (one.is_reference ? "*" : "") + ")call->buffers[" +
              one.index + "]";
    }
    out += "extern \"C\" ferrule_export void ferrule_entry_" + kernel.name +
           "(__global const ferrule_call* call) { ::" + kernel.name + "(" + call + "); }\n";
    out +=
        "extern \"C\" { ferrule_export __global ulong ferrule_numbers_" + kernel.name + "[] = {" + numbers + "}; }\n";
  }
  return out + "extern \"C\" { ferrule_export __global char ferrule_description[] = \"" + description + "\"; }\n";
}

}  // namespace emulation::metal
