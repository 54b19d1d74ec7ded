"""Kernels that process rows in parts: NumPy's results for rows that are longer than a part."""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

PRELUDE = """
import warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead

random = np.random.default_rng(5)
def on_metal(x):
    return fe.asarray(x, device="metal:0")
def show(one, other):
    print(np.array_equal(np.asarray(one), other))
"""


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_topk_takes_the_first_of_equal_elements(dtype: str, run: Run) -> None:
    program = f"""
x = random.integers(0, 9, (2, 700, 3)).astype("{dtype}")
for k in (1, 5, 700):
    for largest in (True, False):
        values, indices = fe.topk(on_metal(x), k, axis=1, largest=largest)
        order = np.argsort(-x.astype(int) if largest else x, axis=1, kind="stable")[:, :k]
        show(indices, order)
        show(values, np.take_along_axis(x, order, 1))
"""
    assert run(PRELUDE + program).split() == ["True"] * 12


@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_cumulative_sums_and_products_of_long_rows(dtype: str, run: Run) -> None:
    # Small whole numbers, so that float32 is exact.
    program = f"""
for shape, axis in (((700,), 0), ((2, 600, 3), 1)):
    x = random.integers(-3, 4, shape).astype("{dtype}")
    signs = np.where(random.random(shape) < 0.01, -2, 1).astype("{dtype}")
    show(fe.cumulative_sum(on_metal(x), axis=axis), np.cumsum(x, axis))
    show(fe.cumulative_prod(on_metal(signs), axis=axis), np.cumprod(signs, axis))
    with_zero = np.concatenate([np.zeros_like(x.take([0], axis)), np.cumsum(x, axis)], axis)
    show(fe.cumulative_sum(on_metal(x), axis=axis, include_initial=True), with_zero)
"""
    assert run(PRELUDE + program).split() == ["True"] * 6


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_products_of_floats_are_computed_from_the_first_element_to_the_last(dtype: str, run: Run) -> None:
    # The product of the elements from number 300 on exceeds float32; those from the first one on do not.
    program = f"""
x = (1 + random.uniform(-1e-3, 1e-3, (2, 900))).astype("{dtype}")
if x.dtype == np.float32:
    x[:, 10], x[:, 300:303] = 2.0**-100, (2.0**100, 2.0**60, 2.0**-60)
product = np.cumprod(x, axis=1, dtype=np.float32).astype(x.dtype)
show(fe.cumulative_prod(on_metal(x), axis=1), product)
show(fe.cumulative_prod(on_metal(np.ascontiguousarray(x.T)), axis=0), product.T)
"""
    assert run(PRELUDE + program).split() == ["True"] * 2


@pytest.mark.parametrize("dtype", ["float32", "float16", "int64", "uint8"])
def test_sorts_are_stable(dtype: str, run: Run) -> None:
    program = f"""
x = random.integers(0, 90, (3, 700)).astype("{dtype}")
for descending in (False, True):
    order = np.argsort(-x.astype(int) if descending else x, axis=-1, kind="stable")
    show(fe.argsort(on_metal(x), descending=descending), order)
    show(fe.sort(on_metal(x), descending=descending), np.take_along_axis(x, order, -1))
"""
    assert run(PRELUDE + program).split() == ["True"] * 4


def test_reductions_of_leaves_and_parts_do_not_depend_on_the_order_of_threads(run: Run) -> None:
    # A leaf has 1024 elements, a threadgroup up to 32 leaves. Sums of whole numbers are exact.
    program = """
import hashlib
digest = hashlib.sha256()
for rows, width in ((1, 33), (3, 1025), (20, 2050), (1, 33_000), (2, 70_001)):
    x = random.integers(-9, 10, (rows, width))
    for dtype in ("float32", "int64"):
        y = on_metal(x.astype(dtype))
        show(fe.sum(y, axis=1), x.sum(1).astype(dtype))
        show(fe.max(y, axis=1), x.max(1).astype(dtype))
        show(fe.argmin(y, axis=1), x.argmin(1))
    for result in (fe.sum, fe.prod):
        digest.update(np.asarray(result(on_metal(random.standard_normal((rows, width)).astype(np.float32)), axis=1)))
for width in (5, 70, 300, 2050):
    x = on_metal(random.standard_normal((3, width)).astype(np.float32))
    for result in (fe.softmax(x), fe.layer_norm(x), fe.rms_norm(x)):
        digest.update(np.asarray(result))
print(digest.hexdigest())
"""
    found = {run(PRELUDE + program, FERRULE_EMULATION_ORDER=order) for order in ("forward", "reverse", "11")}
    assert len(found) == 1
    assert found.pop().split()[:-1] == ["True"] * 30


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_extremes_of_negative_zeros_are_negative_zeros(dtype: str, run: Run) -> None:
    program = f"""
for shape in ((1,), (3, 700), (700, 3)):
    x = on_metal(np.full(shape, -0.0, np.float32)).astype("{dtype}")
    for axis in range(len(shape)):
        print(*(np.signbit(np.asarray(f(x, axis=axis).astype("float32"))).all() for f in (fe.max, fe.min)))
"""
    assert run(PRELUDE + program).split() == ["True"] * 10


def test_no_sum_is_minus_zero(run: Run) -> None:
    program = """
for shape in ((0,), (1,), (40,), (1100,), (3, 70), (0, 3)):
    x = on_metal(np.full(shape, -0.0, np.float32))
    print(np.signbit(np.asarray(fe.sum(x, axis=0))).any())
"""
    assert run(PRELUDE + program).split() == ["False"] * 6


def test_more_parts_than_a_threadgroup_joins_are_joined_in_two_steps(run: Run) -> None:
    # 8205 leaves are 257 parts of 32 leaves; a threadgroup joins up to 256.
    program = """
x = np.zeros(8_401_000, np.uint8)
for place in (0, 40_000, 300_000, 8_390_000, 8_400_999):
    x[place] = 7
    y = on_metal(x)
    print(int(fe.max(y)), int(fe.argmax(y)) == place)
    x[place] = 0
"""
    for order in ("forward", "reverse"):
        assert run(PRELUDE + program, FERRULE_EMULATION_ORDER=order).split() == ["7", "True"] * 5
