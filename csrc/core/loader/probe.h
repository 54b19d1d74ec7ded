// Step four: what may not be trusted to run here is tried in a process of its own first.
#pragma once

#include "core/loader/candidate.h"
#include "core/loader/policy.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// For one load: what is the same for all modules is found out once. Any thread may ask.
class Prober {
 public:
  explicit Prober(const Policy& policy);

  // Looks up, ahead of probe(), what is remembered of a candidate whose hash is known.
  void recall(Candidate& candidate) const;
  // `hash` is the SHA-256 of the candidate's file. Fills in what the row tells of the probe; throws a Refusal when the
  // module must not be opened.
  void probe(Candidate& candidate, const std::string& hash) const;

 private:
  bool is_wanted(const std::string& hash) const;
  std::string key_of(const Candidate& candidate, const std::string& hash) const;

  const Policy policy_;
  const std::optional<std::filesystem::path> executable_;
};

}  // namespace ferrule
