// A file that may be a module, on its way through the steps of a load.
#pragma once

#include "core/loader/report.h"
#include "core/loader/sentence.h"
#include "core/loader/verdict.h"
#include "core/registry/backend.h"
#include "core/registry/manifest.h"
#include "sdk/tools/image.h"
#include "sdk/tools/own_libraries.h"

#include <ferrule/types.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ferrule {

// What an earlier load found out, and what it depends on.
struct Recalled {
  std::string key;
  Verdict verdict;
};

struct Candidate {
  std::filesystem::path path;  // as found
  std::filesystem::path real;  // what is opened
  std::size_t root = 0;        // place in the report's roots
  std::optional<Manifest> manifest;
  tools::Image image;
  std::vector<std::filesystem::path> neighbours;  // libraries that it needs and that lie beside it
  std::vector<tools::OwnLibrary> libraries;       // these and all others that come with it
  FileIdentity identity;
  std::string hash;  // SHA-256 of the file when it was read; "" when that was left for later
  std::optional<Recalled> recalled;
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
    row.reason = as_sentence(std::move(reason));
  }
};

}  // namespace ferrule
