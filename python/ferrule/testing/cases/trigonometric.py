"""Trigonometric and hyperbolic functions."""

from __future__ import annotations

import numpy as np

from ferrule.testing.model.values import Domain
from ferrule.testing.problems.elementary import NEAR_OVERFLOW, binary, complex_unary, unary

CASES = [
    *unary("sin", np.sin, Domain(-30, 30)),
    *unary("cos", np.cos, Domain(-30, 30)),
    *unary("tan", np.tan, Domain(-30, 30)),
    *unary("asin", np.arcsin, Domain(-1, 1)),
    *unary("acos", np.arccos, Domain(-1, 1)),
    *unary("atan", np.arctan, Domain(-30, 30)),
    *binary("atan2", np.arctan2, Domain(-30, 30)),
    *unary("sinh", np.sinh, Domain(-90, 90, edges=(88.7, 89.4, 709.7, 710.4))),
    *unary("cosh", np.cosh, Domain(-90, 90, edges=(88.7, 89.4, 709.7, 710.4))),
    *unary("tanh", np.tanh, Domain(-10, 10)),
    *unary("asinh", np.arcsinh, Domain(-1e3, 1e3)),
    *unary("acosh", np.arccosh, Domain(1, 1e3)),
    *unary("atanh", np.arctanh, Domain(-1, 1)),
    *complex_unary("sin", np.sin, NEAR_OVERFLOW),
    *complex_unary("cos", np.cos, NEAR_OVERFLOW),
    *complex_unary("tan", np.tan, Domain(-30, 30)),
    *complex_unary("asin", np.arcsin, Domain(-10, 10)),
    *complex_unary("acos", np.arccos, Domain(-10, 10)),
    *complex_unary("atan", np.arctan, Domain(-10, 10)),
    *complex_unary("sinh", np.sinh, NEAR_OVERFLOW),
    *complex_unary("cosh", np.cosh, NEAR_OVERFLOW),
    *complex_unary("tanh", np.tanh, Domain(-30, 30)),
    *complex_unary("asinh", np.arcsinh, Domain(-10, 10)),
    *complex_unary("acosh", np.arccosh, Domain(-10, 10)),
    *complex_unary("atanh", np.arctanh, Domain(-10, 10)),
]
