// The layout hash that the headers carry is that of their text, or this file does not compile.
#include <ferrule/layout.h>

#include "sdk/layout/fnv1a.h"

static_assert(ferrule::fnv1a(FE_LAYOUT_TEXT) == FE_LAYOUT_HASH,
              "the headers changed: run `./dev abi` and look at the difference");
