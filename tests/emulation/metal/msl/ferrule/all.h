// All types and functions of MSL that the emulator has: those that kernels use. Included in front of each text, and of
// the text for the strict checks (FERRULE_STRICT).
#pragma once

#include <ferrule/language.h>
#include <ferrule/types.h>
#include <ferrule/vectors.h>
#include <ferrule/calls.h>
#include <ferrule/integer_functions.h>
#include <ferrule/math_functions.h>
#include <ferrule/barriers.h>
#include <ferrule/simdgroup_functions.h>
#include <ferrule/simdgroup_matrix.h>
#include <ferrule/atomic_functions.h>
#ifndef FERRULE_STRICT
#include <ferrule/entries.h>
#endif
