#include "metal/library/compiler.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <future>
#include <optional>
#include <random>
#include <sstream>
#include <vector>

#include "metal/library/kernel_text.h"
#include "metal/library/compiler_process.h"
#include "metal/library/strict_checks.h"

namespace emulation::metal {
namespace {

namespace fs = std::filesystem;

constexpr const char* compiler = FERRULE_EMULATION_METAL_COMPILER;
constexpr const char* folder = FERRULE_EMULATION_METAL_FOLDER;  // this one's parent
constexpr const char* stub = FERRULE_EMULATION_METAL_STUB;      // the object file of stub.c

constexpr const char* linker = "-fuse-ld=bfd";  // starts faster than lld

// ---- names of compiled libraries
using Digest = std::array<std::uint64_t, 2>;

// FNV-1a, twice with different beginnings: the files are no secret, and only their own texts compete for a name.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char one : bytes) {
      for (std::uint64_t& value : values_) value = (value ^ static_cast<unsigned char>(one)) * 0x100000001b3U;
      values_[1] = (values_[1] << 29 | values_[1] >> 35) + 0x9e3779b97f4a7c15U;
    }
    for (std::uint64_t& value : values_) value = (value ^ bytes.size()) * 0x100000001b3U;
  }
  Digest digest() const { return values_; }

 private:
  Digest values_{0xcbf29ce484222325U, 0x6c62272e07bb0142U};
};

std::string hexadecimal(const Digest& digest) {
  std::ostringstream out;
  for (const std::uint64_t value : digest) {
    out.width(16);
    out.fill('0');
    out << std::hex << value;
  }
  return out.str();
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The files of a folder of the emulator, sorted.
std::vector<fs::path> files_in(const char* part) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(folder) / part))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// The size and the time of the last change.
std::string stamp_of(const std::string& path) {
  struct stat status {};
  static_cast<void>(::stat(path.c_str(), &status));
  return std::to_string(status.st_size) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
         std::to_string(status.st_mtim.tv_nsec);
}

// A hash of the headers, the emulator's part in C, and the compiler.
const std::string& identity_of_tools() {
  static const std::string made = [] {
    Hash hash;
    for (const char* const part : {"msl", "library"})
      for (const fs::path& path : files_in(part)) {
        hash.add(path.filename().string());
        hash.add(bytes_of(path));
      }
    hash.add(bytes_of(stub));
    std::error_code none;
    const fs::path program = fs::canonical(compiler, none);
    hash.add(program.string() + " " + stamp_of(compiler));
    return hexadecimal(hash.digest());
  }();
  return made;
}

// ---- the folder
fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (std::string own = variable("FERRULE_EMULATION_METAL_CACHE"); !own.empty()) return own;
  if (const std::string all = variable("XDG_CACHE_HOME"); !all.empty()) return fs::path(all) / "ferrule-emulated-metal";
  if (const std::string home = variable("HOME"); !home.empty())
    return fs::path(home) / ".cache" / "ferrule-emulated-metal";
  return fs::temp_directory_path() / "ferrule-emulated-metal";
}

// A file ends with a digest of what is before it: one that is damaged or was written in part is compiled again.
constexpr std::string_view mark = "ferrule-metal-1 ";

std::string trailer_of(std::string_view bytes) {
  Hash hash;
  hash.add(bytes);
  return std::string(mark) + hexadecimal(hash.digest());
}

bool is_whole(const fs::path& path) {
  const std::string all = bytes_of(path);
  const std::size_t length = mark.size() + 32;
  return all.size() > length && std::string_view(all).substr(all.size() - length) ==
                                    trailer_of(std::string_view(all).substr(0, all.size() - length));
}

// A folder that is removed at the end.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) : path_((parent / "compiling-XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw CompileError("the emulator of Metal cannot write to " + parent.string() +
                         " (FERRULE_EMULATION_METAL_CACHE names another folder)");
  }
  ~TemporaryFolder() {
    std::error_code none;
    fs::remove_all(path_, none);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  fs::path operator/(const char* name) const { return fs::path(path_) / name; }

 private:
  std::string path_;
};

void write(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw CompileError("the emulator of Metal cannot write " + path.string());
}

// ---- clang
// Options of every call of clang. They exclude clang's own headers of OpenCL, whose functions MSL does not have.
std::vector<std::string> language() {
  return {compiler, "-x", "clcpp", "-cl-std=clc++2021", "-cl-no-stdinc", "-nostdinc", "-target", "x86_64-linux-gnu",
          "-cl-single-precision-constant", "-fno-color-diagnostics", "-fno-crash-diagnostics", "-isystem",
          std::string(folder) + "/msl", "-Wno-duplicate-decl-specifier", "-D__METAL_VERSION__=310", "-D__METAL__=1",
          "-D__METAL_MACOS__=1",
          // Half-precision sums are rounded one by one, as on a GPU.
          "-Xclang", "-ffloat16-excess-precision=none", "-Xclang", "-fbfloat16-excess-precision=none"};
}

std::vector<std::string> code_options(const CompileOptions& options) {
  // Metal fuses multiply-adds unless a pragma forbids it.
  std::vector<std::string> all = {
      "-O2", "-g1", "-fPIC", "-fvisibility=hidden", "-funwind-tables", "-ffp-contract=fast-honor-pragmas"};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c"))
    all.insert(all.end(), {"-mavx2", "-mfma", "-mf16c", "-mbmi", "-mlzcnt", "-mpopcnt"});
  if (options.fast_math) all.insert(all.end(), {"-cl-fast-relaxed-math", "-D__FAST_MATH__=1"});
    // The runtime is that of the process, which g++ has linked.
#if defined(__SANITIZE_ADDRESS__)
  all.insert(all.end(), {"-fsanitize=address", "-fno-sanitize-link-runtime"});
#endif
#if defined(FERRULE_EMULATION_TSAN)
  all.insert(all.end(), {"-fsanitize=thread", "-fno-sanitize-link-runtime"});
#endif
  return all;
}

template <class... Lists>
std::vector<std::string> joined(std::vector<std::string> first, const Lists&... others) {
  (first.insert(first.end(), others.begin(), others.end()), ...);
  return first;
}

// The headers of msl/, compiled with these options: reading them takes longer than reading most texts. clang refuses
// them when the headers have changed, or are in another folder.
std::string compiled_headers(const std::vector<std::string>& options, const fs::path& parent) {
  const std::string all = std::string(folder) + "/msl/ferrule/all.h";
  Hash hash;
  hash.add(identity_of_tools());
  for (const std::string& option : options) hash.add(option);
  for (const fs::path& file : files_in("msl")) hash.add(file.string() + " " + stamp_of(file.string()));
  const fs::path own = parent / "headers", path = own / (hexadecimal(hash.digest()) + ".pch");
  if (fs::exists(path)) return path.string();
  fs::create_directories(own);
  const TemporaryFolder place(own);
  const fs::path made = place / "headers.pch";
  const CompilerResult result =
      run_compiler(joined(options, std::vector<std::string>{"-c", "-Xclang", "-emit-pch", "-o", made.string(), all}));
  if (!fs::exists(made)) throw CompileError(result.errors);
  fs::rename(made, path);
  return path.string();
}

std::vector<std::string> with_headers(const std::vector<std::string>& options, const fs::path& parent) {
  return joined(options,
                std::vector<std::string>{"-Xclang", "-include-pch", "-Xclang", compiled_headers(options, parent)});
}

// The text after the preprocessor.
std::string preprocess(std::string_view text, const TemporaryFolder& place, const CompileOptions& options) {
  const fs::path file = place / "source.metal";
  write(file, "# 1 \"" + std::string(source_name) + "\"\n" + std::string(text));
  std::vector<std::string> command = joined(language(), std::vector<std::string>{"-E", file.string()});
  if (options.fast_math) command.push_back("-D__FAST_MATH__=1");
  const CompilerResult result = run_compiler(command);
  if (!result.succeeded) throw CompileError(result.errors);
  return result.output;
}

// Compiles to LLVM's language first, in which recursion can be seen, and then to a library.
CompilerResult generate(const std::string& code, const TemporaryFolder& place, const CompileOptions& options,
                        const fs::path& parent, const fs::path& made) {
  const fs::path file = place / "code.ll";
  CompilerResult result = run_compiler(joined(
      with_headers(joined(language(), code_options(options)), parent),
      std::vector<std::string>{"-S", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-o", file.string(), code}));
  if (!result.succeeded) return result;
  if (const std::string refused = recursion_in(bytes_of(file)); !refused.empty()) return {false, {}, refused};
  // Separately: clang does a single step without another process.
  const std::vector<std::string> common = {compiler, "-target", "x86_64-linux-gnu",
                                           "-Wno-unused-command-line-argument"};
  const std::string object = place / "code.o";
  result = run_compiler(joined(common, code_options(options), std::vector<std::string>{"-c", "-o", object, file}));
  if (!result.succeeded) return result;
  return run_compiler(
      joined(common, std::vector<std::string>{"-shared", "-nostdlib", linker, "-o", made.string(), object, stub}));
}

void compile(std::string_view text, const CompileOptions& options, const fs::path& parent, const fs::path& target) {
  const TemporaryFolder place(parent);
  const LibraryText prepared = library_text(preprocess(text, place, options));
  const fs::path code = place / "code.cl", checked = place / "checked.cl", made = place / "library.so";
  write(code, prepared.text + entries_of(prepared.kernels));
  write(checked, prepared.text);
  auto refusal = std::async(std::launch::async, [&] {
    return refusal_of_address_spaces(with_headers(joined(language(), options_of_strict_checks()), parent),
                                     checked.string());
  });
  const CompilerResult result = generate(code.string(), place, options, parent, made);
  const std::string refused = refusal.get();
  if (!refused.empty()) throw CompileError(refused);
  if (!result.succeeded) throw CompileError(result.errors);
  const std::string bytes = bytes_of(made);
  std::ofstream(made, std::ios::binary | std::ios::app) << trailer_of(bytes);
  fs::rename(made, target);
}

}  // namespace

std::string compiled_library(std::string_view text, const CompileOptions& options) {
  Hash hash;
  hash.add(text);
  hash.add(identity_of_tools());
  for (const std::string& option : joined(language(), code_options(options))) hash.add(option);
  const fs::path parent = cache_folder();
  const fs::path path = parent / (hexadecimal(hash.digest()) + ".so");
  if (is_whole(path)) return path.string();
  std::error_code none;
  fs::create_directories(parent, none);
  try {
    compile(text, options, parent, path);
  } catch (const CompileError&) {
    throw;
  } catch (const std::exception& error) {  // of files and processes
    throw CompileError("the emulator of Metal: " + std::string(error.what()));
  }
  return path.string();
}

void forget_library(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace emulation::metal
