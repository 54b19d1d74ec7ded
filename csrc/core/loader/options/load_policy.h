// What a caller, or else the environment, asks of a load: who is probed, and whose files are opened.
#pragma once

#include <string>

namespace ferrule {

enum class Select { by_manifest, by_score };
enum class ProbePolicy {
  automatic,  // those that did not come with libferrule itself, where there is a probe
  always,     // all; without a probe none is opened
  never,
};
enum class Trust {
  owner,          // not what someone can write who cannot write libferrule
  manifest_hash,  // nor what has no manifest with its hash
  any,
};

struct Policy {
  Select select = Select::by_manifest;
  ProbePolicy probe = ProbePolicy::automatic;
  Trust trust = Trust::owner;
  bool reprobe = false;  // verdicts of earlier probes do not count
};

// By their words. An empty probe or trust is FERRULE_PROBE's or FERRULE_TRUST's, else the default. Throws
// invalid_argument, naming the words that there are.
Policy policy_of(const std::string& select, const std::string& probe, const std::string& trust, bool reprobe);
// What holds when the caller asks for nothing.
Policy default_policy();
const char* name_of(Select select) noexcept;
const char* name_of(ProbePolicy probe) noexcept;
const char* name_of(Trust trust) noexcept;

}  // namespace ferrule
