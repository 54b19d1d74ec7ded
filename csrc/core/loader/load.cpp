#include "core/loader/load.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/loader/candidate/candidate.h"
#include "core/loader/choose_module.h"
#include "core/loader/open_module.h"
#include "core/loader/report/explain.h"
#include "core/loader/search/compatibility.h"
#include "core/loader/search/find_candidates.h"
#include "core/loader/search/read_candidate.h"
#include "core/loader/stopwatch.h"
#include "core/log.h"
#include "core/registry/option_variables.h"
#include "core/registry/registry.h"
#include "core/threads/pool.h"
#include "core/warn_once.h"
#include "module_file/module_name.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace ferrule {
namespace {

namespace fs = std::filesystem;

bool is_same_file(const Candidate& candidate, const Backend& backend) {
  return !backend.is_static() && backend.source().path == candidate.real;
}

std::string already_there(const Candidate& candidate, const Backend& backend) {
  if (backend.is_static()) return "a backend of this name is linked into the program";
  const fs::path& loaded = backend.source().path;
  const bool is_neighbour = loaded.parent_path() == candidate.real.parent_path();
  return path_to_text(is_neighbour ? loaded.filename() : loaded) + " is loaded already";
}

// Fills in the rows of a name whose backend is loaded already: the backend stays as it is.
void keep_loaded(const std::vector<Candidate*>& candidates, const Backend& backend, std::set<std::string>& reported) {
  for (Candidate* candidate : candidates) {
    if (is_same_file(*candidate, backend) && !reported.contains(backend.name())) {
      candidate->row.state = LoadState::loaded;
      candidate->row.reason.clear();
      candidate->row.score = backend.source().score;
      candidate->row.version = backend.version();
      reported.insert(backend.name());
    } else if (!candidate->is_refused) {
      candidate->refuse(LoadState::outranked, FE_INVALID_ARGUMENT, already_there(*candidate, backend));
    }
  }
}

LoadRow row_of(const Backend& backend) {
  LoadRow row;
  row.path = backend.file();
  row.root = backend.is_static() ? "static" : "";
  row.name = backend.name();
  row.variant = backend.variant();
  row.version = backend.version();
  if (backend.manifest()) row.device_kinds = backend.manifest()->device_kinds;
  row.state = LoadState::loaded;
  return row;
}

// Adds the backends that have no candidate row: those linked in, and those loaded earlier from elsewhere.
void add_other_rows(const std::set<std::string>& reported, LoadReport& report) {
  for (const auto& backend : Registry::instance().backends())
    if (!reported.contains(backend->name())) report.rows.push_back(row_of(*backend));
  for (const StaticRefusal& refusal : Registry::instance().static_refusals()) {
    LoadRow row;
    row.path = row.root = "static";
    row.name = refusal.name;
    row.variant = refusal.variant;
    row.state = refusal.disabled ? LoadState::disabled : state_of(refusal.code);
    row.reason = refusal.reason;
    report.rows.push_back(std::move(row));
  }
}

void add_devices(LoadReport& report) {
  for (LoadRow& row : report.rows) {
    if (row.state != LoadState::loaded) continue;
    row.devices.clear();
    if (const auto backend = Registry::instance().find_backend(row.name))
      for (const auto& device : backend->devices()) row.devices.push_back(device->view_name());
  }
}

// Sentences about variables of the environment that look like options of the backend and have no effect, or a wrong
// value. Sentences that are certain are also logged as a warning, once, because nothing else reports a misspelt name.
std::vector<std::string> problems_of_variables(Backend& backend, const std::vector<std::string>& all_backends) {
  std::vector<std::string> sentences;
  const std::vector<std::string> variables = option_variables(backend.name(), all_backends);
  if (variables.empty()) return sentences;
  const auto devices = backend.devices();
  const auto options = devices.empty() ? std::vector<DeviceOptionInfo>() : devices.front()->known_options();
  for (VariableProblem& problem : problems_of_option_variables(variables, backend.name(), options)) {
    if (problem.is_certain) warn_once("load_all: " + problem.sentence);
    sentences.push_back(std::move(problem.sentence));
  }
  return sentences;
}

void note_variables(LoadReport& report) {
  std::vector<std::string> names;
  names.reserve(report.rows.size());
  for (const LoadRow& row : report.rows) names.push_back(row.name);
  for (LoadRow& row : report.rows) {
    const auto backend = row.state == LoadState::loaded ? Registry::instance().find_backend(row.name) : nullptr;
    if (!backend) continue;
    std::vector<std::string> problems = problems_of_variables(*backend, names);
    row.notes.insert(row.notes.end(), problems.begin(), problems.end());
  }
}

void sort_rows(LoadReport& report) {
  std::map<std::string, std::size_t> places;
  for (const LoadRoot& root : report.roots) places.emplace(root.path, places.size() + 1);
  const auto key = [&](const LoadRow& row) {
    const auto place = places.find(row.root);
    return std::make_tuple(place != places.end() ? place->second : 0, std::string_view(row.name),
                           row.state != LoadState::loaded, -static_cast<int64_t>(row.rank.value_or(0)));
  };
  std::stable_sort(report.rows.begin(), report.rows.end(),
                   [&](const LoadRow& a, const LoadRow& b) { return key(a) < key(b); });
}

std::string line_about(const LoadRow& row) {
  return fmt::format("{}: {}{}{}", row.path, name_of(row.state), row.reason.empty() ? "" : ", ", row.reason);
}

// Logs one warning about modules that the user named and that were not loaded. Other failures are only in the report.
void warn_of_named(const LoadOptions& options, const LoadReport& report) {
  std::vector<std::string> problems;
  for (const LoadRoot& root : report.roots)
    if (!root.problem.empty()) problems.push_back(root.path + ": " + root.problem);
  for (const LoadRow& row : report.rows)
    if (row.root == "FERRULE_BACKEND_PATH" && row.state > LoadState::disabled)
      problems.push_back(row.path + ": " + row.reason);
  std::vector<std::string> names = environment_names("FERRULE_ONLY");
  names.insert(names.end(), options.only.begin(), options.only.end());
  for (const std::string& name : names)
    if (!Registry::instance().find_backend(name)) problems.push_back("no backend named " + name + " was loaded");
  if (!problems.empty()) log_warning("load_all: {}", joined(problems, "; "));
}

// Stores the outcome of each name for the error messages of requests for missing devices.
void remember(const LoadReport& report) {
  std::set<std::string> names;
  for (const LoadRow& row : report.rows)
    if (!row.name.empty()) names.insert(row.name);
  std::vector<KnownModule> modules;
  for (const std::string& name : names)
    if (const LoadRow* row = furthest_row(report, name))
      modules.push_back({name, name_of(row->state), row->reason, row->device_kinds});
  Registry::instance().remember_load(std::move(modules));
}

std::shared_ptr<Backend> open_one(Candidate& candidate, const Policy& policy) {
  const Prober prober(policy);
  if (auto source = open_module(candidate, prober))
    if (auto backend = start_module(candidate, std::move(*source))) {
      Registry::instance().name_devices();
      std::vector<std::string> names;
      for (const auto& other : Registry::instance().backends()) names.push_back(other->name());
      static_cast<void>(problems_of_variables(*backend, names));  // logs them
      return backend;
    }
  throw Error(candidate.code, path_to_text(candidate.path) + ": " + candidate.row.reason);
}

void read_and_check(Candidate& candidate, const std::vector<std::string>& only, TrustCheck& trust) {
  const Stopwatch stopwatch(candidate.row.times.read);
  refuse_disabled(candidate, only);
  read_candidate(candidate, trust);
  refuse_incompatible(candidate);
}

// Checks everything that needs no code of a module to run. Many candidates are examined in parallel.
void examine(std::vector<Candidate>& candidates, const std::vector<std::string>& only, Trust trust,
             const Prober& prober) {
  constexpr int64_t files_worth_a_thread = 8;
  std::vector<TrustCheck> checks(thread_count(), TrustCheck(trust));
  parallel_for(static_cast<int64_t>(candidates.size()), files_worth_a_thread, static_cast<uint32_t>(checks.size()),
               [&](int64_t begin, int64_t end, uint32_t thread) {
                 for (int64_t i = begin; i < end; ++i) {
                   Candidate& candidate = candidates[static_cast<std::size_t>(i)];
                   read_and_check(candidate, only, checks[thread]);
                   const Stopwatch stopwatch(candidate.row.times.probe);
                   prober.recall(candidate);
                 }
               });
}

LoadTimes sum_of_times(const std::vector<LoadRow>& rows) {
  LoadTimes sum;
  for (const LoadRow& row : rows) {
    sum.read += row.times.read;
    sum.hash += row.times.hash;
    sum.probe += row.times.probe;
    sum.open += row.times.open;
    sum.init += row.times.init;
  }
  return sum;
}

// Throws when the file at the path cannot be opened as a module.
Candidate runnable_candidate(const fs::path& path, const Policy& policy, const std::string& as_name) {
  Candidate candidate = candidate_of_any_name(path);
  candidate.is_named = true;
  TrustCheck trust(policy.trust);
  {
    const Stopwatch stopwatch(candidate.row.times.read);
    if (as_name.empty()) refuse_disabled(candidate, {});
    read_candidate(candidate, trust);
    if (!as_name.empty()) candidate.row.name = candidate.as_name = as_name;
    refuse_disabled(candidate, {});
    refuse_incompatible(candidate);
  }
  if (candidate.is_refused) throw Error(candidate.code, path_to_text(path) + ": " + candidate.row.reason);
  return candidate;
}

// The loaded backend with the candidate's name. When only the module's init provides the name, the backend that was
// loaded from the same file.
std::shared_ptr<Backend> named_as(const Candidate& candidate) {
  if (!candidate.name().empty()) return Registry::instance().find_backend(candidate.name());
  for (const auto& backend : Registry::instance().backends())
    if (is_same_file(candidate, *backend) && !backend->source().is_renamed) return backend;
  return nullptr;
}

LoadReport load_what_is_found(const LoadOptions& options) {
  Registry::instance().add_static_modules();
  double milliseconds_to_find = 0;
  Findings found = [&] {
    const Stopwatch stopwatch(milliseconds_to_find);
    return find_candidates(options);
  }();
  std::map<std::string, std::vector<Candidate*>> by_name;
  const Prober prober(options.policy);
  examine(found.candidates, options.only, options.policy.trust, prober);
  for (Candidate& candidate : found.candidates) by_name[candidate.name()].push_back(&candidate);
  std::set<std::string> reported;
  for (const auto& [name, candidates] : by_name) {
    if (const auto backend = Registry::instance().find_backend(name)) {
      keep_loaded(candidates, *backend, reported);
    } else {
      choose_module(candidates, options.policy.select, prober);
      if (Registry::instance().find_backend(name)) reported.insert(name);
    }
  }

  LoadReport report;
  report.remaining = Registry::instance().remaining();
  report.policy = options.policy;
  report.roots = std::move(found.roots);
  for (Candidate& candidate : found.candidates) report.rows.push_back(std::move(candidate.row));
  add_other_rows(reported, report);
  add_devices(report);
  note_variables(report);
  sort_rows(report);
  report.times = sum_of_times(report.rows);
  report.times.find = milliseconds_to_find;
  return report;
}

}  // namespace

LoadReport load_all(const LoadOptions& options) {
  const std::scoped_lock lock(Registry::instance().changes());
  double milliseconds = 0;
  LoadReport report = [&] {
    const Stopwatch stopwatch(milliseconds);
    return load_what_is_found(options);
  }();
  report.milliseconds = milliseconds;
  if (is_logged(FE_LOG_DEBUG))
    for (const LoadRow& row : report.rows) log_line(FE_LOG_DEBUG, line_about(row));
  warn_of_named(options, report);
  remember(report);
  return report;
}

void check_required(const LoadOptions& options, const LoadReport& report) {
  std::vector<std::string> missing, reasons;
  for (const std::string& name : options.require) {
    if (Registry::instance().find_backend(name)) continue;
    missing.push_back(name);
    const std::size_t count = reasons.size();
    for (const LoadRow& row : report.rows)
      if (row.name == name) reasons.push_back(line_about(row));
    if (reasons.size() == count) reasons.push_back(fmt::format("no module named {} was found", name));
  }
  if (missing.empty()) return;
  fail(FE_NOT_FOUND, "load_all: {} {} required and not loaded: {}", joined(missing), missing.size() == 1 ? "is" : "are",
       joined(reasons, "; "));
}

std::shared_ptr<Backend> load(const fs::path& path, const Policy& policy, const std::string& as_name) {
  const std::scoped_lock lock(Registry::instance().changes());
  std::error_code problem;
  if (path.empty() || !fs::exists(path, problem)) fail(FE_NOT_FOUND, "load: there is no file '{}'", path_to_text(path));
  if (!as_name.empty() && !module_file::is_backend_name(as_name))
    fail_argument("load: as_name is '{}', and a backend's name consists of a-z, 0-9 and _", as_name);
  Candidate candidate = runnable_candidate(fs::absolute(path), policy, as_name);
  if (auto backend = named_as(candidate)) {
    if (is_same_file(candidate, *backend)) return backend;
    fail_argument("load: {}: a backend named {} is loaded already, from {}; as_name= loads it under another name",
                  path_to_text(path), backend->name(), backend->file());
  }
  return open_one(candidate, policy);
}

std::shared_ptr<Backend> reload(std::string_view name, bool by_force) {
  const std::scoped_lock lock(Registry::instance().changes());
  const auto backend = Registry::instance().find_backend(name);
  if (!backend) fail(FE_NOT_FOUND, "reload: no backend named '{}' is loaded", name);
  if (backend->is_static()) fail(FE_UNSUPPORTED, "reload: backend {} is linked into the program", backend->full_name());
  const fs::path path = backend->source().path;
  Candidate candidate = runnable_candidate(path, default_policy(), backend->source().is_renamed ? backend->name() : "");
  const FileIdentity &before = backend->source().identity, &now = candidate.identity;
  // The mapping shows the new bytes, so the code that is loaded may be broken already and cannot be closed safely.
  if (now.inode == before.inode && now.device == before.device &&
      (now.size != before.size || now.modified_ns != before.modified_ns))
    fail(FE_UNSUPPORTED,
         "reload: {} was rewritten in place while it was loaded; a module is replaced by writing a new file and moving "
         "it there. Start the program again",
         path_to_text(path));
  if (by_force && Registry::instance().unload_or_abandon(backend->name())) return open_one(candidate, default_policy());
  if (!by_force) Registry::instance().unload(backend->name());
  if (const std::string reason = reason_left_mapped(path_to_text(path)); !reason.empty())
    fail(FE_UNSUPPORTED, "reload: {} was unloaded, but its new bytes cannot be loaded into this process: {}",
         path_to_text(path), reason);
  return open_one(candidate, default_policy());
}

}  // namespace ferrule
