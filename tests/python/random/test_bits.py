"""Random bits and keys: the published answers of Philox, and the same numbers by every way to compute them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule.testing.cases.random import philox, random_bits

from tests.python.each import each

FE: Any = fe
# From Random123's kat_vectors: counter, key and result of philox4x32 with 10 rounds.
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text: str) -> Any:
    return np.array([int(word, 16) for word in text.split()], np.uint32)


@pytest.mark.parametrize(("counter", "key", "result"), KNOWN)
def test_the_oracle_gives_the_known_answers(counter: str, key: str, result: str) -> None:
    np.testing.assert_array_equal(philox(words(counter)[None], words(key))[0], words(result))


def test_the_first_bits_of_key_0_are_a_known_answer() -> None:
    assert fe.random.bits(fe.random.key(0), 4).tolist() == words(KNOWN[0][2]).tolist()


@each("size", [0, 1, 3, 4, 63, 64, 65, 1001, 200_003])
def test_bits_equal_the_oracle_at_any_size(size: int) -> None:
    seed = 0x123456789ABCDEF0
    got = np.asarray(fe.random.bits(fe.random.key(seed), size))
    np.testing.assert_array_equal(got, random_bits(np.array([seed & 0xFFFFFFFF, seed >> 32]), size), strict=True)


@pytest.mark.parametrize("size", [0, 5, 4099])
def test_the_decomposition_gives_the_bits_of_the_kernel(
    size: int, null_module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_NULL_COMPUTES_WITH", str(fe.device("cpu").backend.path))
    monkeypatch.setenv("FERRULE_NULL_WITHOUT", "random_bits")
    fe.load(null_module)
    try:
        compare_on_null(size)
    finally:
        fe.unload("null")


def compare_on_null(size: int) -> None:
    key = fe.random.key(2**63 + 5, device="null")
    draw = fe.graph(lambda key: (fe.random.bits(key, size), fe.random.split(key, size)), fallback="error")
    assert "random_bits" not in {node["op"] for node in draw.trace(key).compile().placement()["nodes"]}
    bits, keys = draw(key)
    np.testing.assert_array_equal(np.asarray(bits), random_bits(np.asarray(key), size), strict=True)
    np.testing.assert_array_equal(np.asarray(keys).reshape(-1), random_bits(np.asarray(key), 2 * size, 1), strict=True)


def test_all_dtypes_are_parts_of_the_same_words() -> None:
    key = fe.random.key(3)
    all_words = np.asarray(fe.random.bits(key, 64))
    np.testing.assert_array_equal(np.asarray(fe.random.bits(key, 64, "uint8")), (all_words >> 24).astype(np.uint8))
    np.testing.assert_array_equal(np.asarray(fe.random.bits(key, 64, fe.uint16)), (all_words >> 16).astype(np.uint16))
    upper = random_bits(np.asarray(key), 64, 2).astype(np.uint64)
    np.testing.assert_array_equal(
        np.asarray(fe.random.bits(key, (8, 8), "uint64")).reshape(-1), all_words | upper << np.uint64(32)
    )


def test_results_do_not_depend_on_threads_or_on_the_shape() -> None:
    key, before = fe.random.key(11), fe.thread_count()
    results = []
    try:
        for threads in (1, 2, 3):
            fe.set_thread_count(threads)
            results.append([np.asarray(f(key, (300, 1001))) for f in (fe.random.bits, fe.random.normal)])
    finally:
        fe.set_thread_count(before)
    for other in results[1:]:
        for one, same in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(one, same)
    for function in (
        *(fe.random.bits, fe.random.uniform, fe.random.normal, fe.random.exponential, fe.random.gumbel),
        *(lambda key, shape: fe.random.bits(key, shape, "uint64"), lambda key, n: fe.random.integers(key, n, 0, 9)),
        *(
            lambda key, shape: fe.random.normal(key, shape, dtype="float64"),
            lambda key, n: fe.random.bernoulli(key, 0.5, n),
        ),
    ):
        long, short = np.asarray(function(key, 1000)), np.asarray(function(key, (3, 7)))
        np.testing.assert_array_equal(long[:21].reshape(3, 7), short)


def test_keys_of_a_split_differ_and_begin_alike() -> None:
    key = fe.random.key(0)
    keys = np.asarray(fe.random.split(key, 10_000))
    assert len({tuple(row) for row in keys.tolist()}) == 10_000
    np.testing.assert_array_equal(np.asarray(fe.random.split(key, 3)), keys[:3])
    assert not np.isin(keys[:, 0], np.asarray(fe.random.bits(key, 20_000))).mean() > 0.01  # another stream
    first, second = (np.asarray(fe.random.uniform(one, 10_000)) for one in fe.random.split(key))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05


def test_seeds_up_to_64_bits_give_different_keys() -> None:
    seeds = [0, 1, 2**32 - 1, 2**32, 2**63, 2**64 - 1]
    assert len({tuple(fe.random.key(seed).tolist()) for seed in seeds}) == len(seeds)
    assert fe.random.key(np.uint64(2**64 - 1)).tolist() == [2**32 - 1, 2**32 - 1]
    assert fe.random.key(fe.asarray(2**33 + 1)).tolist() == [1, 2]


def test_a_traced_key_gives_new_numbers_without_retracing() -> None:
    drawn = fe.graph(lambda key, n: fe.random.uniform(key, 5) + n)
    results = [drawn(key, 1) for key in fe.random.split(fe.random.key(0), 4)]
    assert drawn.cache_info().misses == 1
    assert len({tuple(x.tolist()) for x in results}) == 4
    np.testing.assert_array_equal(
        np.asarray(results[0]), np.asarray(fe.random.uniform(fe.random.split(fe.random.key(0), 4)[0], 5)) + 1
    )


def test_a_traced_seed_is_an_operand() -> None:
    drawn = fe.graph(lambda seed: fe.random.bits(fe.random.key(seed), 3))
    for seed in (0, 5, 2**40 + 1):
        assert drawn(seed).tolist() == fe.random.bits(fe.random.key(seed), 3).tolist()
    assert drawn.cache_info().misses == 1


@each(
    ("call", "kind", "message"),
    [
        (lambda: FE.random.key(-1), ValueError, r"random.key: seed is from 0 to 2\*\*64 - 1, not -1"),
        (lambda: FE.random.key(1.5), ValueError, "random.key: seed must be one integer, not 1.5"),
        (lambda: FE.random.split(FE.random.key(0), -1), ValueError, "random.split: n is -1"),
        (lambda: FE.random.bits(FE.arange(2), 3), ValueError, "random.bits: key is made by random.key"),
        (lambda: FE.random.bits(7, 3), ValueError, "random.bits: key is made by random.key"),
        (lambda: FE.random.normal("key"), ValueError, "random.normal: key is made by random.key"),
        (lambda: FE.random.bits(FE.random.key(0), 3, "int32"), fe.DTypeError, "random.bits: dtype is an unsigned"),
        (lambda: FE.random.bits(FE.random.key(0), (2, -1)), ValueError, "random.bits: the shape"),
    ],
)
def test_wrong_arguments_are_named(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()
