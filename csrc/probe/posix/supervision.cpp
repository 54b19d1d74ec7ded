#include "probe/supervisor.h"

#include "probe/capture.h"
#include "probe/judgement.h"
#include "probe/posix/descendants.h"
#include "probe/posix/signals.h"
#include "probe/worker.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#if defined(__linux__)
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

namespace ferrule::probe {
namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

struct Pipe {
  Pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    reader = ends[0], writer = ends[1];
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(reader, F_SETFL, O_NONBLOCK);
  }
  int reader = -1, writer = -1;
};

int child_ended_writer = -1;

// Wakes the poll when a child ends.
void on_child_ended(int) {
  const int before = errno;
  const char byte = 0;
  static_cast<void>(!write(child_ended_writer, &byte, 1));
  errno = before;
}

// Disables core files and limits the data segment. The address space is not limited: drivers and sanitizers reserve
// terabytes of it.
void limit_this_process(const Limits& limits) {
  // 1 byte, not 0: Linux pipes core files to a program, if so configured, for a limit of 0 but not for 1.
  const rlimit core = {1, 1};
  setrlimit(RLIMIT_CORE, &core);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit data = {limits.bytes, limits.bytes};
  setrlimit(RLIMIT_DATA, &data);
#else
  static_cast<void>(limits);
#endif
}

[[noreturn]] void become_worker(const std::string& module, const Limits& limits, int answer, int output,
                                const std::string& seal) {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  setsid();
  signal(SIGCHLD, SIG_DFL);
  const int null = open("/dev/null", O_RDWR);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (null > STDERR_FILENO) close(null);
  limit_this_process(limits);
  work(module, answer, seal);
}

std::string list_of(const std::vector<Process>& processes) {
  std::vector<std::string> names;
  for (const Process& process : processes) {
    if (names.size() == 5) {
      names.push_back(fmt::format("{} more", processes.size() - 5));
      break;
    }
    names.push_back(fmt::format("{} ({})", process.name, process.id));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

class Supervision {
 public:
  explicit Supervision(const Trial& trial)
      : module_(trial.module), limits_(trial.limits), life_(trial.life), output_(trial.limits.output) {}

  json run() {
    start();
    watch();
    json verdict = judge();
    const Remains remains = end_descendants(3);
    if (!remains.names.empty())
      notes_.push_back(fmt::format("it leaves processes behind, which were ended: {}", fmt::join(remains.names, ", ")));
    if (!remains.living.empty()) notes_.push_back("processes of it could not be ended: " + list_of(remains.living));
    verdict["notes"] = notes_;
    verdict["output"] = output_.text();
    verdict["milliseconds"] = milliseconds();
    return verdict;
  }

 private:
  double milliseconds() const { return std::chrono::duration<double, std::milli>(Clock::now() - begin_).count(); }

  void start() {
    adopt_orphans();
    child_ended_writer = child_ended_.writer;
    fcntl(child_ended_.writer, F_SETFL, O_NONBLOCK);
    struct sigaction action {};
    action.sa_handler = on_child_ended;
    action.sa_flags = SA_NOCLDSTOP | SA_RESTART;
    sigaction(SIGCHLD, &action, nullptr);
    worker_ = fork();
    if (worker_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (worker_ == 0) {
      for (const int end : {answer_pipe_.reader, output_pipe_.reader, child_ended_.reader, child_ended_.writer})
        close(end);
      become_worker(module_, limits_, answer_pipe_.writer, output_pipe_.writer, seal_);
    }
    close(answer_pipe_.writer);
    close(output_pipe_.writer);
  }

  // Returns when the worker has ended or was killed; ended_because_ then has the reason.
  void watch() {
    auto next_look = begin_;
    while (!status_) {
      std::array<pollfd, 4> waited = {{{answer_pipe_.reader, POLLIN, 0},
                                       {output_pipe_.reader, POLLIN, 0},
                                       {child_ended_.reader, POLLIN, 0},
                                       {life_, POLLIN, 0}}};
      poll(waited.data(), waited.size(), 25);
      read_answer();
      read_output();
      if (waited[3].revents != 0 && nobody_waits()) end_worker("the parent process ended");
      if (!ended_because_.empty()) break;
      wait_for_worker();
      if (status_) break;
      if (milliseconds() > limits_.seconds * 1000) {
        is_timeout_ = true;
        end_worker(fmt::format("its probe did not end within {:g} s", limits_.seconds));
      } else if (output_.is_too_much()) {
        end_worker(fmt::format("it printed more than {} MiB in its probe", limits_.output >> 20));
      } else if (answer_.size() > largest_answer) {
        end_worker("the answer of its probe is too long");
      } else if (Clock::now() >= next_look) {
        next_look = Clock::now() + std::chrono::milliseconds(200);
        if (resident_bytes(descendants()) > limits_.bytes) {
          is_accident_ = true;
          end_worker(fmt::format("its probe took more than {} MiB of memory", limits_.bytes >> 20));
        }
      }
    }
    bury_worker();
    // Read what was written before the end.
    read_answer();
    read_output();
  }

  bool nobody_waits() const {
    char byte = 0;
    return read(life_, &byte, 1) == 0;
  }

  void wait_for_worker() {
    std::array<char, 64> bytes{};
    while (read(child_ended_.reader, bytes.data(), bytes.size()) > 0) {
    }
    int status = 0;
    if (waitpid(worker_, &status, WNOHANG) == worker_) status_ = status;
  }

  // Reads what is available, at most a megabyte.
  void read_output() {
    std::array<char, 8192> bytes{};
    for (int round = 0; round < 128; ++round) {
      const ssize_t count = read(output_pipe_.reader, bytes.data(), bytes.size());
      if (count <= 0) return;
      output_.add(bytes.data(), static_cast<std::size_t>(count));
    }
  }

  // Waits for a killed worker, so that it is not reported as a process left behind.
  void bury_worker() {
    for (int i = 0; i < 3000 && !status_; ++i) {
      wait_for_worker();
      if (!status_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void end_worker(std::string because) {
    ended_because_ = std::move(because);
    kill(worker_, SIGKILL);
  }

  void read_answer() {
    std::array<char, 4096> bytes{};
    for (ssize_t count = 0; answer_.size() <= largest_answer; answer_.append(bytes.data(), static_cast<size_t>(count)))
      if (count = read(answer_pipe_.reader, bytes.data(), bytes.size()); count <= 0) break;
  }

  json judge() {
    Ending ending{ended_because_, "", 0, is_timeout_, is_accident_};
    if (!ended_because_.empty()) {
      // It was killed.
    } else if (WIFSIGNALED(*status_)) {
      ending.fault = describe_signal(WTERMSIG(*status_));
      ending.is_accident |= comes_from_outside(WTERMSIG(*status_));
    } else {
      ending.exit_status = WEXITSTATUS(*status_);
    }
    return verdict_about(module_, answer_, seal_, ending, notes_);
  }

  const std::string& module_;
  const Limits& limits_;
  const int life_;
  const Clock::time_point begin_ = Clock::now();
  Pipe answer_pipe_, output_pipe_, child_ended_;
  pid_t worker_ = -1;
  std::optional<int> status_;
  std::string ended_because_;
  bool is_timeout_ = false;
  bool is_accident_ = false;
  const std::string seal_ = new_seal();
  std::string answer_;
  Capture output_;
  std::vector<std::string> notes_;
};

}  // namespace

void leave_caller() {
#if defined(SYS_close_range)
  if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0U, 0) != 0)
#endif
    for (int descriptor = STDERR_FILENO + 1; descriptor < 1024; ++descriptor) close(descriptor);
  setsid();
}

json watch_worker(const Trial& trial) {
  try {
    return Supervision(trial).run();
  } catch (...) {
    end_descendants(3);
    throw;
  }
}

}  // namespace ferrule::probe
