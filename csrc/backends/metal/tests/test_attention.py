"""Attention in one pass over the keys, and in chunks of keys that are merged, by simdgroups and by threads.

Results are compared with NumPy's in float64. The bits of both kernels are equal, because the emulator adds up the
products of 8 elements in order.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

BY_SIMDGROUPS, BY_THREADS = "apple7,mac2,common3,metal3", "apple6,mac2,common3"
BOTH_WAYS = pytest.mark.parametrize("families", [BY_SIMDGROUPS, BY_THREADS])

PRELUDE = """
import hashlib, warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead

random = np.random.default_rng(5)
def numbers(*shape):
    return random.standard_normal(shape).astype(np.float32)
def on_metal(x):
    return fe.asarray(x, device="metal:0")
def attention(query, key, value, mask=None, **options):
    mask = None if mask is None else on_metal(mask)
    return np.asarray(fe.scaled_dot_product_attention(on_metal(query), on_metal(key), on_metal(value), mask, **options))
def expected(query, key, value, kept=None):
    scores = query.astype(np.float64) @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
    weights = np.exp(scores) if kept is None else np.exp(scores) * kept
    return weights @ value / np.maximum(weights.sum(-1, keepdims=True), 1e-300)
def show(one, other):
    print(bool(np.allclose(one, other, rtol=1e-5, atol=1e-6)))
digest = hashlib.sha256()
def check(what, one, other, tolerance=1e-5):
    if not np.allclose(one, other, rtol=tolerance, atol=tolerance / 10):
        print("wrong", what, abs(one - other).max())
    digest.update(one.astype(np.float32).tobytes())
"""

# Queries, keys, elements of a query, elements of a value: around the edges of matrices, blocks and chunks.
SIZES = """
sizes = [(1, 1, 1, 1), (7, 31, 5, 33), (8, 33, 32, 8), (9, 64, 33, 31), (16, 257, 8, 16), (17, 40, 64, 65),
         (33, 65, 7, 3), (40, 520, 16, 40), (12, 70, 250, 200), (35, 20, 200, 256)]
"""


@BOTH_WAYS
def test_keys_are_split_into_chunks(families: str, run: Run) -> None:
    program = """
query, key, value = numbers(2, 3, 8), numbers(2, 600, 8), numbers(2, 600, 5)
show(attention(query, key, value), expected(query, key, value))
mask = random.random((3, 600)) < 0.5
mask[0, 256:] = False
mask[1] = False
show(attention(query, key, value, mask), expected(query, key, value, mask))
show(attention(query, key, value, causal=True), expected(query, key, value, np.tri(3, 600, 597)))
for keys in (768, 512):  # whole chunks, beside memory of one more
    key, value = numbers(2, keys, 8), numbers(2, keys, 5)
    show(attention(query, key, value), expected(query, key, value))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=families).split() == ["True"] * 5


@BOTH_WAYS
def test_bits_of_a_query_do_not_depend_on_the_batch_or_on_the_capacity_of_keys(families: str, run: Run) -> None:
    # With 130 rows there are enough threadgroups without a split.
    program = """
query, key, value = numbers(130, 1, 8), numbers(130, 520, 8), numbers(130, 520, 8)
whole, single = attention(query, key, value), attention(query[7:8], key[7:8], value[7:8])
show(whole, expected(query, key, value))
print(np.array_equal(whole[7:8], single))
counted = attention(query[7:8], key[7:8], value[7:8], kv_length=200)
print(np.array_equal(counted, attention(query[7:8], key[7:8, :200], value[7:8, :200])))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=families).split() == ["True"] * 3


@BOTH_WAYS
def test_more_keys_than_there_are_is_an_error(families: str, run: Run) -> None:
    program = """
for keys in (40, 600):
    for length in (keys + 1, -1):
        try:
            attention(numbers(1, 2, 8), numbers(1, keys, 8), numbers(1, keys, 8), kv_length=on_metal(np.int64(length)))
            print("no error")
        except fe.errors.Error as error:
            print(length, str(length) in str(error))
"""
    words = run(PRELUDE + program, FERRULE_LOG="error", FERRULE_EMULATION_METAL_FAMILIES=families).split()
    assert words == ["41", "True", "-1", "True", "601", "True", "-1", "True"]


def test_the_family_decides_which_kernel_is_planned(run: Run) -> None:
    program = """
graph = fe.graph(fe.scaled_dot_product_attention).trace(*(on_metal(numbers(2, 40, 8)) for i in range(3)))
print(*(node["kernel"] for step in graph.plan["steps"] if "nodes" in step for node in step["nodes"]))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_SIMDGROUPS) == "attention_tiles\n"
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=BY_THREADS) == "attention\n"


def test_sizes_around_the_edges_of_blocks_give_equal_bits_in_both_kernels(run: Run) -> None:
    program = """
for queries, keys, head, value_head in sizes:
    query, key, value = numbers(2, queries, head), numbers(2, keys, head), numbers(2, keys, value_head)
    query *= 4  # the greatest score grows several times
    check((queries, keys, head, value_head), attention(query, key, value), expected(query, key, value), 1e-4)
    kept = np.tri(queries, keys, keys - queries)
    found = attention(query, key, value, causal=True)
    check(("causal", queries, keys), found, expected(query, key, value, kept), 1e-4)
print(digest.hexdigest())
"""
    by_simdgroups, by_threads = (
        run(PRELUDE + SIZES + program, FERRULE_EMULATION_METAL_FAMILIES=families)
        for families in (BY_SIMDGROUPS, BY_THREADS)
    )
    assert "wrong" not in by_simdgroups
    assert by_simdgroups == by_threads


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 4e-3), ("bfloat16", 3e-2)])
def test_halves_masks_and_grouped_heads_give_equal_bits_in_both_kernels(dtype: str, tolerance: float, run: Run) -> None:
    program = f"""
def halves(*shape):
    x = on_metal(numbers(*shape)).astype("{dtype}")
    return x, np.asarray(x.astype("float32"))
for queries, keys in ((3, 300), (20, 45), (37, 290)):
    (query, q), (key, k), (value, v) = halves(2, 4, queries, 24), halves(2, 2, keys, 24), halves(2, 2, keys, 40)
    spread = lambda x: np.repeat(x, 2, 1)
    group = lambda x: fe.repeat(x, 2, axis=1)
    kept = random.random((2, 1, queries, keys)) < 0.7
    kept[0, 0, 0] = False
    for mask in (on_metal(kept), fe.where(on_metal(kept), 0.0, -np.inf).astype("{dtype}")):
        one = fe.scaled_dot_product_attention(query, group(key), group(value), mask).astype("float32")
        check((queries, keys, str(mask.dtype)), np.asarray(one), expected(q, spread(k), spread(v), kept), {tolerance})
    one = fe.scaled_dot_product_attention(query, group(key), group(value), kv_length=keys - 9).astype("float32")
    check(("shorter", keys), np.asarray(one), expected(q, spread(k)[..., :-9, :], spread(v)[..., :-9, :]), {tolerance})
print(digest.hexdigest())
"""
    by_simdgroups, by_threads = (
        run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=families) for families in (BY_SIMDGROUPS, BY_THREADS)
    )
    assert "wrong" not in by_simdgroups
    assert by_simdgroups == by_threads


@BOTH_WAYS
def test_infinities_and_nans_reach_their_query_only(families: str, run: Run) -> None:
    program = """
query, key, value = numbers(1, 21, 20), numbers(1, 300, 20), numbers(1, 300, 9)
before = attention(query, key, value)
for special in (np.inf, -np.inf, np.nan):
    q, v = query.copy(), value.copy()
    q[0, 13, 4] = special
    after = attention(q, key, value)
    others = np.arange(21) != 13
    print(np.array_equal(after[:, others], before[:, others]), bool(np.isnan(after[0, 13]).all()))
    v[0, 270, 3] = special
    after = attention(query, key, v)
    others = np.arange(9) != 3
    print(np.array_equal(after[..., others], before[..., others]), bool((~np.isfinite(after[..., 3])).all()))
"""
    assert run(PRELUDE + program, FERRULE_EMULATION_METAL_FAMILIES=families).split() == ["True"] * 12
