#include "metal/simulated/library.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "metal/objc/faults.h"
#include "metal/simulated/checksum.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

constexpr const char* domain = "MTLLibraryErrorDomain";
constexpr long unsupported = 1, compile_failure = 3;  // of MTLLibraryError
constexpr std::string_view matrix_names[] = {"simdgroup_matrix", "simdgroup_float8x8", "simdgroup_half8x8",
                                             "simdgroup_bfloat8x8"};

// The methods of macOS 15.
constexpr std::string_view math_methods[] = {"setMathMode:", "setMathFloatingPointFunctions:"};

bool has_math_methods() { return system_version() >= 15; }
// False, after a fault, where there are none.
bool needs_math_methods(const char* selector) {
  if (has_math_methods()) return true;
  objc::report_fault(std::string("-[MTLCompileOptions ") + selector + "]: unrecognized selector before macOS 15");
  return false;
}

bool names_matrices(const std::string& text) {
  return std::any_of(std::begin(matrix_names), std::end(matrix_names),
                     [&](std::string_view name) { return text.find(name) != std::string::npos; });
}

constexpr std::array<std::size_t, 11> languages = {0x10001, 0x10002, 0x20000, 0x20001, 0x20002, 0x20003,
                                                   0x20004, 0x30000, 0x30001, 0x30002, 0x40000};

}  // namespace

bool CompileOptions::has_fast_functions() const { return has_math_methods() ? are_functions_fast_ : is_fast_; }

void CompileOptions::set_math_mode(long mode) {
  if (needs_math_methods("setMathMode:")) is_fast_ = mode != 0;
}

void CompileOptions::set_math_functions(long functions) {
  if (needs_math_methods("setMathFloatingPointFunctions:")) are_functions_fast_ = functions != 1;
}

bool CompileOptions::responds(const char* selector) const {
  if (selector == nullptr || own_class().find(objc::selector_of(selector)) == nullptr) return false;
  return has_math_methods() ||
         std::find(std::begin(math_methods), std::end(math_methods), selector) == std::end(math_methods);
}

const objc::Class& CompileOptions::own_class() {
  static const auto& one = *new objc::Class(
      "MTLCompileOptions", &objc::root_class(), objc::Class::Kind::named,
      [] { return static_cast<Object*>(create<CompileOptions>()); },
      {method<&CompileOptions::set_fast>("setFastMathEnabled:"), method<&CompileOptions::set_math_mode>("setMathMode:"),
       method<&CompileOptions::set_math_functions>("setMathFloatingPointFunctions:"),
       method<&CompileOptions::responds>("respondsToSelector:"),
       method<&CompileOptions::set_language>("setLanguageVersion:")});
  return one;
}

Library* Library::compile(Device& device, Object* source, Object* options, Object** error) {
  const char* const selector = "newLibraryWithSource:options:error:";
  if (fails(selector)) {
    objc::set_error(error, domain, compile_failure, "the compilation fails by request");
    return nullptr;
  }
  const auto* const text = objc::checked<objc::String>(source, selector);
  if (text == nullptr) {
    if (source == nullptr) objc::report_fault(std::string(selector) + ": the source must not be nil");
    return nullptr;
  }
  emulation::metal::CompileOptions wanted;
  bool has_fast_functions = true;
  if (const auto* const given = objc::checked<CompileOptions>(options, selector); given != nullptr) {
    wanted.fast_math = given->is_fast();
    has_fast_functions = given->has_fast_functions();
    if (std::find(languages.begin(), languages.end(), given->language()) == languages.end()) {
      objc::set_error(error, domain, unsupported,
                      "the language version " + std::to_string(given->language()) + " is not supported");
      return nullptr;
    }
  }
  try {
    auto compiled = emulation::metal::Library::compile(text->text(), wanted);
    log_line(has_fast_functions ? "compiled a library with fast functions" : "compiled a library");
    return create<Library>(device, std::move(compiled), checksum_of(text->text() + (wanted.fast_math ? "+" : "-")),
                           names_matrices(text->text()));
  } catch (const emulation::metal::CompileError& failure) {
    objc::set_error(error, domain, compile_failure, failure.what());
    return nullptr;
  }
}

Object* Library::new_function(Object* name) {
  const char* const selector = "newFunctionWithName:";
  if (fails(selector)) return nullptr;
  const auto* const text = objc::checked<objc::String>(name, selector);
  if (text == nullptr) {
    if (name == nullptr) objc::report_fault("-[MTLLibrary newFunctionWithName:]: the name must not be nil");
    return nullptr;
  }
  const emulation::metal::Function* const found = compiled_->find(text->text());
  return found == nullptr ? nullptr : create<Function>(*this, *found);
}

const objc::Class& Library::own_class() {
  static const auto& one = *new objc::Class("MTLLibrary", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                                            {method<&Library::new_function>("newFunctionWithName:")});
  return one;
}

const objc::Class& Function::own_class() {
  static const auto& one = *new objc::Class("MTLFunction", &objc::root_class(), objc::Class::Kind::inner, nullptr, {});
  return one;
}

}  // namespace simulated
