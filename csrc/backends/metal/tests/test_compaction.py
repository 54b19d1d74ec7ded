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


def test_boolean_masks_select_and_assign(run: Run) -> None:
    program = """
x = random.integers(0, 100, (700, 3)).astype(np.int16)
rows, elements = random.random(700) < 0.3, random.random((700, 3)) < 0.5
y = on_metal(x)
show(y[on_metal(rows)], x[rows])
show(fe.compress(on_metal(rows), y, axis=0), x[rows])
values = np.arange(elements.sum(), dtype=np.int16)
x[elements] = values
y[on_metal(elements)] = on_metal(values)
show(y, x)
"""
    assert run(PRELUDE + program).split() == ["True"] * 3


def test_more_values_than_chosen_elements_is_an_error(run: Run) -> None:
    program = """
y = on_metal(np.zeros(4, np.float32))
try:
    y[on_metal(np.array([True, False, True, False]))] = on_metal(np.ones(3, np.float32))
    print(np.asarray(y))
except fe.errors.Error as error:
    print("2" in str(error), "3" in str(error))
"""
    assert run(PRELUDE + program, FERRULE_LOG="error").split() == ["True", "True"]
