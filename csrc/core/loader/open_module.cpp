#include "core/loader/open_module.h"

#include "core/environment.h"
#include "core/error.h"
#include "core/loader/candidate/candidate.h"
#include "core/loader/private_copy.h"
#include "core/loader/probe/prober.h"
#include "core/loader/stopwatch.h"
#include "core/loader/trust/checked_libraries.h"
#include "core/loader/trust/file_hash.h"
#include "core/log.h"
#include "core/platform/libraries/dynamic_library.h"
#include "core/platform/libraries/mapped_libraries.h"
#include "core/platform/libraries/mapping_origin.h"
#include "core/registry/abi_compatibility.h"
#include "core/registry/device_kind.h"
#include "core/registry/module_calls.h"
#include "core/registry/registry.h"
#include "module_file/code_hash.h"
#include "module_file/file_bytes.h"
#include "module_file/sha256.h"
#include "module_file/path_text.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace ferrule {
namespace {

// Runs a step. An exception refuses the candidate and does not end the load.
template <class Step>
bool attempt(Candidate& candidate, double& milliseconds, Step step) {
  const Stopwatch stopwatch(milliseconds);
  try {
    step();
    return true;
  } catch (const CandidateRefusal& refusal) {
    candidate.refuse(refusal.state, refusal.code, refusal.reason);
  } catch (...) {
    const ErrorPointer error(to_error_of_current_exception());
    const fe_code code = code_of(error.get());
    candidate.refuse(state_of(code), code, message_of(error.get()));
  }
  return false;
}

[[noreturn]] void refuse_replaced() {
  throw CandidateRefusal{LoadState::error, FE_IO,
                         "the file was replaced or rewritten while it was being checked; load it again"};
}

// The hash of `file`, which is open at the candidate's path now and must be the file that was read.
// A file whose code is that of the manifest is taken, too: `strip` and `patchelf` change the others of an installation.
std::string checked_hash(Candidate& candidate, module_file::FileBytes& file) {
  if (!file.is_open()) throw CandidateRefusal{LoadState::error, FE_IO, file.problem()};
  if (file.identity() != candidate.identity) refuse_replaced();
  const auto hash = hash_of(file, candidate.real);
  if (file.identity() != candidate.identity) refuse_replaced();
  if (!hash) throw CandidateRefusal{LoadState::error, FE_IO, "the file cannot be read"};
  if (candidate.manifest && *hash != candidate.manifest->sha256) {
    const std::string& code = candidate.manifest->code_sha256;
    if (code.empty() || module_file::code_hash_of(file) != code)
      throw CandidateRefusal{
          LoadState::error, FE_IO,
          "its SHA-256 is not the one in its manifest: the file was changed after the manifest was written"};
    candidate.row.notes.emplace_back(
        "the file was changed after its manifest was written, as by strip or patchelf; its code was not");
  } else if (candidate.manifest && candidate.manifest->size != candidate.identity.size) {
    throw CandidateRefusal{LoadState::error, FE_IO,
                           fmt::format("the file has {} bytes, its manifest says {}, with the SHA-256 of the file",
                                       candidate.identity.size, candidate.manifest->size)};
  }
  return *hash;
}

// Checks that the mapped file is the hashed one. At this point the module's constructors have run, and nothing else.
void check_mapping(const DynamicLibrary& library, const std::filesystem::path& path,
                   const module_file::FileBytes& file) {
  std::optional<bool> is_same = is_mapped_from(library.address(), file.descriptor());
  // When the system does not provide the mapping's file, compare with the file at the path.
  if (!is_same) is_same = module_file::FileBytes::identity_at(path) == file.identity();
  if (!*is_same)
    throw CandidateRefusal{
        LoadState::error, FE_IO,
        "the file that was mapped is not the one that was checked: it was replaced in between, or this "
        "process has had another file of this path open; load it again"};
}

// Lists the real paths of the files that opening the module mapped, its own first.
void list_files(Candidate& candidate, const MappedLibraries& before) {
  candidate.row.files = {path_to_text(candidate.real)};
  for (const std::string& name : before.names_of_new()) {
    if (name == candidate.row.files.front()) continue;
    std::error_code problem;
    const std::filesystem::path path = name, real = std::filesystem::canonical(path, problem);
    if (problem || real == candidate.real) continue;  // the kernel's vDSO has a name but no file
    candidate.row.files.push_back(path_to_text(real));
    if (path.is_relative())
      candidate.row.notes.push_back(
          fmt::format("{} was taken from the current directory, by a relative path in LD_LIBRARY_PATH or in the run "
                      "path of a library that it needs",
                      path_to_text(real)));
  }
}

// Notes device kinds that the manifest does not list. Code that reads the manifest before the module is opened would be
// misled; the module itself works. A listed kind without a device is normal: this machine has no such device.
void note_other_kinds(Candidate& candidate, Backend& backend) {
  if (!candidate.manifest || candidate.manifest->device_kinds.empty()) return;
  const std::vector<std::string>& listed = candidate.manifest->device_kinds;
  std::set<std::string> others;
  for (const auto& device : backend.devices())
    if (std::find(listed.begin(), listed.end(), name_of(device->kind())) == listed.end())
      others.insert(name_of(device->kind()));
  if (others.empty()) return;
  candidate.row.notes.push_back(fmt::format("it has devices of kind {}, but its manifest lists only devices of kind {}",
                                            fmt::join(others, ", "), joined(listed)));
  log_info("{}: {}", candidate.row.path, candidate.row.notes.back());
}

bool is_loaded(const std::filesystem::path& file) {
  if (Registry::instance().is_abandoned(file)) return true;
  const auto backends = Registry::instance().backends();
  return std::any_of(backends.begin(), backends.end(),
                     [&](const auto& backend) { return !backend->is_static() && backend->source().path == file; });
}

// A module that is mapped from a copy, which is removed when the module is closed.
struct MappedCopy {
  std::shared_ptr<PrivateCopy> copy;
  std::shared_ptr<DynamicLibrary> library;  // closed first
};

ModuleSource open_checked(Candidate& candidate, module_file::FileBytes& file, const std::string& hash,
                          const std::vector<CheckedLibrary>& libraries) {
  begin_step("open");
  const MappedLibraries before;
  // Opening a file runs its constructors, so a file that was replaced during the probe is refused before that.
  if (module_file::FileBytes::identity_at(candidate.real) != candidate.identity) refuse_replaced();
  if (!are_unchanged(libraries)) refuse_replaced();
  // Maps the file, or a copy of it when a backend of another name has the file open.
  std::shared_ptr<PrivateCopy> copy;
  if (is_loaded(candidate.real)) copy = std::make_shared<PrivateCopy>(file, candidate.real.filename());
  const std::filesystem::path mapped = copy ? copy->path() : candidate.real;
  if (copy && module_file::sha256_of(copy->file()) != hash) refuse_replaced();
  const std::shared_ptr<DynamicLibrary> library = DynamicLibrary::open(mapped, candidate.neighbours);
  if (!are_unchanged(libraries) || file.identity() != candidate.identity) refuse_replaced();
  check_mapping(*library, mapped, copy ? copy->file() : file);
  if (!PrivateCopy::is_needed_while_mapped) copy.reset();
  list_files(candidate, before);
  const auto* abi = static_cast<const fe_abi*>(library->symbol(FE_ABI_SYMBOL));
  ModuleSource source;
  source.init = library->function<fe_init_function>(FE_INIT_SYMBOL);
  if (abi == nullptr || source.init == nullptr)
    throw CandidateRefusal{LoadState::error, FE_INVALID_ARGUMENT,
                           std::string("it is not a ferrule module: it does not export ") +
                               (abi == nullptr ? FE_ABI_SYMBOL : FE_INIT_SYMBOL)};
  if (const std::string complaint = abi_complaint(abi, source.abi); !complaint.empty())
    throw CandidateRefusal{LoadState::incompatible, FE_ABI_MISMATCH, complaint};
  if (const auto score = library->function<fe_score_function>(FE_SCORE_SYMBOL)) {
    begin_step("score");
    candidate.row.score = call_module("score", score);
    if (*candidate.row.score <= 0)
      throw CandidateRefusal{LoadState::incompatible, FE_UNSUPPORTED,
                             fmt::format("it says itself that it cannot run here (score {})", *candidate.row.score)};
  }
  source.name = candidate.row.name;
  source.variant = candidate.row.variant;
  source.is_renamed = !candidate.as_name.empty();
  source.path = candidate.real;
  source.mapped = mapped;
  source.identity = candidate.identity;
  source.code =
      copy ? std::make_shared<MappedCopy>(MappedCopy{std::move(copy), library}) : std::shared_ptr<void>(library);
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
  // Kept open until it is mapped, so that no other file gets its inode number.
  module_file::FileBytes file(candidate.real, module_file::Links::refuse);
  std::vector<CheckedLibrary> libraries;
  const auto check_hashes = [&] {
    hash = checked_hash(candidate, file);
    libraries = checked_libraries(candidate);
  };
  if (attempt(candidate, times.hash, check_hashes) &&
      attempt(candidate, times.probe, [&] { prober.probe(candidate, hash); }))
    attempt(candidate, times.open, [&] { source = open_checked(candidate, file, hash, libraries); });
  return source;
}

std::shared_ptr<Backend> start_module(Candidate& candidate, ModuleSource source) {
  std::shared_ptr<Backend> backend;
  const bool is_started = attempt(candidate, candidate.row.times.init, [&] {
    backend = Backend::start(std::move(source));
    if (backend->devices().empty())
      throw CandidateRefusal{LoadState::no_device, FE_NOT_FOUND, "it has no device on this machine"};
    if (candidate.name().empty()) {
      if (const std::string reason = disabled_reason(backend->name()); !reason.empty())
        throw CandidateRefusal{LoadState::disabled, FE_UNSUPPORTED, reason};
      candidate.row.name = backend->name();
      candidate.row.variant = backend->variant();
    }
    Registry::instance().add(backend);
  });
  if (is_started) {
    candidate.row.state = LoadState::loaded;
    candidate.row.version = backend->version();
    note_other_kinds(candidate, *backend);
    for (const auto& device : backend->devices()) candidate.row.devices.push_back(device->view_name());
    return backend;
  }
  if (backend) backend->close();
  return nullptr;
}

}  // namespace ferrule
