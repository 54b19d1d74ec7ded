#include "core/platform/libraries/signature_advice.h"

#include <gtest/gtest.h>

namespace ferrule {
namespace {

// The message of dyld on macOS 14.
constexpr auto other_developer =
    "dlopen(/x/libferrule-mine.so, 0x0006): tried: '/x/libferrule-mine.so' (code signature in <B1A6> "
    "'/x/libferrule-mine.so' not valid for use in process: mapping process and mapped file (non-platform) have "
    "different Team IDs)";
constexpr auto no_signature =
    "dlopen(/x/libferrule-mine.so, 0x0006): tried: '/x/libferrule-mine.so' (code signature in <B1A6> "
    "'/x/libferrule-mine.so' not valid for use in process using Library Validation: mapped file has no cdhash, "
    "completely unsigned? Code has to be at least ad-hoc signed.)";
constexpr auto changed =
    "dlopen(/x/libferrule-mine.so, 0x0006): tried: '/x/libferrule-mine.so' (code signature invalid in <B1A6> "
    "'/x/libferrule-mine.so' (errno=1) sliceOffset=0x00000000, codeBlobOffset=0x00001000)";

TEST(SignatureAdvice, NamesTheEntitlementWhereTheProgramValidatesLibraries) {
  for (const auto* message : {other_developer, no_signature}) {
    EXPECT_NE(signature_advice(message).find("com.apple.security.cs.disable-library-validation"), std::string::npos);
  }
}

TEST(SignatureAdvice, NamesTheToolThatSignsWhereTheSignatureIsInvalid) {
  EXPECT_NE(signature_advice(changed).find("codesign --force --sign -"), std::string::npos);
}

TEST(SignatureAdvice, IsEmptyForOtherMessages) {
  EXPECT_EQ(signature_advice("libcuda.so.1: cannot open shared object file: No such file or directory"), "");
  EXPECT_EQ(signature_advice(""), "");
}

}  // namespace
}  // namespace ferrule
