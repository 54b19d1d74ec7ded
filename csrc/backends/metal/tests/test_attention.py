"""Attention in one pass over the keys, and in chunks of keys that are merged: NumPy's results in float64."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]

PRELUDE = """
import warnings
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
"""


def test_keys_are_split_into_chunks(run: Run) -> None:
    program = """
query, key, value = numbers(2, 3, 8), numbers(2, 600, 8), numbers(2, 600, 5)
show(attention(query, key, value), expected(query, key, value))
mask = random.random((3, 600)) < 0.5
mask[0, 256:] = False
mask[1] = False
show(attention(query, key, value, mask), expected(query, key, value, mask))
show(attention(query, key, value, causal=True), expected(query, key, value, np.tri(3, 600, 597)))
"""
    assert run(PRELUDE + program).split() == ["True"] * 3


def test_bits_of_a_query_do_not_depend_on_the_batch_or_on_the_capacity_of_keys(run: Run) -> None:
    # With 130 rows there are enough threadgroups without a split.
    program = """
query, key, value = numbers(130, 1, 8), numbers(130, 520, 8), numbers(130, 520, 8)
whole, single = attention(query, key, value), attention(query[7:8], key[7:8], value[7:8])
show(whole, expected(query, key, value))
print(np.array_equal(whole[7:8], single))
counted = attention(query[7:8], key[7:8], value[7:8], kv_length=200)
print(np.array_equal(counted, attention(query[7:8], key[7:8, :200], value[7:8, :200])))
"""
    assert run(PRELUDE + program).split() == ["True"] * 3


def test_more_keys_than_there_are_is_an_error(run: Run) -> None:
    program = """
for keys in (40, 600):
    for length in (keys + 1, -1):
        try:
            attention(numbers(1, 2, 8), numbers(1, keys, 8), numbers(1, keys, 8), kv_length=on_metal(np.int64(length)))
            print("no error")
        except fe.errors.Error as error:
            print(length, str(length) in str(error))
"""
    words = run(PRELUDE + program, FERRULE_LOG="error").split()
    assert words == ["41", "True", "-1", "True", "601", "True", "-1", "True"]
