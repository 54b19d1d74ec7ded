// All elementwise functions. The function of an op is op_<name>; others are named in docs/functions.md.
#pragma once
#include "elementwise/activation.metal"
#include "elementwise/arithmetic.metal"
#include "elementwise/bitwise.metal"
#include "elementwise/comparison.metal"
#include "elementwise/conversion.metal"
#include "elementwise/error_function.metal"
#include "elementwise/exponential.metal"
#include "elementwise/logical.metal"
#include "elementwise/rounding.metal"
#include "elementwise/selection.metal"
#include "elementwise/trigonometric.metal"
