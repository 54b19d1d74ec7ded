"""Ops that keep or replace the elements that a condition chooses: NumPy's results for many segments of elements."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]

PRELUDE = """
random = np.random.default_rng(5)
def on_metal(x):
    return fe.asarray(x, device="metal:0")
def show(one, other):
    print(np.array_equal(np.asarray(one), other))
"""


def test_nonzero_lists_the_elements_in_order(run: Run) -> None:
    # 300 * 260 elements are 305 segments of 256, more than threads that add up their counts.
    program = """
for dtype in ("bool", "uint8", "float16", "int64"):
    x = (random.random((300, 260)) < 0.05).astype(dtype)
    found = fe.nonzero(on_metal(x))
    for one, other in zip(found, np.nonzero(x), strict=True):
        show(one, other)
print(len(np.asarray(fe.nonzero(on_metal(np.array([0.0, -0.0, 1.0], np.float32)))[0])))
"""
    assert run(PRELUDE + program).split() == ["True"] * 8 + ["1"]
