#include "nvrtc/generated_kernels.h"

#include <exception>

#include "device/errors.h"

namespace ferrule::cuda {
namespace {

// The library of a kernel, with the machine code that it was loaded from.
struct LoadedCode {
  std::vector<uint8_t> code;
  cudaLibrary_t library = nullptr;
  int device;

  LoadedCode(std::vector<uint8_t> code, int device) : code(std::move(code)), device(device) {}
  LoadedCode(const LoadedCode&) = delete;
  LoadedCode& operator=(const LoadedCode&) = delete;
  ~LoadedCode() {
    const DeviceScope scope(device);
    if (library != nullptr && cudaLibraryUnload(library) != cudaSuccess) cudaGetLastError();
  }
};

void log(fe_log_level level, const char* text, const std::string& of) noexcept try {
  sdk::host->log(level, ("cuda: " + (text + of)).c_str());
} catch (const std::exception&) {  // no memory to say it with
}

bool is_ready(const std::shared_future<std::optional<LoadedKernel>>& made) {
  return made.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

}  // namespace

bool GeneratedKernels::can_compile(bool with_math) {
  std::call_once(opening_, [&] {
    const std::string& setting = device_.settings().nvrtc;
    if (setting == "0") return;
    std::string complaint;
    nvrtc_ = Nvrtc::open(setting, device_.capabilities().compute, complaint);
    if (nvrtc_ != nullptr) {
      cache_ = std::make_unique<CodeCache>(*nvrtc_);
      log(FE_LOG_INFO, "kernels are generated for ", device_.name() + " by " + nvrtc_->file());
    } else {
      log(FE_LOG_INFO, "no kernels are generated, as there is no NVRTC: ", complaint);
    }
  });
  return nvrtc_ != nullptr && (!with_math || nvrtc_->version() == CUDART_VERSION);
}

std::optional<LoadedKernel> GeneratedKernels::get(const std::string& text) {
  std::promise<std::optional<LoadedKernel>> promise;
  std::list<Entry> idle;  // unloaded without the lock
  Made known;
  {
    const std::lock_guard lock(mutex_);
    if (const auto found = by_text_.find(text); found != by_text_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      known = found->second->made;
    } else {
      entries_.push_front({text, promise.get_future().share()});
      try {
        by_text_.emplace(entries_.front().text, entries_.begin());
      } catch (...) {
        entries_.pop_front();
        throw;
      }
      idle = take_idle();
    }
  }
  if (known.valid()) return known.get();
  std::optional<LoadedKernel> made = make(text);
  promise.set_value(made);
  return made;
}

// Removes idle kernels beyond the limit. Idle means that no graph holds the library; the entry's future holds it once.
std::list<GeneratedKernels::Entry> GeneratedKernels::take_idle() {
  std::list<Entry> taken;
  size_t idle = 0;
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto next = std::next(entry);
    const bool is_idle = is_ready(entry->made) && (!entry->made.get() || entry->made.get()->library.use_count() == 1);
    if (is_idle && ++idle > max_idle_) {
      by_text_.erase(entry->text);
      taken.splice(taken.end(), entries_, entry);
    }
    entry = next;
  }
  return taken;
}

std::optional<LoadedKernel> GeneratedKernels::make(const std::string& text) noexcept {
  try {
    std::string complaint;
    if (!can_compile(false)) return std::nullopt;
    if (const auto code = cache_->find(text)) {
      if (auto kernel = load(*code, complaint)) return kernel;
      log(FE_LOG_INFO, "a generated kernel of the cache is compiled again: ", complaint);
    }
    const std::vector<uint8_t> code = nvrtc_->compile(text);
    if (auto kernel = load(code, complaint)) {
      cache_->put(text, code);
      return kernel;
    }
    throw sdk::Error(FE_UNSUPPORTED, complaint);
  } catch (const std::exception& error) {
    log(has_warned_.exchange(true) ? FE_LOG_INFO : FE_LOG_WARNING,
        "a generated kernel cannot be used, and the module's own is used in its place: ", error.what());
  }
  return std::nullopt;
}

std::optional<LoadedKernel> GeneratedKernels::load(const std::vector<uint8_t>& code, std::string& complaint) {
  const auto loaded = std::make_shared<LoadedCode>(code, device_.physical().number);
  const auto succeeds = [&](cudaError_t error, const char* call) {
    if (!device_.note(error, call)) return true;
    complaint = std::string(call) + " returned " + text_of(error);
    return false;
  };
  cudaKernel_t kernel = nullptr;
  cudaFuncAttributes attributes{};
  if (!succeeds(cudaLibraryLoadData(&loaded->library, loaded->code.data(), nullptr, nullptr, 0, nullptr, nullptr, 0),
                "cudaLibraryLoadData") ||
      !succeeds(cudaLibraryGetKernel(&kernel, loaded->library, kernel_name), "cudaLibraryGetKernel"))
    return std::nullopt;
  LoadedKernel result{.function = reinterpret_cast<const void*>(kernel)};
  // The driver loads code when it is first asked for. An error must show before the code is put into the cache.
  if (!succeeds(cudaFuncGetAttributes(&attributes, result.function), "cudaFuncGetAttributes")) return std::nullopt;
  result.library = loaded;
  return result;
}

void GeneratedKernels::save() noexcept {
  if (cache_ != nullptr) cache_->save();
}

}  // namespace ferrule::cuda
