"""Attention by wgmma and TMA, which GPUs of compute capability 9.0 have (the emulator's default).

Its bits are those of the kernels with mma.sync, so that the kernel may depend on the number of queries. The emulator
adds in order in both, so these tests show that blocks of keys, parts of weights and tails agree, not that the
instructions of a GPU do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., str]

DTYPES = ("float16", "bfloat16")
OTHER_GPU = {"FERRULE_EMULATION_CAPABILITY": "8.0"}


@pytest.fixture
def on_device(run: Run) -> Run:
    return lambda program, **variables: run(PRELUDE + program, **variables)


PRELUDE = """
import hashlib
rng = np.random.default_rng(0)
ROUNDING = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
attend = fe.scaled_dot_product_attention

def tensor(dtype, *shape):
    x = put(rng.standard_normal(shape)).astype(dtype)
    fe.eval(x)
    return x

def count(keys):
    return fe.asarray(np.asarray(keys, dtype="int32"), device="cuda")

def exact(x):
    return np.asarray(x.astype("float32")).astype("float64")

def kernel(graph, *arrays):
    return graph.trace(*arrays).placement()["nodes"][-1]["kernel"]

# Runs the graph with the kernel that is wanted, and returns its result.
def run(function, *arrays, wants=True):
    graph = fe.graph(function)
    name = kernel(graph, *arrays)
    assert name.startswith("attention_hopper.") == wants, name
    return graph(*arrays)

def want_of(q, k, v, causal=False, length=None):
    q, k, v = (x if isinstance(x, np.ndarray) else exact(x) for x in (q, k, v))
    keys = k.shape[-2] if length is None else length
    k, v = k[..., :keys, :], v[..., :keys, :]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if causal:
        kept = np.arange(keys) <= np.arange(q.shape[-2])[:, None] + keys - q.shape[-2]
        scores = np.where(kept, scores, -np.inf)
    greatest = scores.max(axis=-1, keepdims=True, initial=-1e300)
    weights = np.exp(scores - greatest)
    total = weights.sum(axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total) @ v

# Rounding of the result; products and sums in float32, of values of which some are 4.
def check(got, want):
    assert got.shape == want.shape, (got.shape, want.shape)
    bound = ROUNDING[str(got.dtype)] * np.abs(want) + 2.0**-15
    assert (np.abs(exact(got) - want) <= bound).all(), np.abs(exact(got) - want).max()
"""


@pytest.mark.parametrize("dtype", DTYPES)
def test_results_are_those_of_numpy(on_device: Run, dtype: str) -> None:
    # One block of keys, full or not; tails of queries and keys; heads whose tiles have columns that do not exist.
    program = f"""
for queries, keys, head, value_head, name in (
    (128, 128, 64, 64, "64"), (65, 1, 64, 64, None), (70, 2, 128, 128, "128"), (70, 64, 64, 64, "64"),
    (130, 65, 128, 128, "128"), (200, 127, 40, 64, "64"), (129, 300, 64, 48, "64"), (257, 385, 128, 128, "128"),
    (100, 256, 80, 80, "128"), (100, 130, 96, 72, "128"), (100, 130, 24, 128, "128"),
):
    for causal in (False, True):
        q, k, v = (tensor("{dtype}", 2, *shape)
                   for shape in ((queries, head), (keys, head), (keys, value_head)))
        graph = fe.graph(lambda q, k, v: attend(q, k, v, causal=causal))
        found = kernel(graph, q, k, v)
        wanted = name and f"attention_hopper.{dtype.replace("float", "f")}_{{name}}"
        assert found == wanted or not name and "hopper" not in found, (queries, keys, head, found)
        check(graph(q, k, v), want_of(q, k, v, causal))
"""
    on_device(program)


@pytest.mark.parametrize("dtype", DTYPES)
def test_kv_length_ends_the_keys(on_device: Run, dtype: str) -> None:
    # The memory behind the keys is NaN: in the block with the last one, and in blocks behind it.
    program = f"""
for head in (64, 128):
    for causal in (False, True):
        graph = fe.graph(lambda q, k, v, n: attend(q, k, v, kv_length=n, causal=causal))
        for length in (0, 1, 63, 64, 65, 127, 128, 129, 255, 256, 300):
            q = tensor("{dtype}", 2, 140, head)
            k, v = (rng.standard_normal((2, 300, head)).astype("float32") for _ in range(2))
            k[:, length:] = v[:, length:] = np.nan
            k, v = put(k).astype("{dtype}"), put(v).astype("{dtype}")
            fe.eval(k, v)
            n = count(length)
            assert "hopper" in kernel(graph, q, k, v, n)
            check(graph(q, k, v, n), want_of(q, k, v, causal, length))
        try:
            np.asarray(graph(q, k, v, count(301)))
            raise SystemExit("a length of 301 was taken")
        except fe.Error as error:
            assert "301" in str(error), error
"""
    on_device(program)


@pytest.mark.parametrize("queries", [70, 300])
def test_causal_with_other_numbers_of_keys_than_queries(on_device: Run, queries: int) -> None:
    # Rows that keep no key give zeros; the warp groups of a block may keep different numbers of blocks of keys. With 65
    # keys more than queries, only the last row of a warp group keeps a key of the group's last block.
    program = f"""
for keys in (30, 129, 200, 430, 600, {queries} + 65):
    for head in (64, 128):
        q, k, v = tensor("bfloat16", {queries}, head), tensor("bfloat16", keys, head), tensor("bfloat16", keys, head)
        check(run(lambda q, k, v: attend(q, k, v, causal=True), q, k, v), want_of(q, k, v, True))
"""
    on_device(program)


def test_values_that_a_warp_keeps_nothing_of_do_not_reach_its_rows(on_device: Run) -> None:
    # Row i keeps the keys up to i + 100: of the second block of 128 keys, the first warp of a group keeps nothing.
    program = """
q, k = tensor("float16", 130, 64), tensor("float16", 230, 64)
values = rng.standard_normal((230, 64)).astype("float16").astype("float64")
values[140] = np.nan
v = put(values).astype("float16")
fe.eval(v)
got = exact(run(lambda q, k, v: attend(q, k, v, causal=True), q, k, v))
values[140] = 0
check(fe.asarray(got[:16].astype("float16")), want_of(q, k, values, True)[:16])
assert np.isnan(got[40:]).all()
"""
    on_device(program)


BATCHES = """
# Batches, heads in groups that share keys and values, and heads beside each other in a row.
q, k, v = tensor(dtype, 2, 6, 100, 64), tensor(dtype, 2, 2, 140, 64), tensor(dtype, 2, 2, 140, 64)
def grouped(q, k, v):
    return attend(q.reshape((2, 2, 3, 100, 64)), k.reshape((2, 2, 1, 140, 64)), v.reshape((2, 2, 1, 140, 64)))
got["grouped"] = run(grouped, q, k, v)
shared = (exact(x).repeat(3, axis=1) for x in (k, v))
check(got["grouped"].reshape((2, 6, 100, 64)), want_of(q, *shared))

q, k, v = tensor(dtype, 2, 100, 6, 64), tensor(dtype, 2, 140, 2, 64), tensor(dtype, 2, 140, 2, 64)
def beside(q, k, v):
    q, k, v = (fe.permute_dims(x, (0, 2, 1, 3)) for x in (q, k, v))
    return attend(q.reshape((2, 2, 3, 100, 64)), k.reshape((2, 2, 1, 140, 64)), v.reshape((2, 2, 1, 140, 64)))
got["beside"] = run(beside, q, k, v)
q, k, v = (exact(x).transpose(0, 2, 1, 3) for x in (q, k, v))
check(got["beside"].reshape((2, 6, 100, 64)), want_of(q, k.repeat(3, axis=1), v.repeat(3, axis=1)))

# One matrix of keys for all batches, and values of a batch each.
q, k, v = tensor(dtype, 3, 70, 128), tensor(dtype, 200, 128), tensor(dtype, 3, 200, 128)
got["one matrix of keys"] = run(lambda q, k, v: attend(q, fe.broadcast_to(k, (3, 200, 128)), v), q, k, v)
check(got["one matrix of keys"], want_of(q, np.broadcast_to(exact(k), (3, 200, 128)), v))

# The first columns of wider rows.
q, k, v = (tensor(dtype, 2, rows, 160) for rows in (100, 140, 140))
got["columns"] = run(lambda q, k, v: attend(q[..., :104], k[..., 8:112], v[..., :128]), q, k, v)
check(got["columns"], want_of(exact(q)[..., :104], exact(k)[..., 8:112], exact(v)[..., :128]))
"""


@pytest.mark.parametrize("dtype", DTYPES)
def test_batches_and_strides_are_axes_of_the_tensor_maps(on_device: Run, dtype: str) -> None:
    on_device(f"dtype, got = {dtype!r}, {{}}\n" + BATCHES)


def test_the_bits_are_those_of_mma_sync(on_device: Run) -> None:
    program = f"""
found = {{}}
def add(name, graph, *arrays):
    got = exact(graph(*arrays))
    found[name] = (hashlib.sha256(got.tobytes()).hexdigest(), "hopper" in kernel(graph, *arrays))
for dtype in {DTYPES}:
    for queries, keys, head in ((65, 40, 64), (128, 64, 128), (140, 65, 64), (300, 300, 128), (130, 700, 64)):
        q, k, v = tensor(dtype, 2, queries, head), tensor(dtype, 2, keys, head), tensor(dtype, 2, keys, head)
        big = q * 30.0
        fe.eval(big)
        for causal in (False, True):
            graph = fe.graph(lambda q, k, v: attend(q, k, v, causal=causal))
            add(f"{{dtype}} {{queries}} {{keys}} {{head}} {{causal}}", graph, q, k, v)
            add(f"{{dtype}} {{queries}} {{keys}} {{head}} {{causal}} big", graph, big, k, v)
    q, k, v = tensor(dtype, 2, 200, 128), tensor(dtype, 2, 400, 128), tensor(dtype, 2, 400, 128)
    for causal in (False, True):
        graph = fe.graph(lambda q, k, v, n: attend(q, k, v, kv_length=n, causal=causal))
        for length in (1, 64, 65, 200, 300, 400):
            add(f"{{dtype}} of {{length}} {{causal}}", graph, q, k, v, count(length))
print(json.dumps(found))
"""
    hopper = json.loads(on_device("import json\n" + program))
    ampere = json.loads(on_device("import json\n" + program, **OTHER_GPU))
    assert all(is_hopper for _, is_hopper in hopper.values())
    assert not any(is_hopper for _, is_hopper in ampere.values())
    assert {case: digest for case, (digest, _) in hopper.items()} == {
        case: digest for case, (digest, _) in ampere.items()
    }


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_row_has_the_same_bits_for_each_number_of_queries_and_batches(on_device: Run, dtype: str) -> None:
    program = f"""
kernels = set()
for keys, head in ((50, 64), (300, 64), (300, 128)):
    q, k, v = tensor("{dtype}", 300, head), tensor("{dtype}", keys, head), tensor("{dtype}", keys, head)
    alone = exact(attend(q, k, v))
    for queries in (1, 7, 16, 17, 64, 65, 129, 250):
        rows = fe.asarray(q[:queries])
        fe.eval(rows)
        graph = fe.graph(lambda q, k, v: attend(q, k, v))
        kernels.add(kernel(graph, rows, k, v).split(".")[0])
        assert exact(graph(rows, k, v)).tobytes() == alone[:queries].tobytes(), (keys, head, queries)
    batches = [put(np.broadcast_to(np.asarray(x.astype("float32")), (3, *x.shape))).astype("{dtype}")
               for x in (q, k, v)]
    fe.eval(*batches)
    assert exact(attend(*batches))[2].tobytes() == alone.tobytes(), (keys, head)
assert {{"attention_hopper", "attention_prefill", "attention_decode"}} <= kernels, kernels
"""
    on_device(program)


def test_problems_of_other_kernels_stay_there(on_device: Run) -> None:
    program = """
q, k, v = tensor("float16", 2, 100, 64), tensor("float16", 2, 140, 64), tensor("float16", 2, 140, 64)
check(run(attend, q, k, v), want_of(q, k, v))
# Few queries; a mask; short and long heads.
check(run(lambda q, k, v: attend(q[:, :64], k, v), q, k, v, wants=False), want_of(exact(q)[:, :64], k, v))
mask = put(np.ones((100, 140)), bool)
check(run(lambda q, k, v, m: attend(q, k, v, m), q, k, v, mask, wants=False), want_of(q, k, v))
short = lambda x: exact(x)[..., :32]
check(run(lambda q, k, v: attend(q[..., :32], k[..., :32], v[..., :32]), q, k, v, wants=False),
      want_of(short(q), short(k), short(v)))
long = [tensor("float16", rows, 136) for rows in (100, 140, 140)]
check(run(attend, *long, wants=False), want_of(*long))
# The first element, the stride of rows, rows in reverse, one row for all.
cut = lambda x: x[..., 4:60]
check(run(lambda q, k, v: attend(cut(q), cut(k), cut(v)), q, k, v, wants=False),
      want_of(cut(exact(q)), cut(exact(k)), cut(exact(v))))
odd = [tensor("float16", rows, 60) for rows in (100, 140, 140)]
check(run(attend, *odd, wants=False), want_of(*odd))
check(run(lambda q, k, v: attend(q, k[:, ::-1], v[:, ::-1]), q, k, v, wants=False), want_of(q, k, v))
check(run(lambda q, k, v: attend(q, fe.broadcast_to(k[:, :1], k.shape), v), q, k, v, wants=False),
      want_of(q, np.broadcast_to(exact(k)[:, :1], k.shape), v))
# Three axes of batches, of which no two have one stride.
many = [tensor("float16", 3, 3, 3, 70, 64) for _ in range(3)]
check(run(lambda q, k, v: attend(*(x[:2, :2, :2] for x in (q, k, v))), *many, wants=False),
      want_of(*(exact(x)[:2, :2, :2] for x in many)))
"""
    on_device(program)


@pytest.mark.parametrize(
    "variables",
    [
        {"FERRULE_EMULATION_CAPABILITY": "8.9"},
        {"FERRULE_EMULATION_CAPABILITY": "10.0"},
        {"FERRULE_EMULATION_CALL_FAILS": "cudaGetDriverEntryPointByVersion:*:cudaErrorSymbolNotFound"},
    ],
)
def test_other_gpus_and_drivers_use_mma_sync(on_device: Run, variables: dict[str, str]) -> None:
    program = """
q, k, v = (tensor("bfloat16", 100, 64) for _ in range(3))
check(run(attend, q, k, v, wants=False), want_of(q, k, v))
"""
    on_device(program, **variables)


def test_operands_that_are_aligned_to_their_items_alone_are_copied_without_tma(on_device: Run) -> None:
    # Memory of another library may begin anywhere, which is known only at execution. What is behind it is NaN.
    program = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from csrc.backends.cuda.tests.dlpack_objects import at_item

for queries, keys, head in ((70, 140, 64), (140, 130, 128)):
    q, k, v = (rng.standard_normal((rows, head)).astype("float16") for rows in (queries, keys, keys))
    whole = fe.graph(lambda q, k, v: attend(q, k, v))
    counted = fe.graph(lambda q, k, v, n: attend(q, k, v, kv_length=n))
    # Replays, too: a tensor map that was encoded before must not be used.
    for first in ((8, 8, 8), (3, 8, 8), (8, 1, 8), (8, 8, 5), (1, 2, 3), (16, 0, 24)):
        arrays = [at_item(x, page, at) for x, at in zip((q, k, v), first)]
        assert "hopper" in kernel(whole, *arrays), first
        want = [x.astype("float64") for x in (q, k, v)]
        check(whole(*arrays), want_of(*want))
        check(counted(*arrays, count(129)), want_of(*want, length=129))
"""
    on_device(program)


def test_a_nan_reaches_the_rows_that_keep_it_alone(on_device: Run) -> None:
    program = """
q, k, v = (rng.standard_normal((300, 64)).astype("float32") for _ in range(3))
want = want_of(*(exact(put(x).astype("float16")) for x in (q, k, v)), True)
q[5, 3] = k[200, 7] = np.nan
got = exact(run(lambda q, k, v: attend(q, k, v, causal=True), *(put(x).astype("float16") for x in (q, k, v))))
is_nan = np.isnan(got).all(axis=1)
assert (is_nan == [i == 5 or i >= 200 for i in range(300)]).all(), np.flatnonzero(is_nan)
np.testing.assert_allclose(got[~is_nan], want[~is_nan], rtol=2e-3, atol=1e-3)
"""
    on_device(program)
