// MTLCompileOptions, MTLLibrary and MTLFunction.
#pragma once

#include <memory>
#include <string>

#include "metal/msl_library.h"
#include "metal/simulated/device.h"

namespace simulated {

class CompileOptions : public Object {
 public:
  static const objc::Class& own_class();
  CompileOptions() : Object(own_class()) {}
  bool is_fast() const { return is_fast_; }
  // MTLMathFloatingPointFunctions: before macOS 15 they follow the mode, from then on they are fast unless a program
  // chooses precise ones.
  bool has_fast_functions() const;
  std::size_t language() const { return language_; }

 private:
  void set_fast(bool is_fast) { is_fast_ = is_fast; }
  void set_math_mode(long mode);
  void set_math_functions(long functions);
  bool responds(const char* selector) const;
  void set_language(std::size_t version) { language_ = version; }
  bool is_fast_ = true, are_functions_fast_ = true;
  std::size_t language_ = 0x30001;  // the one that a program of today gets if it sets none
};

class Library : public Object {
 public:
  static const objc::Class& own_class();
  // newLibraryWithSource:options:error:
  static Library* compile(Device& device, Object* source, Object* options, Object** error);
  Library(Device& device, std::shared_ptr<const emulation::metal::Library> compiled, std::string key, bool has_matrices)
      : Object(own_class()),
        device_(&device),
        compiled_(std::move(compiled)),
        key_(std::move(key)),
        has_matrices_(has_matrices) {}
  const std::shared_ptr<const emulation::metal::Library>& compiled() const { return compiled_; }
  // Stands for the text and the options.
  const std::string& key() const { return key_; }
  Device& device() const { return *device_; }
  // Whether its text names matrices of SIMD-groups.
  bool has_matrices() const { return has_matrices_; }

 private:
  Object* new_function(Object* name);
  const Owned<Device> device_;
  const std::shared_ptr<const emulation::metal::Library> compiled_;
  const std::string key_;
  const bool has_matrices_;
};

class Function : public Object {
 public:
  static const objc::Class& own_class();
  Function(Library& library, const emulation::metal::Function& compiled)
      : Object(own_class()), library_(&library), compiled_(&compiled) {}
  const Library& library() const { return *library_; }
  const emulation::metal::Function& compiled() const { return *compiled_; }
  // Stands for the function in binary archives.
  std::string key() const { return library_->key() + " " + compiled_->name(); }

 private:
  const Owned<Library> library_;
  const emulation::metal::Function* const compiled_;
};

}  // namespace simulated
