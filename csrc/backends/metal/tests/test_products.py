"""Matrix products, by simdgroups where the GPU's family has 8 x 8 products, and by threads elsewhere.

Results are compared with NumPy's in float64. The bits of both kernels are equal, because the emulator adds up the
products of 8 elements in order.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

BY_SIMDGROUPS, BY_THREADS = "apple7,mac2,common3,metal3", "apple6,mac2,common3"

PRELUDE = """
import hashlib, warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead

random = np.random.default_rng(7)
def on_metal(x, dtype="float32"):
    return fe.asarray(np.ascontiguousarray(x), device="metal:0").astype(dtype)
def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)
def kernels(graph):
    return [node["kernel"] for step in graph.plan["steps"] if "nodes" in step for node in step["nodes"]]
digest = hashlib.sha256()
# `one` has the dtype of the product of `a` and `b`, which are exact in it; its rounding may add half a unit of it.
def check(what, one, a, b, unit=2.0**-24):
    a, b, found = a.astype(np.float64), b.astype(np.float64), np.asarray(one.astype("float32")).astype(np.float64)
    expected, bound = a @ b, (a.shape[-1] + 1) * 2.0**-24 * (abs(a) @ abs(b))
    if not (abs(found - expected) <= bound + unit * (abs(expected) + bound) + 1e-30).all():
        print("wrong", what, abs(found - expected).max())
    digest.update(found.tobytes())
"""

# Sizes around the edges of tiles (8, 16, 32, 64, 128), of steps along K (16) and of segments of K (512).
SIZES = """
sizes = [(1, 1, 1), (1, 15, 127), (2, 17, 129), (8, 16, 128), (9, 7, 63), (16, 33, 65), (17, 31, 33), (31, 8, 40),
         (33, 65, 32), (63, 16, 64), (64, 512, 65), (65, 513, 31), (40, 1040, 33), (130, 9, 3), (300, 511, 1)]
"""

BOTH_WAYS = pytest.mark.parametrize("families", [BY_SIMDGROUPS, BY_THREADS])


def test_the_family_decides_which_kernel_is_planned(run: Run) -> None:
    program = """
for dtype in ("float32", "float16", "bfloat16", "int32"):
    graph = fe.graph(fe.matmul).trace(on_metal(numbers(40, 9), dtype), on_metal(numbers(9, 70), dtype))
    print(*kernels(graph))
"""
    tiles = ["matmul_tiles"] * 3 + ["matmul"]
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_SIMDGROUPS).split() == tiles
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_THREADS).split() == ["matmul"] * 4


@pytest.mark.parametrize(("dtype", "unit"), [("float32", "0"), ("float16", "2.0**-11"), ("bfloat16", "2.0**-8")])
def test_sizes_around_the_edges_of_tiles_give_equal_bits_in_both_kernels(dtype: str, unit: str, run: Run) -> None:
    program = f"""
for m, k, n in sizes:
    for turned in ((False, False), (True, False), (False, True), (True, True))[:: 1 if m * k * n < 50_000 else 3]:
        a, b = (np.asarray(on_metal(x, "{dtype}").astype("float32")) for x in (numbers(m, k), numbers(k, n)))
        one, other = (on_metal(x.T, "{dtype}").T if turn else on_metal(x, "{dtype}") for x, turn in zip((a, b), turned))
        check((m, k, n, turned), one @ other, a, b, {unit})
print(digest.hexdigest())
"""
    by_simdgroups, by_threads = (
        run(PRELUDE + SIZES + program, FERRULE_EMULATION_METAL_FAMILIES=families)
        for families in (BY_SIMDGROUPS, BY_THREADS)
    )
    assert "wrong" not in by_simdgroups
    assert by_simdgroups == by_threads


@BOTH_WAYS
def test_batches_are_broadcast_and_strides_are_followed(families: str, run: Run) -> None:
    program = """
a, b = numbers(3, 1, 20, 11), numbers(4, 11, 37)
check("broadcast", on_metal(a) @ on_metal(b), a, b)
a, b = numbers(2, 90, 70), numbers(1, 140, 66)
check("stepped", on_metal(a)[:, ::3, ::-1] @ on_metal(b)[:, ::2, 1::2], a[:, ::3, ::-1], b[:, ::2, 1::2])
a, b = numbers(5, 1), numbers(9, 33)
spread = np.broadcast_to(a[:, :1], (5, 9))
check("repeated", fe.broadcast_to(on_metal(a), (5, 9)) @ on_metal(b), spread, b)
check("no sum", on_metal(numbers(20, 0)) @ on_metal(numbers(0, 9)), np.zeros((20, 1)), np.zeros((1, 9)))
print("done")
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=families) == "done\n"


@pytest.mark.parametrize("order", ["forward", "11"])
def test_segments_of_k_give_the_same_bits_in_one_threadgroup_and_in_many(order: str, run: Run) -> None:
    # 260 matrices keep the device busy, so their threadgroups have all segments; a single matrix is split.
    program = """
for m, k, n in ((2, 1040, 3), (20, 530, 9), (33, 520, 35)):
    a, b = numbers(260, m, k), numbers(k, n)
    whole = on_metal(a) @ on_metal(b)
    check((m, k, n), whole, a, b)
    print(np.array_equal(np.asarray(whole)[7:9], np.asarray(on_metal(a[7:9]) @ on_metal(b))))
"""
    words = run(
        PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_SIMDGROUPS, FERRULE_EMULATION_ORDER=order
    ).split()
    assert words == ["True"] * 3


def test_infinities_and_nans_reach_their_row_and_column_only(run: Run) -> None:
    # The edges of tiles are filled with zeros, which would make NaN of an infinity. 1100 is more than two segments.
    program = """
for m, k, n in ((3, 5, 7), (9, 20, 70), (40, 1100, 33), (70, 17, 1)):
    a, b = numbers(m, k), numbers(k, n)
    for special in (np.inf, np.nan):
        for place in (0, k - 1):
            c, d = a.copy(), b.copy()
            c[m - 1, place] = special
            d[place, n // 2] = special
            with np.errstate(all="ignore"):
                expected = c @ d
            found = np.asarray(on_metal(c) @ on_metal(d))
            same = np.array_equal(np.isnan(found), np.isnan(expected))
            print(same and np.array_equal(np.isinf(found), np.isinf(expected)))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_SIMDGROUPS).split() == ["True"] * 16
