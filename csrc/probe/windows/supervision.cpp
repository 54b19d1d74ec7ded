#include "module_file/path_text.h"
#include "probe/capture.h"
#include "probe/judgement.h"
#include "probe/supervisor.h"
#include "probe/worker.h"
#include "windows/process.h"

#include <windows.h>

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace ferrule::probe {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

std::wstring own_program() {
  std::wstring path(32768, L'\0');
  path.resize(GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return path;
}

// Describes the exception that an exit code stands for; "" when the code is an exit status.
std::string fault_of(DWORD code) {
  switch (code) {
    case EXCEPTION_ACCESS_VIOLATION:
      return "an access violation (invalid memory access)";
    case EXCEPTION_ILLEGAL_INSTRUCTION:
      return "an illegal instruction (one that this processor does not have)";
    case EXCEPTION_STACK_OVERFLOW:
      return "a stack overflow";
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
      return "a division by zero";
    case static_cast<DWORD>(0xC0000409):  // STATUS_STACK_BUFFER_OVERRUN, which also __fastfail and abort() end with
      return "a fast fail (it called abort, or its stack is damaged)";
    case static_cast<DWORD>(0xC0000374):
      return "heap corruption";
    default:
      return code >= 0xC0000000 ? fmt::format("the exception {:#010x}", code) : "";
  }
}

// The C library of Windows ends a line by "\r\n".
std::string with_plain_ends_of_lines(std::string text) {
  for (std::size_t at = 0; (at = text.find("\r\n", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

class Supervision {
 public:
  explicit Supervision(const Trial& trial)
      : trial_(trial), limits_(trial.limits), job_(trial.limits.bytes), output_(trial.limits.output) {}

  json run() {
    start();
    watch();
    json verdict = judge();
    std::vector<std::string> left = job_.names();
    std::erase(left, "conhost.exe");  // Windows starts it beside each program of the console
    const bool all_ended = job_.end(3000);
    if (!left.empty())
      notes_.push_back(fmt::format("it leaves processes behind, which were ended: {}", fmt::join(left, ", ")));
    if (!all_ended) notes_.emplace_back("processes of it could not be ended");
    verdict["notes"] = notes_;
    verdict["output"] = with_plain_ends_of_lines(output_.text());
    verdict["milliseconds"] = milliseconds();
    return verdict;
  }

 private:
  double milliseconds() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }

  void start() {
    const std::string answer = std::to_string(reinterpret_cast<uintptr_t>(answer_pipe_.writer.get()));
    void* const printed = output_pipe_.writer.get();
    worker_ =
        windows::start_process(own_program(), {worker_option, answer, seal_, trial_.module, trial_.library_folder},
                               {nullptr, printed, printed}, {answer_pipe_.writer.get()}, true);
    try {
      job_.add(worker_.process);
    } catch (...) {
      TerminateProcess(worker_.process.get(), 1);
      throw;
    }
    ResumeThread(worker_.first_thread.get());
    answer_pipe_.writer.close();
    output_pipe_.writer.close();
  }

  // Returns when the worker has ended or was ended; ended_because_ then has the reason.
  void watch() {
    constexpr DWORD step = 5;  // ms
    while (WaitForSingleObject(worker_.process.get(), step) == WAIT_TIMEOUT) {
      read_all();
      if (trial_.life >= 0 && nobody_waits()) {
        ending_.ended_because = "the parent process ended";
      } else if (milliseconds() > limits_.seconds * 1000) {
        ending_.is_timeout = true;
        ending_.ended_because = fmt::format("its probe did not end within {:g} s", limits_.seconds);
      } else if (output_.is_too_much()) {
        ending_.ended_because = fmt::format("it printed more than {} MiB in its probe", limits_.output >> 20);
      } else if (answer_.size() > largest_answer) {
        ending_.ended_because = "the answer of its probe is too long";
      }
      if (ending_.ended_because.empty()) continue;
      TerminateProcess(worker_.process.get(), 1);
      WaitForSingleObject(worker_.process.get(), 3000);
    }
    read_all();
  }

  // The standard input is a pipe that nothing is written to.
  bool nobody_waits() const {
    return PeekNamedPipe(GetStdHandle(STD_INPUT_HANDLE), nullptr, 0, nullptr, nullptr, nullptr) == 0;
  }

  void read_all() {
    constexpr std::size_t most = std::size_t{1} << 20;
    windows::read_available(answer_pipe_.reader, answer_, answer_.size() > largest_answer ? 0 : most);
    std::string printed;
    windows::read_available(output_pipe_.reader, printed, most);
    output_.add(printed.data(), printed.size());
  }

  json judge() {
    DWORD code = 0;
    GetExitCodeProcess(worker_.process.get(), &code);
    ending_.fault = fault_of(code);
    ending_.exit_status = static_cast<int>(code);
    // Memory beyond the limit is refused to the process, whatever it does then.
    if (!ending_.fault.empty() && job_.peak_bytes() > limits_.bytes / 16 * 15) {
      ending_.ended_because =
          fmt::format("its probe took {} MiB of memory and then failed by {}", job_.peak_bytes() >> 20, ending_.fault);
      ending_.is_accident = true;
    }
    return verdict_about(trial_.module, answer_, seal_, ending_, notes_);
  }

  const Trial& trial_;
  const Limits& limits_;
  const Clock::time_point begin_ = Clock::now();
  const windows::Job job_;
  windows::Pipe answer_pipe_, output_pipe_;
  windows::Process worker_;
  Ending ending_;
  const std::string seal_ = new_seal();
  std::string answer_;
  Capture output_;
  std::vector<std::string> notes_;
};

}  // namespace

// Handles are inherited only where they are named. No fault of the worker, which inherits this, opens a window or
// starts a debugger.
void leave_caller() { SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX); }

json watch_worker(const Trial& trial) { return Supervision(trial).run(); }

}  // namespace ferrule::probe
