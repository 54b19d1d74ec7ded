#include "core/loader/open.h"

#include "core/error.h"
#include "core/loader/dynamic_library.h"
#include "core/loader/file_hash.h"
#include "core/loader/probe.h"
#include "core/loader/refusal.h"
#include "core/loader/stopwatch.h"
#include "core/registry/abi.h"
#include "core/registry/enter.h"
#include "core/registry/registry.h"
#include "core/registry/step.h"

#include <utility>

namespace ferrule {
namespace {

// Runs a step: whatever comes out of it is a row, not the end of the load.
template <class Step>
bool attempt(Candidate& candidate, double& milliseconds, Step step) {
  const Stopwatch stopwatch(milliseconds);
  try {
    step();
    return true;
  } catch (const Refusal& refusal) {
    candidate.refuse(refusal.state, refusal.code, refusal.reason);
  } catch (...) {
    const ErrorPointer error(to_error_of_current_exception());
    candidate.refuse(LoadState::error, code_of(error.get()), message_of(error.get()));
  }
  return false;
}

std::string checked_hash(const Candidate& candidate) {
  const auto hash = hash_of(candidate.real, candidate.identity);
  if (!hash) throw Refusal{LoadState::error, FE_IO, "the file cannot be read"};
  if (candidate.manifest && *hash != candidate.manifest->sha256)
    throw Refusal{LoadState::error, FE_IO,
                  "its SHA-256 is not the one in its manifest: the file was changed after the manifest was written"};
  return *hash;
}

ModuleSource open_checked(Candidate& candidate) {
  begin_step("open");
  const std::shared_ptr<DynamicLibrary> library = DynamicLibrary::open(candidate.real);
  const auto* abi = static_cast<const fe_abi*>(library->symbol(FE_ABI_SYMBOL));
  ModuleSource source;
  source.init = library->function<fe_init_function>(FE_INIT_SYMBOL);
  if (abi == nullptr || source.init == nullptr)
    throw Refusal{LoadState::error, FE_INVALID_ARGUMENT,
                  std::string("it is no ferrule module: it does not export ") +
                      (abi == nullptr ? FE_ABI_SYMBOL : FE_INIT_SYMBOL)};
  if (const std::string complaint = abi_complaint(abi, source.abi); !complaint.empty())
    throw Refusal{LoadState::incompatible, FE_ABI_MISMATCH, complaint};
  if (const auto score = library->function<fe_score_function>(FE_SCORE_SYMBOL)) {
    begin_step("score");
    candidate.row.score = enter_module("score", score);
    if (*candidate.row.score <= 0)
      throw Refusal{LoadState::incompatible, FE_UNSUPPORTED,
                    fmt::format("it says itself that it cannot run here (score {})", *candidate.row.score)};
  }
  source.name = candidate.row.name;
  source.variant = candidate.row.variant;
  source.path = candidate.real;
  source.identity = candidate.identity;
  source.code = library;
  source.manifest = candidate.manifest;
  source.score = candidate.row.score;
  source.leaves_threads = candidate.leaves_threads;
  return source;
}

}  // namespace

std::optional<ModuleSource> open_module(Candidate& candidate, const Policy& policy) {
  std::optional<ModuleSource> source;
  LoadTimes& times = candidate.row.times;
  std::string hash;
  if (attempt(candidate, times.hash, [&] { hash = checked_hash(candidate); }) &&
      attempt(candidate, times.probe, [&] { probe_module(candidate, hash, policy); }))
    attempt(candidate, times.open, [&] { source = open_checked(candidate); });
  return source;
}

std::shared_ptr<Backend> start_module(Candidate& candidate, ModuleSource source) {
  std::shared_ptr<Backend> backend;
  const bool is_started = attempt(candidate, candidate.row.times.init, [&] {
    backend = Backend::start(std::move(source));
    if (backend->devices().empty())
      throw Refusal{LoadState::no_device, FE_NOT_FOUND, "it has no device on this machine"};
    Registry::instance().add(backend);
  });
  if (is_started) {
    candidate.row.state = LoadState::loaded;
    candidate.row.version = backend->version();
    for (const auto& device : backend->devices()) candidate.row.devices.push_back(device->view_name());
    return backend;
  }
  if (backend) backend->close();
  return nullptr;
}

}  // namespace ferrule
