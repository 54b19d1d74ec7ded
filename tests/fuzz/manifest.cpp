// Arbitrary bytes as a manifest: the reader returns a manifest or an error message.
#include "core/error.h"
#include "core/loader/candidate/manifest_file.h"
#include "core/registry/abi_compatibility.h"

#include <cstdint>
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, std::size_t size) {
  try {
    const ferrule::Manifest manifest = ferrule::parse_manifest(std::string(reinterpret_cast<const char*>(data), size));
    // A parsed manifest is complete: the loader relies on it.
    if (manifest.sha256.size() != 64 || manifest.abi.layout_hashes.empty()) std::abort();
    static_cast<void>(ferrule::abi_complaint(manifest.abi));
  } catch (const ferrule::Error& error) {
    // An error message short enough for a report.
    if (error.code() != FE_INVALID_ARGUMENT || *error.what() == '\0' || std::string(error.what()).size() > 1000)
      std::abort();
  }
  return 0;
}
