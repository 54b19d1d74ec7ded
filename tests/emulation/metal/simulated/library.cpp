#include "metal/simulated/library.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "metal/objc/faults.h"
#include "metal/simulated/checksum.h"

namespace simulated {

using objc::create;
using objc::method;

namespace {

constexpr const char* domain = "MTLLibraryErrorDomain";
constexpr long unsupported = 1, compile_failure = 3;  // of MTLLibraryError
constexpr std::array<std::size_t, 11> languages = {0x10001, 0x10002, 0x20000, 0x20001, 0x20002, 0x20003,
                                                   0x20004, 0x30000, 0x30001, 0x30002, 0x40000};

}  // namespace

Object* CompileOptions::copy() {
  auto* const made = create<CompileOptions>();
  made->is_fast_ = is_fast_;
  made->language_ = language_;
  return made;
}

const objc::Class& CompileOptions::own_class() {
  static const auto& one = *new objc::Class(
      "MTLCompileOptions", &objc::root_class(), objc::Class::Kind::named,
      [] { return static_cast<Object*>(create<CompileOptions>()); },
      {method<&CompileOptions::set_fast>("setFastMathEnabled:"), method<&CompileOptions::is_fast>("fastMathEnabled"),
       method<&CompileOptions::set_math_mode>("setMathMode:"), method<&CompileOptions::math_mode>("mathMode"),
       method<&CompileOptions::set_language>("setLanguageVersion:"),
       method<&CompileOptions::language>("languageVersion"), method<&CompileOptions::copy>("copy")});
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
  if (const auto* const given = objc::checked<CompileOptions>(options, selector); given != nullptr) {
    wanted.fast_math = given->is_fast();
    if (std::find(languages.begin(), languages.end(), given->language()) == languages.end()) {
      objc::set_error(error, domain, unsupported,
                      "the language version " + std::to_string(given->language()) + " is not supported");
      return nullptr;
    }
  }
  try {
    auto compiled = emulation::metal::Library::compile(text->text(), wanted);
    log_line("compiled a library");
    return create<Library>(device, std::move(compiled), checksum_of(text->text() + (wanted.fast_math ? "+" : "-")));
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

Object* Library::names() const {
  std::vector<Owned<Object>> all;
  for (const std::string& name : compiled_->function_names())
    all.push_back(Owned<Object>::adopt(create<objc::String>(name)));
  return objc::autoreleased(create<objc::Array>(std::move(all)));
}

const objc::Class& Library::own_class() {
  static const auto& one = *new objc::Class(
      "MTLLibrary", &objc::root_class(), objc::Class::Kind::inner, nullptr,
      {method<&Library::new_function>("newFunctionWithName:"), method<&Library::names>("functionNames"),
       method<&Library::its_device>("device"), set_label<Library>(), get_label<Library>()});
  return one;
}

const objc::Class& Function::own_class() {
  static const auto& one =
      *new objc::Class("MTLFunction", &objc::root_class(), objc::Class::Kind::inner, nullptr,
                       {method<&Function::name>("name"), method<&Function::type>("functionType"),
                        method<&Function::device>("device"), set_label<Function>(), get_label<Function>()});
  return one;
}

}  // namespace simulated
