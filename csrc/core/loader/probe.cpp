#include "core/loader/probe.h"

#include "core/error.h"
#include "core/loader/driver.h"
#include "core/loader/own_modules.h"
#include "core/loader/probe_process.h"
#include "core/loader/refusal.h"
#include "core/loader/verdict.h"
#include "core/log.h"

#include <utility>

namespace ferrule {
namespace {

Verdict fresh_verdict(const Candidate& candidate, const std::filesystem::path& probe, const std::string& key) {
  log_debug("{}: probed by {}", candidate.row.path, probe.string());
  const std::string line = run_probe(probe, candidate.real, probe_limits());
  Verdict verdict = verdict_from(line);
  remember_verdict(key, line);
  return verdict;
}

}  // namespace

Prober::Prober(const Policy& policy) : policy_(policy), executable_(find_probe()) {}

bool Prober::is_wanted(const std::string& hash) const {
  if (policy_.probe == ProbePolicy::never) return false;
  return policy_.probe == ProbePolicy::always || !is_own_module(hash);
}

std::string Prober::key_of(const Candidate& candidate, const std::string& hash) const {
  return verdict_key(hash, libraries_state(candidate));
}

void Prober::recall(Candidate& candidate) const {
  if (candidate.is_refused || candidate.hash.empty() || policy_.reprobe || !executable_) return;
  if (!is_wanted(candidate.hash)) return;
  std::string key = key_of(candidate, candidate.hash);
  if (auto verdict = remembered_verdict(key)) candidate.recalled = {std::move(key), std::move(*verdict)};
}

void Prober::probe(Candidate& candidate, const std::string& hash) const {
  if (!is_wanted(hash)) return;
  if (!executable_) {
    if (policy_.probe == ProbePolicy::automatic) return;
    throw Refusal{LoadState::not_probed, FE_UNSUPPORTED,
                  "probe='always' asks for a probe, and there is no ferrule-probe beside libferrule"};
  }
  const std::string key = key_of(candidate, hash);
  LoadRow& row = candidate.row;
  std::optional<Verdict> verdict;
  if (candidate.recalled && candidate.recalled->key == key)
    verdict = candidate.recalled->verdict;
  else if (!policy_.reprobe)
    verdict = remembered_verdict(key);
  row.probed = verdict ? "cached" : "yes";
  try {
    if (!verdict) verdict = fresh_verdict(candidate, *executable_, key);
  } catch (const Error& error) {
    throw Refusal{LoadState::probe_failed, error.code(), error.what()};
  }
  row.notes.insert(row.notes.end(), verdict->notes.begin(), verdict->notes.end());
  row.output = verdict->output;
  candidate.leaves_threads = verdict->leaves_threads;
  switch (verdict->kind) {
    case VerdictKind::passed:
      return;
    case VerdictKind::refused:
      throw Refusal{state_of(verdict->code), verdict->code, verdict->reason};
    case VerdictKind::timeout:
      throw Refusal{LoadState::probe_failed, FE_TIMEOUT, verdict->reason};
    case VerdictKind::failed:
      throw Refusal{LoadState::probe_failed, FE_INTERNAL, verdict->reason};
  }
}

}  // namespace ferrule
