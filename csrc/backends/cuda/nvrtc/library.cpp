#include "nvrtc/library.h"

#include <array>

#include "nvrtc/kernel_headers.h"
#include "nvrtc/large_stack.h"
#include "nvrtc/library_paths.h"

namespace ferrule::cuda {
namespace {

constexpr int oldest_version = 12000;  // the first with C++20

std::string text_of_version(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// The greatest architecture whose code runs on the device: of the same major number, and no newer. 0 if there is none.
int architecture_for(int compute, const std::vector<int>& supported) {
  int best = 0;
  for (const int one : supported)
    if (one / 10 == compute / 10 && one <= compute && one > best) best = one;
  return best;
}

// Destroys a program of NVRTC.
struct OwnedProgram {
  const NvrtcFunctions& functions;
  NvrtcFunctions::Program handle = nullptr;
  explicit OwnedProgram(const NvrtcFunctions& functions) : functions(functions) {}
  OwnedProgram(const OwnedProgram&) = delete;
  OwnedProgram& operator=(const OwnedProgram&) = delete;
  ~OwnedProgram() {
    if (handle != nullptr) functions.DestroyProgram(&handle);
  }
};

// False if the library lacks a function, which `complaint` then names.
bool find_functions(void* library, NvrtcFunctions& functions, std::string& complaint) {
  const auto find = [&](auto& slot, const char* name) { return find_function(library, name, slot, complaint); };
  return find(functions.Version, "nvrtcVersion") && find(functions.GetNumSupportedArchs, "nvrtcGetNumSupportedArchs") &&
         find(functions.GetSupportedArchs, "nvrtcGetSupportedArchs") &&
         find(functions.GetErrorString, "nvrtcGetErrorString") && find(functions.CreateProgram, "nvrtcCreateProgram") &&
         find(functions.DestroyProgram, "nvrtcDestroyProgram") &&
         find(functions.CompileProgram, "nvrtcCompileProgram") &&
         find(functions.GetProgramLogSize, "nvrtcGetProgramLogSize") &&
         find(functions.GetProgramLog, "nvrtcGetProgramLog") && find(functions.GetCUBINSize, "nvrtcGetCUBINSize") &&
         find(functions.GetCUBIN, "nvrtcGetCUBIN");
}

}  // namespace

std::unique_ptr<const Nvrtc> Nvrtc::open(const std::string& file, int compute, std::string& complaint) {
  const std::vector<std::string> files = file.empty() ? library_files() : std::vector{file};
  return open_first(files, complaint, [compute](void* library, const std::string& one, std::string& problem) {
    return use(library, one, compute, problem);
  });
}

std::unique_ptr<const Nvrtc> Nvrtc::use(void* library, const std::string& file, int compute, std::string& problem) {
  NvrtcFunctions functions{};
  if (!find_functions(library, functions, problem)) return nullptr;
  int major = 0, minor = 0, count = 0;
  if (functions.Version(&major, &minor) != NvrtcFunctions::success) {
    problem = "nvrtcVersion failed";
    return nullptr;
  }
  std::unique_ptr<Nvrtc> nvrtc(new Nvrtc(file, functions));  // the constructor is private
  nvrtc->version_ = 1000 * major + 10 * minor;
  if (nvrtc->version_ < oldest_version) {
    problem = "it is of CUDA " + text_of_version(nvrtc->version_) + ", and kernels need " +
              text_of_version(oldest_version) + " or later";
    return nullptr;
  }
  std::vector<int> supported;
  if (functions.GetNumSupportedArchs(&count) == NvrtcFunctions::success && count > 0) {
    supported.resize(static_cast<size_t>(count));
    if (functions.GetSupportedArchs(supported.data()) != NvrtcFunctions::success) supported.clear();
  }
  nvrtc->architecture_ = architecture_for(compute, supported);
  if (nvrtc->architecture_ != 0) return nvrtc;
  problem =
      "it does not compile for compute capability " + std::to_string(compute / 10) + "." + std::to_string(compute % 10);
  return nullptr;
}

std::string Nvrtc::error_of(const char* function, int result) const {
  const char* const text = functions_.GetErrorString(result);
  return std::string(function) + " returned " + (text != nullptr ? text : std::to_string(result));
}

std::vector<uint8_t> Nvrtc::compile(const std::string& text) const {
  const auto require = [&](int result, const char* function) {
    if (result != NvrtcFunctions::success) throw CompilationError(error_of(function, result));
  };
  std::vector<std::string> contents;
  std::vector<const char*> headers, names;
  for (const KernelHeader& header : kernel_headers()) contents.emplace_back(header.text);
  for (const std::string& content : contents) headers.push_back(content.c_str());
  for (const KernelHeader& header : kernel_headers()) names.push_back(header.name);
  OwnedProgram program(functions_);
  require(functions_.CreateProgram(&program.handle, text.c_str(), "generated.cu", static_cast<int>(headers.size()),
                                   headers.data(), names.data()),
          "nvrtcCreateProgram");
  // The options with which nvcc compiles the kernels of the module, so that both give the same bits.
  const std::string architecture = "--gpu-architecture=" + this->architecture();
  const std::array options = {architecture.c_str(), "-std=c++20", "-fmad=false"};
  int result = NvrtcFunctions::success;
  call_with_large_stack(
      [&] { result = functions_.CompileProgram(program.handle, static_cast<int>(options.size()), options.data()); });
  if (result != NvrtcFunctions::success) {
    size_t size = 0;
    std::string log;
    if (functions_.GetProgramLogSize(program.handle, &size) == NvrtcFunctions::success && size > 1) {
      log.resize(size);
      if (functions_.GetProgramLog(program.handle, log.data()) != NvrtcFunctions::success) log.clear();
      log.resize(log.find('\0') == std::string::npos ? log.size() : log.find('\0'));
    }
    throw CompilationError(error_of("nvrtcCompileProgram", result) + (log.empty() ? "" : ":\n" + log));
  }
  size_t size = 0;
  require(functions_.GetCUBINSize(program.handle, &size), "nvrtcGetCUBINSize");
  if (size == 0) throw CompilationError("nvrtcGetCUBINSize returned no machine code");
  std::vector<uint8_t> code(size);
  require(functions_.GetCUBIN(program.handle, reinterpret_cast<char*>(code.data())), "nvrtcGetCUBIN");
  return code;
}

}  // namespace ferrule::cuda
