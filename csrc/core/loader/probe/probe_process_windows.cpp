#include "core/loader/probe/probe_process.h"

#if defined(_WIN32)
#include "core/error.h"
#include "core/platform/libraries/library_paths.h"
#include "module_file/path_text.h"
#include "windows/process.h"
#include "windows/text.h"

#include <windows.h>

#include <chrono>
#include <system_error>

namespace ferrule {
namespace {

constexpr std::size_t largest_answer = std::size_t{1} << 20;

// A running ferrule-probe. It ends, with all its descendants, when its standard input is closed, and so when this
// process ends.
class ProbeProcess {
 public:
  ProbeProcess(const std::filesystem::path& probe, const std::filesystem::path& module, const ProbeLimits& limits) {
    // Modules find libraries beside this program, and the probe is another program.
    started_ = windows::start_process(
        probe.native(),
        {"--life", "--milliseconds", std::to_string(limits.milliseconds), "--mebibytes",
         std::to_string(limits.mebibytes), "--library-folder", path_to_text(executable_dir()), path_to_text(module)},
        {life_.reader.get(), answer_.writer.get(), nullptr});
    life_.reader.close();
    answer_.writer.close();
  }
  ProbeProcess(const ProbeProcess&) = delete;
  ProbeProcess& operator=(const ProbeProcess&) = delete;
  // The job of the probe ends the module's processes when it is ended itself.
  ~ProbeProcess() {
    if (!has_answered_) TerminateProcess(started_.process.get(), 1);
    WaitForSingleObject(started_.process.get(), INFINITE);
  }

  // Everything that the probe prints until it ends. Throws timeout after `patience`, io when the answer is unusable.
  std::string answer(std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    std::string text;
    while (windows::read_available(answer_.reader, text, largest_answer)) {
      if (text.size() > largest_answer) break;
      if (std::chrono::steady_clock::now() > deadline) fail(FE_TIMEOUT, "its probe does not answer, and was ended");
      constexpr DWORD step = 2;  // ms
      if (WaitForSingleObject(started_.process.get(), step) != WAIT_OBJECT_0) continue;
      // All that it wrote is in the pipe now, which another child of this process may keep open.
      windows::read_available(answer_.reader, text, largest_answer);
      break;
    }
    if (text.size() > largest_answer) fail(FE_IO, "the answer of its probe is too long");
    if (text.empty()) fail(FE_IO, "its probe was ended from outside before it answered");
    has_answered_ = true;
    return text;
  }

 private:
  windows::Pipe life_, answer_;
  windows::Process started_;
  bool has_answered_ = false;
};

}  // namespace

std::string run_probe(const std::filesystem::path& probe, const std::filesystem::path& module,
                      const ProbeLimits& limits) {
  // The probe keeps the limit itself; the extra time is for ending the processes that it started.
  constexpr std::chrono::seconds grace{8};
  try {
    return ProbeProcess(probe, module, limits).answer(std::chrono::milliseconds(limits.milliseconds) + grace);
  } catch (const std::system_error& error) {
    fail(FE_IO, "{} could not be started: {}", path_to_text(probe),
         windows::error_text(static_cast<unsigned long>(error.code().value())));
  }
}

}  // namespace ferrule
#endif
