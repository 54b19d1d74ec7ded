// NVRTC, NVIDIA's compiler of CUDA C++ at run time: a library that a machine may have.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ferrule::cuda {

// The functions of nvrtc.h, which the module is built without.
struct NvrtcFunctions {
  using Program = struct _nvrtcProgram*;
  static constexpr int success = 0;

  int (*Version)(int* major, int* minor);
  int (*GetNumSupportedArchs)(int* count);
  int (*GetSupportedArchs)(int* architectures);
  const char* (*GetErrorString)(int result);
  int (*CreateProgram)(Program* program, const char* text, const char* name, int count, const char* const* headers,
                       const char* const* include_names);
  int (*DestroyProgram)(Program* program);
  int (*CompileProgram)(Program program, int count, const char* const* options);
  int (*GetProgramLogSize)(Program program, size_t* size);
  int (*GetProgramLog)(Program program, char* log);
  int (*GetCUBINSize)(Program program, size_t* size);
  int (*GetCUBIN)(Program program, char* code);
};

// A text that NVRTC did not compile. what() has NVRTC's log.
class CompilationError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Thread-safe. The library stays open until the process ends.
class Nvrtc {
 public:
  // Opens `file`, or without one the first library that works: of the package nvidia-cuda-nvrtc beside the module's,
  // or of the loader's search path. Null if there is none that compiles for a device of this compute capability;
  // `complaint` then says why.
  static std::unique_ptr<const Nvrtc> open(const std::string& file, int compute, std::string& complaint);

  const std::string& file() const { return file_; }
  int version() const { return version_; }  // as CUDART_VERSION: 13000 for 13.0
  std::string architecture() const { return "sm_" + std::to_string(architecture_); }
  // Compiles a text, which may include the headers of kernel_headers.h, to machine code. Throws CompilationError.
  std::vector<uint8_t> compile(const std::string& text) const;

 private:
  Nvrtc(std::string file, const NvrtcFunctions& functions) : file_(std::move(file)), functions_(functions) {}
  // Null for a library that does not suit; `problem` then says why.
  static std::unique_ptr<const Nvrtc> use(void* library, const std::string& file, int compute, std::string& problem);
  std::string error_of(const char* function, int result) const;

  const std::string file_;
  const NvrtcFunctions functions_;
  int version_ = 0, architecture_ = 0;
};

}  // namespace ferrule::cuda
