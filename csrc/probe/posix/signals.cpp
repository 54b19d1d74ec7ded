#include "probe/posix/signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace ferrule::probe {
namespace {

struct Signal {
  int number;
  const char* name;
  const char* meaning = nullptr;
};

constexpr std::array signals = {
    Signal{SIGABRT, "SIGABRT", "it called abort"},
    Signal{SIGALRM, "SIGALRM"},
    Signal{SIGBUS, "SIGBUS", "invalid memory access, or a file that it maps was cut, as on a full disk"},
    Signal{SIGCHLD, "SIGCHLD"},
    Signal{SIGFPE, "SIGFPE", "an arithmetic fault"},
    Signal{SIGHUP, "SIGHUP"},
    Signal{SIGILL, "SIGILL", "an instruction that this processor does not have"},
    Signal{SIGINT, "SIGINT"},
    Signal{SIGKILL, "SIGKILL"},
    Signal{SIGPIPE, "SIGPIPE"},
    Signal{SIGQUIT, "SIGQUIT"},
    Signal{SIGSEGV, "SIGSEGV", "invalid memory access"},
    Signal{SIGSYS, "SIGSYS", "a system call that is not allowed"},
    Signal{SIGTERM, "SIGTERM"},
    Signal{SIGTRAP, "SIGTRAP"},
    Signal{SIGUSR1, "SIGUSR1"},
    Signal{SIGUSR2, "SIGUSR2"},
};

const Signal* find_signal(int number) {
  const auto found =
      std::find_if(signals.begin(), signals.end(), [&](const Signal& signal) { return signal.number == number; });
  return found == signals.end() ? nullptr : &*found;
}

}  // namespace

std::string name_of_signal(int signal) {
  const Signal* known = find_signal(signal);
  return known != nullptr ? known->name : fmt::format("signal {}", signal);
}

bool comes_from_outside(int signal) {
  // SIGBUS: a page of a file that is mapped could not be read or written, mostly.
  constexpr std::array from_outside = {SIGKILL, SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGXCPU, SIGBUS};
  return std::find(from_outside.begin(), from_outside.end(), signal) != from_outside.end();
}

std::string describe_signal(int signal) {
  const Signal* known = find_signal(signal);
  if (known == nullptr || known->meaning == nullptr) return name_of_signal(signal);
  return fmt::format("{} ({})", known->name, known->meaning);
}

}  // namespace ferrule::probe
