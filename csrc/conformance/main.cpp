// ferrule-conformance --list
// ferrule-conformance MODULE CHECK [--device N] [--op NAME] [--seed S]
//
// Checks a backend module against the binary interface, without libferrule: this program is the host. Exit status:
// 0 = passed, 1 = failed, 3 = not applicable, 2 = wrong usage. Problems are written to standard output, one JSON object
// per line; the last line of a check that passed is {"passed": true}. The module may crash or hang: run each check in
// its own process.
#include "conformance/check.h"
#include "conformance/host.h"

#if defined(_WIN32)
#include "windows/text.h"
#endif

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ferrule::conformance {
namespace {

Checks all_checks() {
  Checks checks;
  add_lifecycle_checks(checks);
  add_version_checks(checks);
  add_null_argument_checks(checks);
  add_transfer_argument_checks(checks);
  add_bad_graph_checks(checks);
  add_bad_body_checks(checks);
  add_bad_execution_checks(checks);
  add_supports_checks(checks);
  add_leak_checks(checks);
  add_thread_checks(checks);
  add_queue_checks(checks);
  add_event_checks(checks);
  add_copy_checks(checks);
  add_fill_checks(checks);
  add_strided_copy_checks(checks);
  add_host_memory_checks(checks);
  add_trace_checks(checks);
  add_lost_device_checks(checks);
  return checks;
}

std::string quoted(std::string_view text) {
  std::string json = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') json += '\\';
    if (static_cast<unsigned char>(letter) < 0x20)
      json += ' ';
    else
      json += letter;
  }
  return json + '"';
}

void print(const char* key, std::string_view sentence) { std::printf("{\"%s\": %s}\n", key, quoted(sentence).c_str()); }

int list() {
  for (const Check& check : all_checks())
    std::printf("{\"check\": %s, \"proves\": %s}\n", quoted(check.name).c_str(), quoted(check.proves).c_str());
  return 0;
}

int run(const Check& check, const Subject& subject) {
  Report report;
  try {
    check.run(subject, report, check.argument);
  } catch (const NotApplicable& why) {
    print("not_applicable", why.reason);
    return 3;
  } catch (const Failure& failure) {
    report.problem(failure.sentence);
  } catch (const std::exception& error) {
    report.problem(std::string("an exception came out of the module: ") + error.what());
  }
  if (report.problems().empty() && live_errors() > 0)
    report.problem(std::to_string(live_errors()) + " errors were created and never given to the core");
  if (wrong_releases() > 0) report.problem("an error was released that was none, or none any more");
  for (const std::string& sentence : report.problems()) print("problem", sentence);
  for (const std::string& line : log_lines()) print("log", line);
  if (!report.problems().empty()) return 1;
  std::puts("{\"passed\": true}");  // tells the caller that the module did not end the process
  return 0;
}

int usage() {
  std::fputs(
      "usage: ferrule-conformance --list\n       ferrule-conformance MODULE CHECK [--device N] [--op NAME] [--seed "
      "S]\n",
      stderr);
  return 2;
}

std::optional<uint64_t> number(const std::string& text) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') return std::nullopt;
  return value;
}

int call(const std::vector<std::string>& arguments) {
  if (arguments.size() == 1 && arguments[0] == "--list") return list();
  if (arguments.size() < 2 || arguments.size() % 2 != 0) return usage();
  Subject subject;
  subject.path = arguments[0];
  for (std::size_t i = 2; i < arguments.size(); i += 2) {
    const std::string& option = arguments[i];
    const std::optional<uint64_t> value = number(arguments[i + 1]);
    if (option == "--op")
      subject.op = arguments[i + 1];
    else if (option == "--device" && value)
      subject.device = static_cast<uint32_t>(*value);
    else if (option == "--seed" && value)
      subject.seed = *value;
    else
      return usage();
  }
  for (const Check& check : all_checks())
    if (check.name == arguments[1]) return run(check, subject);
  std::fprintf(stderr, "ferrule-conformance: there is no check '%s'; see --list\n", arguments[1].c_str());
  return 2;
}

}  // namespace
}  // namespace ferrule::conformance

int main([[maybe_unused]] int count, [[maybe_unused]] char** words) {
#if defined(_WIN32)
  return ferrule::conformance::call(ferrule::windows::program_arguments());
#else
  return ferrule::conformance::call(std::vector<std::string>(words + 1, words + count));
#endif
}
