#include "metal/library/strict_checks.h"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>

#include "metal/library/kernel_text.h"
#include "metal/library/compiler_process.h"

namespace emulation::metal {
namespace {

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// "'device int *' to ..." has names of Metal in place of those of OpenCL.
std::string in_words_of_metal(std::string_view text) {
  static constexpr std::array<std::array<std::string_view, 2>, 8> words = {{{"'__global'", "'device'"},
                                                                            {"'__constant'", "'constant'"},
                                                                            {"'__local'", "'threadgroup'"},
                                                                            {"'__private'", "'thread'"},
                                                                            {"__global ", "device "},
                                                                            {"__constant ", "constant "},
                                                                            {"__local ", "threadgroup "},
                                                                            {"__private ", "thread "}}};
  std::string out(text);
  for (const auto& [from, to] : words)
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size()))
      out.replace(at, from.size(), to);
  return out;
}

// The first name of an address space between quotation marks in a type, of what is pointed to.
std::string_view space_of_type(std::string_view type) {
  static constexpr std::array<std::string_view, 4> spaces = {"__global", "__constant", "__local", "__private"};
  std::string_view found;
  std::size_t first = type.size();
  for (const std::string_view one : spaces) {
    const std::size_t at = type.find(one);
    if (at < first) first = at, found = one;
  }
  return found;
}

// The texts between quotation marks.
std::vector<std::string_view> quoted(std::string_view line) {
  std::vector<std::string_view> found;
  for (;;) {
    const std::size_t begin = line.find('\'');
    if (begin == std::string_view::npos) return found;
    const std::size_t end = line.find('\'', begin + 1);
    if (end == std::string_view::npos) return found;
    found.push_back(line.substr(begin + 1, end - begin - 1));
    line.remove_prefix(end + 1);
  }
}

// Two types of pointers or references that differ in their address spaces.
bool names_two_spaces(std::string_view line) {
  std::vector<std::string_view> spaces;
  for (const std::string_view type : quoted(line)) {
    if (!has(type, "*") && !has(type, "&")) continue;
    const std::string_view space = space_of_type(type.substr(0, type.find_first_of("*&")));
    if (!space.empty()) spaces.push_back(space);
  }
  return spaces.size() >= 2 && spaces[0] != spaces[1];
}

bool is_mismatch_of_argument(std::string_view note) {
  if (has(note, "implicit") || has(note, "unqualified") || has(note, "default")) return false;
  return has(note, "cannot pass pointer to address space") || has(note, "cannot bind reference in address space") ||
         (has(note, "'this' object is in address space") && has(note, "but method expects object in address space"));
}

struct Message {
  std::string_view error;
  std::vector<std::string_view> notes, lines;
};

bool is_refused_by_metal(const Message& message) {
  const std::string_view error = message.error;
  if (!error.starts_with(source_name)) return false;
  // Metal converts other types to bfloat only explicitly. clang warns of conversions that may lose something.
  if (has(error, ": warning: ")) {
    const std::vector<std::string_view> types = quoted(error);
    return has(error, "implicit conversion") && types.size() >= 2 && has(types[types.size() - 1], "bf");
  }
  if (has(error, "program scope variable must reside in constant address space")) return true;
  if (has(error, "mismatching address spaces") || has(error, "changes address space of")) return true;
  if (has(error, "cannot initialize object parameter")) {
    const std::vector<std::string_view> types = quoted(error);
    return types.size() == 2 && has(types[1], "__") && space_of_type(types[0]) != space_of_type(types[1]);
  }
  if (has(error, "cannot initialize") || has(error, "incompatible") || has(error, "is not allowed") ||
      has(error, "cannot be initialized") || has(error, "cannot bind"))
    return names_two_spaces(error);
  if (has(error, "'this' argument to member function") && has(error, "is not marked"))
    return has(error, "'const __global") || has(error, "'__global") || has(error, "'const __local") ||
           has(error, "'__local") || has(error, "'const __constant") || has(error, "'__constant");
  if (!has(error, "no matching function for call") && !has(error, "no matching member function for call")) return false;
  const auto is_candidate = [](std::string_view note) { return has(note, "candidate "); };
  return std::any_of(message.notes.begin(), message.notes.end(), is_candidate) &&
         std::all_of(message.notes.begin(), message.notes.end(),
                     [&](std::string_view note) { return !is_candidate(note) || is_mismatch_of_argument(note); });
}

}  // namespace

std::string refusals_in_log(std::string_view log) {
  std::vector<Message> messages;
  for (const std::string_view line : lines_of(log)) {
    if (has(line, ": error: ") || has(line, ": warning: ")) messages.push_back({line, {}, {}});
    if (messages.empty()) continue;
    if (has(line, ": note: ")) messages.back().notes.push_back(line);
    messages.back().lines.push_back(line);
  }
  std::string out;
  for (const Message& message : messages) {
    if (!is_refused_by_metal(message)) continue;
    for (const std::string_view line : message.lines)
      if (!has(line, " generated.")) out += in_words_of_metal(line) + "\n";
  }
  return out;
}

std::vector<std::string> options_of_strict_checks() {
  const std::string extensions =
      "-cl-ext=-__opencl_c_generic_address_space,-__opencl_c_pipes,-__opencl_c_device_enqueue,"
      "-__opencl_c_program_scope_global_variables";
  // The headers have such refused lines that do not count.
  return {"-DFERRULE_STRICT", "-Xclang", "-fallow-pch-with-compiler-errors", "-Xclang", extensions};
}

std::string refusal_of_address_spaces(std::vector<std::string> command, const std::string& file) {
  command.insert(command.end(), {"-fsyntax-only", "-ferror-limit=0", "-Wimplicit-float-conversion",
                                 "-Wimplicit-int-float-conversion", file});
  return refusals_in_log(run_compiler(command).errors);
}

// ---- recursion
namespace {

// The name behind the first @ from `from` on.
std::string_view name_in(std::string_view line, std::size_t from) {
  const std::size_t at = line.find('@', from);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + 1);
  if (rest.starts_with('"')) return rest.substr(1, rest.find('"', 1) - 1);
  return rest.substr(0, rest.find_first_of("(, "));
}

std::string demangled(std::string_view name) {
  const std::string text(name);
  int status = 0;
  char* const found = abi::__cxa_demangle(text.c_str(), nullptr, nullptr, &status);
  std::string out = found == nullptr ? text : found;
  std::free(found);
  return out;
}

struct CalledFunctions {
  std::set<std::string_view> called;
  std::string_view description;  // such as !12
};

}  // namespace

std::string recursion_in(std::string_view code) {
  std::map<std::string_view, CalledFunctions> functions;
  std::map<std::string_view, std::string_view> descriptions;
  CalledFunctions* current = nullptr;
  for (const std::string_view line : lines_of(code)) {
    if (line.starts_with("define ")) {
      current = &functions[name_in(line, 0)];
      const std::size_t at = line.rfind("!dbg ");
      if (at != std::string_view::npos) current->description = line.substr(at + 5, line.find(' ', at + 5) - at - 5);
    } else if (line.starts_with('}')) {
      current = nullptr;
    } else if (line.starts_with('!') && has(line, "!DISubprogram(")) {
      descriptions[line.substr(0, line.find(' '))] = line;
    } else if (const std::size_t at = line.find("call "); current != nullptr && at != std::string_view::npos) {
      if (const std::string_view name = name_in(line, at); !name.empty()) current->called.insert(name);
    }
  }
  std::map<std::string_view, int> states;  // 1: under way, 2: done
  std::string_view found;
  const std::function<void(std::string_view)> visit = [&](std::string_view name) {
    const auto one = functions.find(name);
    if (one == functions.end() || states[name] == 2 || !found.empty()) return;
    if (states[name] == 1) {
      found = name;
      return;
    }
    states[name] = 1;
    for (const std::string_view next : one->second.called) visit(next);
    states[name] = 2;
  };
  for (const auto& [name, function] : functions) visit(name);
  if (found.empty()) return "";
  const std::string_view description = descriptions[functions[found].description];
  const std::size_t at = description.find("line: ");
  const std::string_view line =
      at == std::string_view::npos ? "0" : description.substr(at + 6, description.find_first_of(",)", at) - at - 6);
  return std::string(source_name) + ":" + std::string(line) +
         ": error: recursive function calls are not supported in " + "Metal: '" + demangled(found) + "'\n";
}

}  // namespace emulation::metal
