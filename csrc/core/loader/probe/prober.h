// Step four of a load: modules that did not come with libferrule are tried in a process of their own first.
#pragma once

#include "core/loader/candidate/candidate.h"
#include "core/loader/options/load_policy.h"
#include "core/loader/probe/probe_verdict.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// What an earlier load found out about a candidate, and the key of all that it depends on.
struct EarlierVerdict {
  std::string key;
  Verdict verdict;
};

// For one load: what is the same for all modules is found out once. Any thread may ask.
class Prober {
 public:
  explicit Prober(const Policy& policy);

  // Looks up, ahead of probe(), what is remembered of a candidate whose hash is known.
  void recall(Candidate& candidate) const;
  // `hash` is the SHA-256 of the candidate's file. Fills in what the row tells of the probe; throws a CandidateRefusal
  // when the module must not be opened.
  void probe(Candidate& candidate, const std::string& hash) const;

 private:
  bool is_wanted(const std::string& hash) const;
  std::string key_of(const Candidate& candidate, const std::string& hash) const;

  const Policy policy_;
  const std::optional<std::filesystem::path> executable_;
};

}  // namespace ferrule
