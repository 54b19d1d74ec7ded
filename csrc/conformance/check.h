// A check of a module: a function that says what is wrong. A crash or a hang is for the caller of this program, who
// runs each check in a process of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ferrule::conformance {

// What a check is told.
struct Subject {
  std::string path;     // of the module
  uint32_t device = 0;  // the one that it opens
  std::string op;       // the only op that it tries; "" = all
  uint64_t seed = 1;
};

// What a check found. Sentences are kept up to a bound: a thousand of one kind help nobody.
class Report {
 public:
  void problem(const std::string& sentence);
  const std::vector<std::string>& problems() const { return problems_; }
  // Tells whoever reads standard error what is tried now: the last such line says where a crash happened.
  void now(const std::string& what) const;

 private:
  std::vector<std::string> problems_;
};

// Thrown by a check that does not concern the module.
struct NotApplicable {
  std::string reason;
};
// Thrown by a check that cannot go on.
struct Failure {
  std::string sentence;
};

struct Check {
  std::string name;
  std::string proves;
  void (*run)(const Subject&, Report&, const void* argument);
  const void* argument = nullptr;  // of a family whose checks differ in data only
};

using Checks = std::vector<Check>;
// The families, each in the file of its name.
void add_life_checks(Checks& checks);
void add_version_checks(Checks& checks);
void add_null_argument_checks(Checks& checks);
void add_transfer_argument_checks(Checks& checks);
void add_bad_graph_checks(Checks& checks);
void add_bad_body_checks(Checks& checks);
void add_bad_execution_checks(Checks& checks);
void add_promise_checks(Checks& checks);
void add_leak_checks(Checks& checks);
void add_thread_checks(Checks& checks);
void add_queue_checks(Checks& checks);
void add_event_checks(Checks& checks);
void add_fill_checks(Checks& checks);
void add_strided_copy_checks(Checks& checks);
void add_host_memory_checks(Checks& checks);
void add_trace_checks(Checks& checks);
void add_lost_device_checks(Checks& checks);

}  // namespace ferrule::conformance
