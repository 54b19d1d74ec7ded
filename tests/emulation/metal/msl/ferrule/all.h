// All types and functions of MSL that the emulator has. Included in front of each text, and of the text for the strict
// checks (FERRULE_STRICT).
#pragma once

#include "ferrule/language.h"
#include "ferrule/types.h"
#include "ferrule/type_traits.h"
#include "ferrule/vectors.h"
#include "ferrule/calls.h"
#include "ferrule/barriers.h"
#ifndef FERRULE_STRICT
#include "ferrule/entries.h"
#endif
