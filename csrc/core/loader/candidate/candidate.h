// A file that may be a module, and what the steps of a load find out about it.
#pragma once

#include "core/loader/report/load_report.h"
#include "core/registry/backend.h"
#include "core/registry/manifest.h"
#include "module_file/image.h"
#include "module_file/own_libraries.h"

#include <ferrule/types.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

struct EarlierVerdict;  // core/loader/probe/prober.h

struct Candidate {
  std::filesystem::path path;           // as found
  std::filesystem::path real;           // links resolved; the file that is opened
  std::filesystem::path manifest_file;  // beside `path`, else beside `real`; it need not exist
  std::size_t root = 0;                 // index into the report's roots
  std::optional<Manifest> manifest;
  module_file::Image image;
  std::vector<std::filesystem::path> neighbours;   // the libraries beside it that it depends on
  std::vector<module_file::OwnLibrary> libraries;  // all libraries that come with it
  FileIdentity identity;
  std::string hash;                                 // the file's SHA-256 when it was read; "" when it is computed later
  std::shared_ptr<EarlierVerdict> earlier_verdict;  // the cached verdict of a probe, or null
  LoadRow row;
  std::string as_name;          // the name for its backend; "" for the module's own
  bool is_named = false;        // the user named this file
  bool leaves_threads = false;  // its threads go on after close, according to its probe
  bool is_refused = false;
  fe_code code = FE_OK;  // why it was refused

  const std::string& name() const { return row.name; }
  void refuse(LoadState state, fe_code why, std::string reason) {
    is_refused = true;
    code = why;
    row.state = state;
    row.reason = as_report_text(std::move(reason));
  }
};

// Thrown by a step to refuse its candidate.
struct CandidateRefusal {
  LoadState state;
  fe_code code;
  std::string reason;
};

// The state of a module whose own functions fail with this code: in its probe, in this process, or in a static build.
inline LoadState state_of(fe_code code) {
  switch (code) {
    case FE_NOT_FOUND:
      return LoadState::no_device;
    case FE_UNSUPPORTED:
    case FE_ABI_MISMATCH:
      return LoadState::incompatible;
    default:
      return LoadState::error;
  }
}

}  // namespace ferrule
