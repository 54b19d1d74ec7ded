#include "probe/process_state.h"

#include <fmt/format.h>

#include <limits>

namespace ferrule::probe {
namespace {

// "SIGINT, SIGSEGV": the signals for which the two lists differ.
template <class T>
std::string differing_signals(const std::vector<T>& before, const std::vector<T>& after) {
  std::vector<std::string> names;
  for (std::size_t signal = 1; signal < before.size(); ++signal) {
    if (before[signal] != after[signal]) names.push_back(name_of_handler(signal));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

// Computes with denormals instead of reading a control register, so that it works on every processor.
bool denormals_are_kept() {
  volatile double smallest = std::numeric_limits<double>::min();
  volatile double half = smallest / 2;  // 0 if denormal results are flushed
  volatile double back = half * 2;      // 0 if denormal operands are taken as zero
  return half != 0 && back == smallest;
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

}  // namespace ferrule::probe
