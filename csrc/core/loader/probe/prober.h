// Step four of a load: probes modules that did not come with libferrule, each in its own process.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/loader/probe/probe_process.h"
#include "core/loader/probe/probe_verdict.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// The verdict of an earlier load about a candidate, and its key.
struct EarlierVerdict {
  std::string key;
  Verdict verdict;
};

// Serves one load, so that the policy and the executable are looked up once. Thread-safe.
class Prober {
 public:
  explicit Prober(const Policy& policy);

  // Looks up the cached verdict of a candidate whose hash is known, ahead of probe().
  void recall(Candidate& candidate) const;
  // Probes a module if the policy requires it. `hash` is the SHA-256 of the candidate's file. Fills in the row's fields
  // about the probe; throws a CandidateRefusal when the module must not be opened.
  void probe(Candidate& candidate, const std::string& hash) const;

 private:
  bool is_wanted(const std::string& hash) const;
  std::string key_of(const Candidate& candidate, const std::string& hash) const;

  const Policy policy_;
  const ProbeLimits limits_;
  const std::optional<std::filesystem::path> executable_;
};

}  // namespace ferrule
