// The process between ferrule and the worker: it observes how the worker ends, and ends all its descendants.
#pragma once

#include "probe/limits.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ferrule::probe {

struct Trial {
  std::string module;
  Limits limits = {};
  // A descriptor (0 is the standard input): when its other end is closed, the caller no longer waits for the verdict,
  // and everything ends at once. Negative for none.
  int life = -1;
  std::string library_folder = {};  // Windows: where else to search for libraries that the module needs; "" for none
};

// Tries the module in its own process. Returns the verdict, an object:
//   verdict: "passed", "refused" (the module itself reports that it cannot run here), "failed" or "timeout"
//   reason: a sentence, "" when it passed; code: the fe_code of a refusal
//   may_pass: true for a failure that may not occur again
//   notes: sentences; output: what was printed, of limited length; milliseconds
//   devices: [{name, kind, state, reason}]; threads: how many go on after its close; version
// All descendants are ended.
nlohmann::json supervise(const Trial& trial);

// Frees this process of what it inherited from the program that started it, above all its open files and Ctrl-C, which
// is meant for that program: when it ends, the standard input is closed.
void leave_caller();

// The work of supervise(). Each system has its own definition. Ends all descendants, also when it throws: a
// std::exception, when no process or pipe could be made or the answer is of another form.
nlohmann::json watch_worker(const Trial& trial);

}  // namespace ferrule::probe
