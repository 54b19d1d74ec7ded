// The verdict of a probe, and the cache of verdicts.
#pragma once

#include <ferrule/types.h>

#include <optional>
#include <string>
#include <vector>

namespace ferrule {

enum class VerdictKind {
  passed,
  refused,  // the module itself reports that it cannot run here
  failed,
  timeout,
};

struct Verdict {
  VerdictKind kind = VerdictKind::failed;
  std::string reason;    // a sentence; "" when it passed
  fe_code code = FE_OK;  // the code of a refusal
  std::vector<std::string> notes;
  std::string output;  // what the module printed
  bool leaves_threads = false;
  bool may_pass = false;  // a failure that may not occur again; the verdict expires
};

// Parses the line that ferrule-probe prints. Throws io when it is not a verdict; the message completes a sentence about
// the module.
Verdict verdict_from(const std::string& line);

// The key of a verdict: the module's file and everything that may change the result, which is the state of its drivers
// and libraries, ferrule's version, the boot id, the variables of the system's loader, and the limits. `hash` is the
// file's SHA-256, `driver` the text of libraries_state.
std::string verdict_key(const std::string& hash, const std::string& driver);

// An earlier verdict that still holds. A verdict that may pass by itself holds for ten minutes: a timeout, a refusal,
// or a failure that may have been an accident.
std::optional<Verdict> remembered_verdict(const std::string& key);
void remember_verdict(const std::string& key, const std::string& line);

}  // namespace ferrule
