// What a probe found out about a module, and for how long that holds.
#pragma once

#include <ferrule/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ferrule {

enum class VerdictKind {
  passed,
  refused,  // it says in order that it cannot work here
  failed,
  timeout,
};

struct Verdict {
  VerdictKind kind = VerdictKind::failed;
  std::string reason;    // a sentence; "" when it passed
  fe_code code = FE_OK;  // of a refusal
  std::vector<std::string> notes;
  std::string output;  // what it printed
  bool leaves_threads = false;
  bool may_pass = false;  // a failure that may have been an accident
};

// From the line that ferrule-probe prints. Throws io, as a part of a sentence about the module, when it is none.
Verdict verdict_from(const std::string& line);

// The module's file and all that may change what it does: the driver, the boot, the variables of the system's loader,
// the limits. `hash` is the file's SHA-256, `driver` the state of its drivers (libraries_state).
std::string verdict_key(const std::string& hash, const std::string& driver);

// An earlier verdict that still holds. What may pass by itself holds for ten minutes: a timeout, a refusal, and a
// failure that may have been an accident.
std::optional<Verdict> remembered_verdict(const std::string& key);
void remember_verdict(const std::string& key, const std::string& line);

}  // namespace ferrule
