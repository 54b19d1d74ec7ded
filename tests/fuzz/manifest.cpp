// The file beside a module, whatever it holds: a manifest, or a sentence.
#include "core/error.h"
#include "core/loader/candidate/manifest_file.h"
#include "core/registry/abi_compatibility.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const ferrule::Manifest manifest = ferrule::parse_manifest(std::string(reinterpret_cast<const char*>(data), size));
    // What was read is whole: the loader counts on it.
    if (manifest.sha256.size() != 64 || manifest.abi.layout_hashes.empty()) std::abort();
    static_cast<void>(ferrule::abi_complaint(manifest.abi));
  } catch (const ferrule::Error& error) {
    // A reason, of a length that a report can show.
    if (error.code() != FE_INVALID_ARGUMENT || *error.what() == '\0' || std::string(error.what()).size() > 1000)
      std::abort();
  }
  return 0;
}
