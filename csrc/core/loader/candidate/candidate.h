// A file that may be a module, on its way through the steps of a load.
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
  std::filesystem::path path;  // as found
  std::filesystem::path real;  // what is opened
  std::size_t root = 0;        // place in the report's roots
  std::optional<Manifest> manifest;
  module_file::Image image;
  std::vector<std::filesystem::path> neighbours;   // libraries that it needs and that lie beside it
  std::vector<module_file::OwnLibrary> libraries;  // these and all others that come with it
  FileIdentity identity;
  std::string hash;  // SHA-256 of the file when it was read; "" when that was left for later
  std::shared_ptr<EarlierVerdict> earlier_verdict;  // of a probe, when one is remembered
  LoadRow row;
  std::string as_name;          // what its backend shall be called; "" for its own name
  bool is_named = false;        // the file itself, by the user, and not merely found
  bool leaves_threads = false;  // after its close; told by its probe
  bool is_refused = false;
  fe_code code = FE_OK;  // of the refusal

  const std::string& name() const { return row.name; }
  void refuse(LoadState state, fe_code why, std::string reason) {
    is_refused = true;
    code = why;
    row.state = state;
    row.reason = as_report_text(std::move(reason));
  }
};

// What a step throws to refuse its candidate: the state of the row, the code and the reason that it leaves behind.
struct CandidateRefusal {
  LoadState state;
  fe_code code;
  std::string reason;
};

// The state of a module whose own functions refuse with this code, in its probe, here, or linked into the program.
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
