// The policy of a load, from its caller or the environment: how modules are selected, probed and trusted.
#pragma once

#include <string>

namespace ferrule {

enum class Select { by_manifest, by_score };
enum class ProbePolicy {
  automatic,  // modules that did not come with libferrule, if ferrule-probe is installed
  always,     // all modules; without ferrule-probe none is opened
  never,
};
enum class Trust {
  owner,          // only files whose writers can all write libferrule as well
  manifest_hash,  // of these, only modules whose manifest has their hash
  any,
};

struct Policy {
  Select select = Select::by_manifest;
  ProbePolicy probe = ProbePolicy::automatic;
  Trust trust = Trust::owner;
  bool reprobe = false;  // ignore the verdicts of earlier probes
};

// The policy given by these words. An empty word is the default; that of probe and trust is FERRULE_PROBE or
// FERRULE_TRUST, if it is set. Throws invalid_argument, which names the caller's function and lists the valid words,
// for another word.
Policy policy_of(const char* function, const std::string& select, const std::string& probe, const std::string& trust,
                 bool reprobe);
// The policy when the caller gives none.
Policy default_policy();
const char* name_of(Select select) noexcept;
const char* name_of(ProbePolicy probe) noexcept;
const char* name_of(Trust trust) noexcept;

}  // namespace ferrule
