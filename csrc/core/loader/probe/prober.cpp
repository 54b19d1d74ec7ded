#include "core/loader/probe/prober.h"

#include "core/error.h"
#include "core/json_object.h"
#include "core/loader/candidate/candidate.h"
#include "core/loader/probe/libraries_state.h"
#include "core/loader/probe/probe_process.h"
#include "core/loader/probe/probe_verdict.h"
#include "core/log.h"
#include "core/platform/drivers/driver_version.h"
#include "core/platform/libraries/library_paths.h"
#include "core/sync/once.h"
#include "module_file/path_text.h"

#include <fstream>
#include <set>
#include <sstream>
#include <utility>

namespace ferrule {
namespace {

Verdict fresh_verdict(const Candidate& candidate, const std::filesystem::path& probe, const ProbeLimits& limits,
                      const std::string& key) {
  log_debug("{}: probed by {}", candidate.row.path, path_to_text(probe));
  const std::string line = run_probe(probe, candidate.real, limits);
  Verdict verdict = verdict_from(line);
  remember_verdict(key, line);
  return verdict;
}

// The modules in libferrule's own package need no probe: they were tested when it was built. Their hashes are in
// own-modules.json beside libferrule, which the installation writes. Its writers can write libferrule as well.
void warn_of_damage(const std::exception& error) {
  log_warning("own-modules.json beside libferrule is damaged: {}", error.what());
}

std::set<std::string> hashes_of_own_modules() {
  std::ifstream file;
  for (const std::filesystem::path& folder : library_dirs())
    if (!file.is_open()) file.open(folder / "own-modules.json", std::ios::binary);
  if (!file.is_open()) return {};
  std::ostringstream text;
  text << file.rdbuf();
  std::set<std::string> hashes;
  try {
    const JsonDocument list = parse_json(text.str());
    for (const auto& [name, hash] : list->at("sha256").items()) hashes.insert(hash.get<std::string>());
  } catch (const Error& error) {
    warn_of_damage(error);
  } catch (const nlohmann::json::exception& error) {
    warn_of_damage(error);
  }
  return hashes;
}

bool is_own_module(const std::string& sha256) {
  static constinit Once<std::set<std::string>> hashes;
  return hashes.get(hashes_of_own_modules).contains(sha256);
}

}  // namespace

Prober::Prober(const Policy& policy) : policy_(policy), limits_(probe_limits()), executable_(find_probe()) {}

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
  if (auto verdict = remembered_verdict(key))
    candidate.earlier_verdict = std::make_shared<EarlierVerdict>(EarlierVerdict{std::move(key), std::move(*verdict)});
}

void Prober::probe(Candidate& candidate, const std::string& hash) const {
  if (!is_wanted(hash)) return;
  if (!executable_) {
    if (policy_.probe == ProbePolicy::automatic) {
      candidate.row.notes.emplace_back(
          "it was not tried in another process: ferrule-probe is not beside libferrule, or may not be executed");
      return;
    }
    throw CandidateRefusal{
        LoadState::not_probed, FE_UNSUPPORTED,
        "probe='always' needs ferrule-probe, which is not beside libferrule, or may not be executed"};
  }
  const std::string key = key_of(candidate, hash);
  LoadRow& row = candidate.row;
  std::optional<Verdict> verdict;
  if (candidate.earlier_verdict && candidate.earlier_verdict->key == key)
    verdict = candidate.earlier_verdict->verdict;
  else if (!policy_.reprobe)
    verdict = remembered_verdict(key);
  row.probed = verdict ? "cached" : "yes";
  try {
    if (!verdict) verdict = fresh_verdict(candidate, *executable_, limits_, key);
  } catch (const Error& error) {
    throw CandidateRefusal{LoadState::probe_failed, error.code(), error.what()};
  }
  row.notes.insert(row.notes.end(), verdict->notes.begin(), verdict->notes.end());
  row.output = verdict->output;
  candidate.leaves_threads = verdict->leaves_threads;
  switch (verdict->kind) {
    case VerdictKind::passed:
      return;
    case VerdictKind::refused:
      throw CandidateRefusal{state_of(verdict->code), verdict->code, verdict->reason};
    case VerdictKind::timeout:
      throw CandidateRefusal{LoadState::probe_failed, FE_TIMEOUT, verdict->reason};
    case VerdictKind::failed:
      throw CandidateRefusal{LoadState::probe_failed, FE_INTERNAL, verdict->reason};
  }
}

}  // namespace ferrule
