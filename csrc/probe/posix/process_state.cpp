#include "probe/process_state.h"

#include "probe/posix/signals.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cfenv>
#include <clocale>
#include <csignal>
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

std::vector<uintptr_t> signal_handlers() {
  std::vector<uintptr_t> handlers(signal_count, 0);
  for (int signal = 1; signal < signal_count; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0)
      handlers[static_cast<std::size_t>(signal)] = reinterpret_cast<uintptr_t>(action.sa_handler);
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

}  // namespace

std::string name_of_handler(std::size_t index) { return name_of_signal(static_cast<int>(index)); }

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
  for (const intptr_t descriptor : descriptors_)
    if (descriptor >= 0 && (fstat(static_cast<int>(descriptor), &found) != 0 || found.st_rdev != null.st_rdev))
      return false;
  return true;
}

std::size_t thread_count() {
  std::error_code problem;
  const std::filesystem::directory_iterator tasks("/proc/self/task", problem);
  return problem ? 0 : static_cast<std::size_t>(std::distance(tasks, std::filesystem::directory_iterator()));
}

}  // namespace ferrule::probe
