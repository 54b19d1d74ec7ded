// All types and functions of MSL that the emulator has. Included in front of each text, and of the text for the strict
// checks (FERRULE_STRICT).
#pragma once

#include <ferrule/language.h>
#include <ferrule/types.h>
#include <ferrule/type_traits.h>
#include <ferrule/vectors.h>
#include <ferrule/packed_vectors.h>
#include <ferrule/limits.h>
#include <ferrule/calls.h>
#include <ferrule/integer_functions.h>
#include <ferrule/math_functions.h>
#include <ferrule/relational_functions.h>
#include <ferrule/geometric_functions.h>
#include <ferrule/array.h>
#include <ferrule/barriers.h>
#include <ferrule/simdgroup_functions.h>
#include <ferrule/simdgroup_matrix.h>
#include <ferrule/atomic_functions.h>
#ifndef FERRULE_STRICT
#include <ferrule/entries.h>
#endif
