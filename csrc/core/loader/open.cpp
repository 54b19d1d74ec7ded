#include "core/loader/open.h"

#include "core/error.h"
#include "core/loader/dynamic_library.h"
#include "core/loader/file_hash.h"
#include "core/loader/mapped_files.h"
#include "core/loader/mapping.h"
#include "core/loader/probe.h"
#include "core/loader/refusal.h"
#include "core/loader/stopwatch.h"
#include "core/registry/abi.h"
#include "core/registry/enter.h"
#include "core/registry/registry.h"
#include "core/registry/step.h"
#include "sdk/tools/file_bytes.h"

#include <filesystem>
#include <optional>
#include <system_error>
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
    const fe_code code = code_of(error.get());
    candidate.refuse(state_of(code), code, message_of(error.get()));
  }
  return false;
}

[[noreturn]] void refuse_replaced() {
  throw Refusal{LoadState::error, FE_IO, "the file was replaced or rewritten while it was looked at; load it again"};
}

// `file` is what lies at the path now, and must be what was read.
std::string checked_hash(const Candidate& candidate, tools::FileBytes& file) {
  if (!file.is_open()) throw Refusal{LoadState::error, FE_IO, file.problem()};
  if (file.identity() != candidate.identity) refuse_replaced();
  const auto hash = hash_of(file, candidate.real);
  if (file.identity() != candidate.identity) refuse_replaced();
  if (!hash) throw Refusal{LoadState::error, FE_IO, "the file cannot be read"};
  if (candidate.manifest && *hash != candidate.manifest->sha256)
    throw Refusal{LoadState::error, FE_IO,
                  "its SHA-256 is not the one in its manifest: the file was changed after the manifest was written"};
  return *hash;
}

// That the bytes which were hashed are those that were mapped. Constructors have run by now; nothing else has.
void check_mapping(const Candidate& candidate, const DynamicLibrary& library, const tools::FileBytes& file) {
  if (file.identity() != candidate.identity) refuse_replaced();
  std::optional<bool> is_same = is_mapped_from(library.address(), file.descriptor());
  // Where the system does not tell, what lies at the path is all there is to ask.
  if (!is_same) is_same = tools::FileBytes::identity_at(candidate.real) == candidate.identity;
  if (!*is_same)
    throw Refusal{LoadState::error, FE_IO,
                  "the file that was mapped is not the one that was checked: it was replaced in between, or this "
                  "process has had another file of this path open; load it again"};
}

// Real paths of what came with a module, its own first.
void list_files(Candidate& candidate, const MappedFiles& before) {
  candidate.row.files = {candidate.real.string()};
  for (const std::string& name : before.names_of_new()) {
    if (name == candidate.row.files.front()) continue;
    std::error_code problem;
    const std::filesystem::path path = name, real = std::filesystem::canonical(path, problem);
    if (problem || real == candidate.real) continue;  // the kernel's own has a name and no file
    candidate.row.files.push_back(real.string());
    if (path.is_relative())
      candidate.row.notes.push_back(
          fmt::format("{} was taken from the current directory, by a relative path in LD_LIBRARY_PATH or in the run "
                      "path of a library that it needs",
                      real.string()));
  }
}

ModuleSource open_checked(Candidate& candidate, const tools::FileBytes& file) {
  begin_step("open");
  const MappedFiles before;
  // What replaced it while it was probed would have its constructors run.
  if (tools::FileBytes::identity_at(candidate.real) != candidate.identity) refuse_replaced();
  const std::shared_ptr<DynamicLibrary> library = DynamicLibrary::open(candidate.real, candidate.neighbours);
  check_mapping(candidate, *library, file);
  list_files(candidate, before);
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

std::optional<ModuleSource> open_module(Candidate& candidate, const Prober& prober) {
  std::optional<ModuleSource> source;
  LoadTimes& times = candidate.row.times;
  std::string hash;
  // Kept open until it is mapped, so that its numbers are nobody else's.
  tools::FileBytes file(candidate.real, tools::Links::refuse);
  if (attempt(candidate, times.hash, [&] { hash = checked_hash(candidate, file); }) &&
      attempt(candidate, times.probe, [&] { prober.probe(candidate, hash); }))
    attempt(candidate, times.open, [&] { source = open_checked(candidate, file); });
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
