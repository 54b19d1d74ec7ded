#include "core/platform/libraries/signature_advice.h"

namespace ferrule {

// The messages are those of dyld and of the kernel; Apple's "Hardened Runtime" and the manual page of codesign describe
// the rules.
std::string signature_advice(std::string_view message) {
  const auto has = [&](std::string_view words) { return message.find(words) != message.npos; };
  if (!has("code signature") && !has("code signing") && !has("cdhash")) return "";
  if (has("Team ID") || has("Library Validation") || has("library validation")) {
    return " (This program accepts only libraries that its own developer or Apple has signed. Sign the file with the "
           "program's identity, or sign the program with the entitlement "
           "com.apple.security.cs.disable-library-validation.)";
  }
  return " (The file has no valid signature, or was changed after it was signed: `codesign --force --sign - FILE` "
         "signs "
         "it ad hoc, and `ferrule-manifest FILE` writes its manifest again.)";
}

}  // namespace ferrule
