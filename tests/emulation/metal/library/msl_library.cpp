#include "metal/msl_library.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "emulation/environment.h"
#include "emulation/launch.h"
#include "metal/library/compiler.h"
#include "metal/library/host.h"
#include "metal/library/kernel_call.h"
#include "metal/library/kernel_text.h"

namespace emulation::metal {
namespace {

// Loads a file under a name of its own, for an emulator that is not the first one of the process to load it.
void* open_copy(const std::string& path) {
  const std::filesystem::path copy =
      std::filesystem::temp_directory_path() / ("emulated-metal-" + std::to_string(::getpid()) + "-XXXXXX");
  std::string name = copy.string();
  const int descriptor = ::mkstemp(name.data());
  if (descriptor < 0) return nullptr;
  ::close(descriptor);
  std::error_code failed;
  std::filesystem::copy_file(path, name, std::filesystem::copy_options::overwrite_existing, failed);
  void* const handle = failed ? nullptr : ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  ::unlink(name.c_str());
  return handle;
}

// Says to a loaded library which emulator runs it. False if it belongs to another one.
bool connect(void* handle) {
  auto* const place = static_cast<const ferrule_host**>(::dlsym(handle, "ferrule_host"));
  const auto* const version = static_cast<const unsigned*>(::dlsym(handle, "ferrule_version"));
  if (place == nullptr || version == nullptr) return false;
  if (*version != FERRULE_HOST_VERSION)
    throw CompileError("the emulator of Metal was built before its headers changed: build this program again");
  if (*place != nullptr && *place != &host()) return false;
  *place = &host();
  return true;
}

}  // namespace

bool Library::load(const std::string& path) {
  handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ != nullptr && !connect(handle_)) {
    ::dlclose(handle_);
    handle_ = open_copy(path);
    if (handle_ != nullptr && !connect(handle_)) return false;
  }
  if (handle_ == nullptr) return false;
  const auto* const description = static_cast<const char*>(::dlsym(handle_, "ferrule_description"));
  if (description == nullptr) return false;
  std::istringstream lines(description);
  const std::uint64_t* numbers = nullptr;
  for (std::string word, name; lines >> word >> name;) {
    if (word == "kernel") {
      Function& made = functions_.emplace_back();
      made.name_ = name;
      made.entry_ = reinterpret_cast<void (*)(const void*)>(::dlsym(handle_, ("ferrule_entry_" + name).c_str()));
      numbers = static_cast<const std::uint64_t*>(::dlsym(handle_, ("ferrule_numbers_" + name).c_str()));
      if (made.entry_ == nullptr || numbers == nullptr) return false;
      if (*numbers != 0) made.most_threads_ = static_cast<unsigned>(*numbers);
      ++numbers;
      continue;
    }
    if (functions_.empty()) return false;
    Argument& made = functions_.back().arguments_.emplace_back();
    using Kind = Argument::Kind;
    made.kind = word == "device" ? Kind::device_buffer : Kind::constant_buffer;
    made.name = name;
    made.index = static_cast<unsigned>(*numbers++);
    made.least_bytes = static_cast<std::size_t>(*numbers++);
  }
  for (const Function& function : functions_) {
    if (function.most_threads_ > most_threads_per_threadgroup)
      throw CompileError("kernel '" + function.name_ + "': max_total_threads_per_threadgroup is " +
                         std::to_string(function.most_threads_) + ", more than 1024");
    for (const Argument& one : function.arguments_)
      if (one.index >= most_bindings)
        throw CompileError("kernel '" + function.name_ + "': the number " + std::to_string(one.index) +
                           " of argument '" + one.name + "' is more than 30");
  }
  return true;
}

std::shared_ptr<Library> Library::compile(std::string_view text, const CompileOptions& options) {
  const std::string path = compiled_library(text, options);
  const std::shared_ptr<Library> made(new Library);
  if (made->load(path)) return made;
  const char* const why = ::dlerror();
  forget_library(path);
  throw CompileError("the compiled library cannot be loaded: " + std::string(why == nullptr ? path : why));
}

Library::~Library() {
  if (handle_ != nullptr) ::dlclose(handle_);
}

const Function* Library::find(std::string_view name) const {
  const auto found =
      std::find_if(functions_.begin(), functions_.end(), [&](const Function& one) { return one.name() == name; });
  return found == functions_.end() ? nullptr : &*found;
}

// ---- runs
namespace {

void check(const Dispatch& dispatch) {
  const Function& function = *dispatch.function;
  const auto fail = [&](const std::string& what) { throw KernelError(function.name() + ": " + what); };
  const Index& size = dispatch.threads;
  const std::uint64_t threads = std::uint64_t{size.x} * size.y * size.z;
  if (threads > function.most_threads())
    fail(std::to_string(threads) + " threads of a threadgroup are more than the " +
         std::to_string(function.most_threads()) + " that the kernel may have");
  for (const Argument& one : function.arguments()) {
    const std::string what = "'" + one.name + "' at index " + std::to_string(one.index);
    const Binding& binding = dispatch.buffers[one.index];
    if (binding.address == nullptr) fail("the buffer " + what + " is not bound");
    if (binding.bytes < one.least_bytes)
      fail("the buffer " + what + " has " + std::to_string(binding.bytes) + " bytes, and the kernel reads " +
           std::to_string(one.least_bytes));
  }
}

}  // namespace

void run(const Dispatch& dispatch, Order order, std::uint64_t seed) {
  check(dispatch);
  LaunchShape shape;
  shape.grid = dispatch.groups;
  shape.block = dispatch.threads;
  shape.shared_limit = most_threadgroup_memory;
  shape.order = order;
  shape.seed = seed;
  shape.is_of_cuda = false;  // Metal limits only the threads of a threadgroup
  shape.time_limit = block_limit();
  const CallTable table(dispatch);
  const auto entry = dispatch.function->entry_;
  run_grid(dispatch.function->name(), shape, [&] {
    const KernelCall call(table);
    entry(&call.data());
  });
}

}  // namespace emulation::metal
