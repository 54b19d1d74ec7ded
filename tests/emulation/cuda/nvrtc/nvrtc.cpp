// NVRTC over the emulator: compiles the text of kernels with the compiler of the build to a shared library, which
// cudaLibraryLoadData of the emulator takes as machine code (emulation/compiled_code.h). Names, values and rules:
// NVRTC, version 13. Variables: docs/develop/emulators.md.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulation/compiled_code.h"
#include "emulation/fake_library.h"

namespace fs = std::filesystem;

// A program and what its compilation gave.
struct _nvrtcProgram {
  std::string text;
  std::vector<std::pair<std::string, std::string>> headers;  // names and texts
  std::string log;
  std::string code;
};

namespace {

enum Result : int {
  success = 0,
  out_of_memory = 1,
  invalid_input = 3,
  invalid_program = 4,
  invalid_option = 5,
  compilation = 6,
};

using emulation::log_call;
using emulation::variable;

struct Settings {
  int major = 13, minor = 0;
  std::vector<int> architectures = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
  bool fails = false, is_broken = false, lacks_memory = false;
  bool gives_first = false;    // all programs get the machine code of the first one
  std::size_t least_size = 0;  // bytes of machine code
};
// Read at each call. Ends the process for a value that it does not understand.
Settings settings() {
  Settings read;
  const std::string text = variable("FERRULE_EMULATION_NVRTC");
  int end = 0;
  int architecture = 0;
  if (text == "fails") {
    read.fails = true;
  } else if (text == "broken") {
    read.is_broken = true;
  } else if (text == "out_of_memory") {
    read.lacks_memory = true;
  } else if (text == "first") {
    read.gives_first = true;
  } else if (std::sscanf(text.c_str(), "size:%zu%n", &read.least_size, &end) == 1 &&
             text.size() == static_cast<std::size_t>(end)) {
  } else if (std::sscanf(text.c_str(), "version:%d.%d%n", &read.major, &read.minor, &end) == 2 &&
             text.size() == static_cast<std::size_t>(end)) {
  } else if (std::sscanf(text.c_str(), "architecture:%d%n", &architecture, &end) == 1 &&
             text.size() == static_cast<std::size_t>(end)) {
    read.architectures = {architecture};
  } else if (!text.empty()) {
    std::fprintf(stderr, "FERRULE_EMULATION_NVRTC is '%s', which is not understood\n", text.c_str());
    std::abort();
  }
  return read;
}

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}
std::string read(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

// The folder is made, and removed with everything in it.
struct OwnFolder {
  fs::path path;
  OwnFolder() {
    std::string name = (fs::temp_directory_path() / "emulated-nvrtc-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) path = name;
  }
  OwnFolder(const OwnFolder&) = delete;
  OwnFolder& operator=(const OwnFolder&) = delete;
  ~OwnFolder() {
    std::error_code error;
    if (!path.empty()) fs::remove_all(path, error);
  }
};

// The variables of CUDA are those of the library itself; a kernel's caller sets them. Its threads cannot let others
// run.
constexpr const char* ending = R"(
#include "emulation/compiled_code.h"
constinit thread_local emulation::Index threadIdx, blockIdx, blockDim, gridDim;
void emulation::poll(const Site&) {}
static void set_indices(const emulation::Index& thread, const emulation::Index& block,
                        const emulation::Index& block_size, const emulation::Index& grid_size) {
  threadIdx = thread, blockIdx = block, blockDim = block_size, gridDim = grid_size;
}
extern "C" {
[[gnu::visibility("default")]] extern const emulation::CompiledImage emulated_compiled_image;
}
const emulation::CompiledImage emulated_compiled_image = {&emulation::own_code_image, set_indices};
)";

std::string quoted(const fs::path& path) { return "'" + path.string() + "'"; }

// Returns whether it succeeded; `log` gets what the compiler says.
bool compile(const _nvrtcProgram& program, std::string& log, std::string& code) {
  const OwnFolder folder;
  if (folder.path.empty()) return log = "no temporary folder can be made", false;
  for (const auto& [name, text] : program.headers) write(folder.path / name, text);
  const fs::path source = folder.path / "generated.cpp", library = folder.path / "generated.so";
  write(source, program.text + ending);
  const std::string command = quoted(FERRULE_EMULATION_COMPILER) + " " FERRULE_EMULATION_OPTIONS " -include " +
                              quoted(FERRULE_EMULATION_HEADER) + " -shared -Wl,-z,defs -I" + quoted(folder.path) +
                              " -I" + quoted(FERRULE_EMULATION_FOLDER) + " -I" +
                              quoted(FERRULE_EMULATION_THREADS_FOLDER) + " " + quoted(source) + " -o " +
                              quoted(library) + " 2>&1";
  // The command is made of paths of this build and of its own folder. NOLINTNEXTLINE(bugprone-command-processor)
  std::FILE* const output = ::popen(command.c_str(), "r");
  if (output == nullptr) return log = "the compiler cannot be started", false;
  char part[4096];
  for (std::size_t size = 0; (size = std::fread(part, 1, sizeof part, output)) != 0;) log.append(part, size);
  if (::pclose(output) != 0) return false;
  std::string bytes = read(library);
  bytes.resize(std::max(bytes.size(), settings().least_size));  // the loader ignores bytes behind a library
  const emulation::CompiledCode head = {emulation::CompiledCode::right_magic, bytes.size()};
  code.assign(reinterpret_cast<const char*>(&head), sizeof head);
  code += bytes;
  return true;
}

// Writes the program to a folder, for tests that compile it with another compiler.
void keep_program(const _nvrtcProgram& program, const std::string& options) {
  const fs::path folder = variable("FERRULE_EMULATION_NVRTC_FOLDER");
  static std::atomic<int> number{0};
  if (folder.empty()) return;
  for (const auto& [name, text] : program.headers) write(folder / "headers" / name, text);
  const std::string stem = std::to_string(++number);
  write(folder / (stem + ".options"), options);
  write(folder / (stem + ".cu"), program.text);
}

}  // namespace

FERRULE_EXPORTED const char* nvrtcGetErrorString(int result) {
  switch (result) {
    case success:
      return "NVRTC_SUCCESS";
    case out_of_memory:
      return "NVRTC_ERROR_OUT_OF_MEMORY";
    case invalid_option:
      return "NVRTC_ERROR_INVALID_OPTION";
    case invalid_program:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    case compilation:
      return "NVRTC_ERROR_COMPILATION";
    default:
      return "NVRTC_ERROR_INVALID_INPUT";
  }
}

FERRULE_EXPORTED int nvrtcVersion(int* major, int* minor) {
  const Settings set = settings();
  *major = set.major;
  *minor = set.minor;
  return success;
}

FERRULE_EXPORTED int nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(settings().architectures.size());
  return success;
}

FERRULE_EXPORTED int nvrtcGetSupportedArchs(int* architectures) {
  const Settings set = settings();
  std::copy(set.architectures.begin(), set.architectures.end(), architectures);
  return success;
}

FERRULE_EXPORTED int nvrtcCreateProgram(_nvrtcProgram** program, const char* text, const char*, int count,
                                        const char* const* headers, const char* const* names) {
  log_call("nvrtcCreateProgram");
  if (program == nullptr || text == nullptr || count < 0) return invalid_input;
  if (settings().lacks_memory) return out_of_memory;
  auto made = std::make_unique<_nvrtcProgram>();
  made->text = text;
  for (int i = 0; i < count; ++i) made->headers.emplace_back(names[i], headers[i]);
  *program = made.release();
  return success;
}

FERRULE_EXPORTED int nvrtcDestroyProgram(_nvrtcProgram** program) {
  if (program == nullptr || *program == nullptr) return invalid_program;
  log_call("nvrtcDestroyProgram");
  delete *program;
  *program = nullptr;
  return success;
}

// NVRTC needs megabytes of stack: a caller with less ends the process.
[[gnu::noinline]] static int use_stack(int kibibytes) {
  volatile char bytes[8 << 10] = {};
  return bytes[0] + (kibibytes <= 8 ? 0 : use_stack(kibibytes - 8) + bytes[1]);
}

FERRULE_EXPORTED int nvrtcCompileProgram(_nvrtcProgram* program, int count, const char* const* options) {
  log_call("nvrtcCompileProgram");
  if (program == nullptr) return invalid_program;
  if (use_stack(4096) != 0) return invalid_input;
  const Settings set = settings();
  std::string all;
  bool has_architecture = false;
  for (int i = 0; i < count; ++i) {
    const std::string option = options[i];
    constexpr std::string_view prefix = "--gpu-architecture=sm_";
    const bool is_architecture =
        option.starts_with(prefix) && std::find(set.architectures.begin(), set.architectures.end(),
                                                std::atoi(option.c_str() + prefix.size())) != set.architectures.end();
    if (!is_architecture && option != "-std=c++20" && option != "-fmad=false") {
      program->log = "nvrtc: error: unrecognized option " + option + " found\n";
      return invalid_option;
    }
    has_architecture = has_architecture || is_architecture;
    all += option + "\n";
  }
  if (!has_architecture) return invalid_option;
  keep_program(*program, all);
  if (set.fails) {
    program->log = "generated.cu(1): error: FERRULE_EMULATION_NVRTC says so\n";
    return compilation;
  }
  static std::mutex mutex;
  static std::string first;
  if (set.gives_first) {
    const std::lock_guard lock(mutex);
    if (first.empty() && !compile(*program, program->log, first)) return compilation;
    program->code = first;
  } else if (!compile(*program, program->log, program->code)) {
    return compilation;
  }
  if (set.is_broken) program->code = "no machine code of a GPU";
  return success;
}

FERRULE_EXPORTED int nvrtcGetProgramLogSize(_nvrtcProgram* program, std::size_t* size) {
  if (program == nullptr) return invalid_program;
  *size = program->log.size() + 1;
  return success;
}

FERRULE_EXPORTED int nvrtcGetProgramLog(_nvrtcProgram* program, char* log) {
  if (program == nullptr) return invalid_program;
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return success;
}

FERRULE_EXPORTED int nvrtcGetCUBINSize(_nvrtcProgram* program, std::size_t* size) {
  if (program == nullptr || program->code.empty()) return invalid_program;
  *size = program->code.size();
  return success;
}

FERRULE_EXPORTED int nvrtcGetCUBIN(_nvrtcProgram* program, char* code) {
  if (program == nullptr || program->code.empty()) return invalid_program;
  program->code.copy(code, program->code.size());
  return success;
}
