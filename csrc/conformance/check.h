// A check of a module: a function that reports problems. The caller of this program runs each check in its own process,
// and so detects a crash or a hang.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferrule::conformance {

// The subject of a check.
struct Subject {
  std::string path;     // of the module
  uint32_t device = 0;  // index of the device to open
  std::string op;       // the only op to try; "" = all
  uint64_t seed = 1;
};

// The problems that a check found. Only a limited number of them is kept.
class Report {
 public:
  void problem(const std::string& sentence);
  const std::vector<std::string>& problems() const { return problems_; }
  // Writes what is tried now to standard error: after a crash the last such line says where it happened.
  void now(const std::string& what) const;

 private:
  std::vector<std::string> problems_;
};

// Thrown by a check that does not apply to the module.
struct NotApplicable {
  std::string reason;
};
// Thrown by a check that cannot continue.
struct Failure {
  std::string sentence;
};

struct Check {
  std::string name;
  std::string proves;
  void (*run)(const Subject&, Report&, const void* argument);
  const void* argument = nullptr;  // distinguishes checks that share a function
};

using Checks = std::vector<Check>;
// The families of checks, each in the file of its name.
void add_lifecycle_checks(Checks& checks);
void add_version_checks(Checks& checks);
void add_null_argument_checks(Checks& checks);
void add_transfer_argument_checks(Checks& checks);
void add_bad_graph_checks(Checks& checks);
void add_bad_body_checks(Checks& checks);
void add_bad_execution_checks(Checks& checks);
void add_supports_checks(Checks& checks);
void add_leak_checks(Checks& checks);
void add_thread_checks(Checks& checks);
void add_queue_checks(Checks& checks);
void add_event_checks(Checks& checks);
void add_copy_checks(Checks& checks);
void add_fill_checks(Checks& checks);
void add_strided_copy_checks(Checks& checks);
void add_host_memory_checks(Checks& checks);
void add_trace_checks(Checks& checks);
void add_lost_device_checks(Checks& checks);

}  // namespace ferrule::conformance
