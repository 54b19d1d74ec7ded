#include "probe/process_state.h"

#include "probe/signals.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <cfloat>
#include <clocale>
#include <filesystem>
#include <iterator>
#include <string_view>

#if defined(__APPLE__)
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#elif !defined(__GLIBC__)  // glibc declares it in unistd.h
extern char** environ;
#endif

namespace ferrule::probe {
namespace {

#if defined(NSIG)
constexpr int signal_count = NSIG;
#else
constexpr int signal_count = 65;
#endif

// Computes with denormals instead of reading a control register, so that it works on every processor.
bool denormals_are_kept() {
  volatile double smallest = DBL_MIN;
  volatile double half = smallest / 2;  // 0 if denormal results are flushed
  volatile double back = half * 2;      // 0 if denormal operands are taken as zero
  return half != 0 && back == smallest;
}

std::vector<void (*)(int)> signal_handlers() {
  std::vector<void (*)(int)> handlers(signal_count, SIG_DFL);
  for (int signal = 1; signal < signal_count; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0) handlers[static_cast<std::size_t>(signal)] = action.sa_handler;
  }
  return handlers;
}

std::vector<bool> blocked_signals() {
  sigset_t set;
  sigemptyset(&set);
  pthread_sigmask(SIG_BLOCK, nullptr, &set);
  std::vector<bool> blocked(signal_count);
  for (int signal = 1; signal < signal_count; ++signal)
    blocked[static_cast<std::size_t>(signal)] = sigismember(&set, signal) == 1;
  return blocked;
}

int floating_point_traps() {
#if defined(__GLIBC__)
  return fegetexcept();
#else
  return 0;
#endif
}

std::vector<uint64_t> standard_streams() {
  std::vector<uint64_t> files;
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    struct stat status {};
    const bool is_open = fstat(stream, &status) == 0;
    files.push_back(is_open ? static_cast<uint64_t>(status.st_dev) : 0);
    files.push_back(is_open ? static_cast<uint64_t>(status.st_ino) : 0);
  }
  return files;
}

std::map<std::string, std::string> variables() {
  std::map<std::string, std::string> out;
  for (char** place = environ; place != nullptr && *place != nullptr; ++place) {
    const std::string_view entry = *place;
    const std::size_t equals = entry.find('=');
    if (equals != std::string_view::npos)
      out.emplace(std::string(entry.substr(0, equals)), std::string(entry.substr(equals + 1)));
  }
  return out;
}

// "SIGINT, SIGSEGV": the signals for which the two lists differ.
template <class T>
std::string differing_signals(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<std::string> names;
  for (std::size_t signal = 1; signal < before.size(); ++signal) {
    if (before[signal] != after[signal]) names.push_back(name_of_signal(static_cast<int>(signal)));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

ProcessState ProcessState::now() {
  ProcessState state;
  const char* locale = std::setlocale(LC_ALL, nullptr);
  state.locale = locale != nullptr ? locale : "";
  std::error_code problem;
  state.folder = std::filesystem::current_path(problem).string();
  const mode_t mask = ::umask(0);
  ::umask(mask);
  state.umask = static_cast<int>(mask);
  state.keeps_denormals = denormals_are_kept();
  state.rounding = std::fegetround();
  state.traps = floating_point_traps();
  state.streams = standard_streams();
  state.handlers = signal_handlers();
  state.is_blocked = blocked_signals();
  state.environment = variables();
  return state;
}

std::vector<std::string> changes(const ProcessState& before, const ProcessState& after) {
  std::vector<std::string> out;
  if (before.keeps_denormals && !after.keeps_denormals)
    out.emplace_back(
        "it sets flush-to-zero in the floating-point mode, as libraries linked with -ffast-math do, and later results "
        "would be wrong");
  if (before.rounding != after.rounding) out.emplace_back("it changes the rounding of floating-point numbers");
  if (before.traps != after.traps)
    out.emplace_back("it makes floating-point exceptions, as a division by zero, end the program");
  if (before.streams != after.streams)
    out.emplace_back("it closes the standard input, standard output or standard error, or puts another file there");
  if (before.locale != after.locale) out.push_back(fmt::format("it sets the locale to '{}'", after.locale));
  if (before.folder != after.folder) out.push_back(fmt::format("it changes the current directory to {}", after.folder));
  if (before.umask != after.umask) out.push_back(fmt::format("it sets the umask to {:03o}", after.umask));
  if (before.handlers != after.handlers)
    out.push_back("it replaces the handlers of " + differing_signals(before.handlers, after.handlers));
  if (before.is_blocked != after.is_blocked)
    out.push_back("it changes which signals are blocked: " + differing_signals(before.is_blocked, after.is_blocked));
  return out;
}

std::string environment_changes(const ProcessState& before, const ProcessState& after) {
  std::vector<std::string> set, removed;
  for (const auto& [name, value] : after.environment) {
    const auto found = before.environment.find(name);
    if (found == before.environment.end() || found->second != value) set.push_back(name);
  }
  for (const auto& [name, value] : before.environment)
    if (!after.environment.contains(name)) removed.push_back(name);
  std::string text;
  if (!set.empty()) text = fmt::format("it sets {} in the environment", fmt::join(set, ", "));
  if (!removed.empty())
    text += fmt::format("{} {} from the environment", text.empty() ? "it removes" : " and removes",
                        fmt::join(removed, ", "));
  return text;
}

Sentinels::Sentinels() {
  // One takes the lowest free number from 3, one a higher number, and one a number that only a loop over all closes.
  for (std::size_t i = 0; i < descriptors_.size(); ++i) {
    const int opened = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    constexpr std::array<int, 3> lowest = {3, 60, 200};
    descriptors_[i] = fcntl(opened, F_DUPFD_CLOEXEC, lowest[i]);
    ::close(opened);
  }
}

bool Sentinels::are_open() const {
  struct stat null {
  }, found{};
  if (stat("/dev/null", &null) != 0) return true;
  for (const int descriptor : descriptors_)
    if (descriptor >= 0 && (fstat(descriptor, &found) != 0 || found.st_rdev != null.st_rdev)) return false;
  return true;
}

std::size_t thread_count() {
  std::error_code problem;
  const std::filesystem::directory_iterator tasks("/proc/self/task", problem);
  return problem ? 0 : static_cast<std::size_t>(std::distance(tasks, std::filesystem::directory_iterator()));
}

}  // namespace ferrule::probe
