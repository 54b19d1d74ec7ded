"""Elementary functions of float32 for arguments of all sizes, more closely than the kit's 4 ULP: docs/README.md tells
these bounds."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
import math
np.seterr(all="ignore")

def errors(got, truth):
    \"\"\"In units in the last place. Infinite where only one is NaN or infinite, or the signs differ.\"\"\"
    rounded = truth.astype(np.float32)
    unit = 2.0 ** (np.floor(np.log2(np.maximum(np.abs(truth), 2.0**-126))) - 23)
    error = np.where(np.isfinite(got) & np.isfinite(rounded), np.abs(got - truth) / unit, np.inf)
    same = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    signs = np.isnan(got) | (np.signbit(got) == np.signbit(rounded))
    return np.where(signs, np.where(same, np.minimum(error, 0.5), error), np.inf)

def check(name, truth, bound, *arguments):
    got = np.asarray(getattr(fe, name)(*(fe.asarray(x, device="vulkan") for x in arguments)))
    error = errors(got, truth(*(x.astype(np.float64) for x in arguments)))
    worst = int(error.argmax())
    assert error[worst] <= bound, (name, error[worst], [x[worst] for x in arguments], got[worst])
"""

# Every 4001st float32, from any sign to NaN.
UNARY = {
    "tan": ("np.tan", 2.8),
    "asin": ("np.arcsin", 2.0),
    "acos": ("np.arccos", 1.2),
    "atan": ("np.arctan", 1.5),
    "sinh": ("np.sinh", 1.8),
    "cosh": ("np.cosh", 1.5),
    "asinh": ("np.arcsinh", 1.8),
    "acosh": ("np.arccosh", 2.2),
    "atanh": ("np.arctanh", 1.7),
    "exp2": ("np.exp2", 1.0),
    "log2": ("np.log2", 2.0),
    "log10": ("np.log10", 2.0),
    "erfc": ("np.vectorize(math.erfc, otypes=[np.float64])", 3.4),
}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(run: Run, name: str) -> None:
    truth, bound = UNARY[name]
    program = f"""
x = np.arange(0, 2**32, 4001, dtype=np.uint64).astype(np.uint32).view(np.float32)
check("{name}", {truth}, {bound}, x)
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"


@pytest.mark.parametrize(("name", "truth", "bound"), [("atan2", "np.arctan2", 1.6), ("hypot", "np.hypot", 1.2)])
def test_functions_of_two_arguments(run: Run, name: str, truth: str, bound: float) -> None:
    """The pairs have unrelated sizes, similar sizes, or a subnormal number."""
    program = f"""
rng = np.random.default_rng(5)
x = rng.integers(0, 2**32, 500_000).astype(np.uint32).view(np.float32)
y = rng.integers(0, 2**32, 500_000).astype(np.uint32).view(np.float32)
near = (x * rng.uniform(-3, 3, x.shape)).astype(np.float32)
tiny, other = (rng.integers(-40, 40, (2, 100_000)) * 2.0**-149).astype(np.float32)
for pair in ((x, y), (x, near), (near, x), (tiny, other)):
    check("{name}", {truth}, {bound}, *pair)
print("ok")
"""
    assert run(PRELUDE + program) == "ok\n"
