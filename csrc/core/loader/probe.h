// Step four: what may not be trusted to run here is tried in a process of its own first.
#pragma once

#include "core/loader/candidate.h"
#include "core/loader/policy.h"

#include <filesystem>
#include <optional>
#include <string>

namespace ferrule {

// For one load: what is the same for all modules is found out once.
class Prober {
 public:
  explicit Prober(const Policy& policy) : policy_(policy) {}

  // `hash` is the SHA-256 of the candidate's file. Fills in what the row tells of the probe; throws a Refusal when the
  // module must not be opened.
  void probe(Candidate& candidate, const std::string& hash);

 private:
  bool is_wanted(const std::string& hash) const;
  const std::optional<std::filesystem::path>& executable();
  std::string key_of(const Candidate& candidate, const std::string& hash);

  const Policy policy_;
  std::optional<std::optional<std::filesystem::path>> executable_;
  std::optional<std::string> kernel_drivers_;
};

}  // namespace ferrule
