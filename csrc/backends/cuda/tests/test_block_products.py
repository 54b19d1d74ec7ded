"""Products that read weights in blocks, without decoding them to memory, and products of bytes.

The bits are those of the product with decoded weights, whatever the number of rows.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

BLOCKS = ("q8_0", "q4_0", "q4_K", "q6_K")
DTYPES = ("float32", "float16", "bfloat16")

PRELUDE = """
import json, os, sys
import numpy as np
import ferrule as fe
from ferrule.testing.model import dtypes
from ferrule.testing.model.values import blocks_with_scales

BLOCKS = {name: dtypes.BLOCKS[name] for name in ("q8_0", "q4_0", "q4_K", "q6_K")}  # those with kernels
fe.load(os.environ["FERRULE_BACKEND_PATH"])
device = fe.device("cuda")
rng = np.random.default_rng(0)

def weights(name, *shape, scales=None):
    elements, _ = BLOCKS[name]
    counts = (*shape[:-1], shape[-1] // elements, 2)
    scales = rng.uniform(-0.05, 0.05, counts) if scales is None else np.broadcast_to(scales, counts)
    packed = blocks_with_scales(rng, name, scales)
    return fe.from_packed(np.frombuffer(packed.tobytes(), np.uint8).reshape(*shape[:-1], -1), name).to_device(device)

def rows(dtype, *shape):
    x = fe.asarray(rng.standard_normal(shape).astype("float32"), device=device).astype(dtype)
    fe.eval(x)
    return x

def decoded(w, dtype):
    w = w.astype("float32")
    return w if dtype == "float32" else w.astype(dtype)

def bits(x):
    return np.asarray(x).tobytes()

def check(function, dtype, x, w):
    # `function` of x and the decoded weights; alone, the weights are decoded by a graph of their own.
    got = fe.graph(lambda x, w: function(x, decoded(w, dtype)))(x, w)
    there = decoded(w, dtype)
    fe.eval(there)
    want = function(x, there)
    assert got.shape == want.shape and bits(got) == bits(want), (dtype, w.dtype, x.shape, w.shape)
    return got

# The ops that the device ran in a call, which is no longer the first.
def ops_of(function, *arrays):
    graph = fe.graph(function)
    fe.eval(graph(*arrays))
    with fe.trace("trace.json"):
        fe.eval(graph(*arrays))
    with open("trace.json") as file:
        events = json.load(file)["traceEvents"]
    return [event["name"] for event in events if event.get("cat") == "kernel"]
"""


Run = Callable[..., None]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def program(text: str, **variables: str) -> None:
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE + text],
            env={**os.environ, "FERRULE_PROBE": "never", **variables},
            capture_output=True,
            text=True,
            timeout=300,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr

    return program


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", BLOCKS)
def test_the_bits_are_those_of_decoded_weights_for_any_number_of_rows(run: Run, name: str, dtype: str) -> None:
    # Segments of 256, 384 and 512 elements, blocks that begin at any even byte, and columns that fill no tile. The last
    # product has more segments than a block has warps.
    program = f"""
name, dtype = "{name}", "{dtype}"
elements, _ = BLOCKS[name]
for n, k in ((1, elements), (40, 256), (33, 768), (130, 1024), (70, 3 * elements), (65, 5 * elements), (140, 1536),
             (33, 3072)):
    w = weights(name, n, k)
    x = rows(dtype, 140, k)
    whole = check(lambda x, w: x @ w.T, dtype, x, w)
    for m in (1, 2, 4, 5, 16, 17, 64, 65):
        assert bits(check(lambda x, w: x @ w.T, dtype, x[:m], w)) == bits(whole[:m]), (m, n, k)
"""
    run(program)


@pytest.mark.parametrize("name", BLOCKS)
def test_few_rows_do_not_decode_weights_to_memory(run: Run, name: str) -> None:
    program = f"""
w = weights("{name}", 140, 512)
for dtype, counts in (("float32", (1, 16)), ("bfloat16", (1, 16, 17, 129)), ("float16", (3, 70))):
    for m in counts:
        x = rows(dtype, m, 512)
        ran = ops_of(lambda x, w: x @ decoded(w, dtype).T, x, w)
        assert ran == ["matmul"], (dtype, m, ran)
        # The decoded weights are computed where something else reads them.
        ran = ops_of(lambda x, w: (x @ (y := decoded(w, dtype)).T, y), x, w)
        assert sorted(ran) == ["astype"] * (1 if dtype == "float32" else 2) + ["matmul"], (dtype, m, ran)
x = rows("float32", 17, 512)
assert sorted(ops_of(lambda x, w: x @ w.astype("float32").T, x, w)) == ["astype", "matmul"]
"""
    run(program)


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_may_be_stacks_and_parts_of_others(run: Run, dtype: str) -> None:
    program = f"""
dtype = "{dtype}"
for name in BLOCKS:
    stack = weights(name, 3, 40, 1024)
    x = rows(dtype, 3, 5, 1024)
    check(lambda x, w: x @ fe.permute_dims(w, (0, 2, 1)), dtype, x, stack)
    check(lambda x, w: x[0] @ fe.permute_dims(w, (0, 2, 1)), dtype, x, stack)
    check(lambda x, w: x[:, 1:2, :] @ w[1].T, dtype, x, stack)
    w = stack[1]
    check(lambda x, w: x[0] @ w[7:].T, dtype, x, w)
    check(lambda x, w: x[0] @ w[::-3].T, dtype, x, w)
    check(lambda x, w: x[0, :, 256:768] @ w[:, 256:768].T, dtype, x, w)
    check(lambda x, w: x[0, :, ::2] @ w[:, :512].T, dtype, x, w)
    check(lambda x, w: fe.permute_dims(x, (0, 2, 1))[0, :5, :] @ w[:5, :5].T, dtype, x, w)
    # These have no whole blocks along K.
    check(lambda x, w: x[0, :, :1000] @ w[:, 16:1016].T, dtype, x, w)
    check(lambda x, w: x[0, :, :40] @ w, dtype, x, w)
    # Parts of blocks in memory: of another base, by rows.
    fe.eval(stack)
    check(lambda x, w: x[0] @ w.T, dtype, x, stack[2])
    check(lambda x, w: x[0, :, 256:768] @ w.T, dtype, x, stack[2, :, 256:768])
"""
    run(program)


def test_blocks_that_the_graph_computes_are_read_while_they_are_there(run: Run) -> None:
    program = """
x, y = rows("float32", 3, 64), rows("float32", 40, 64)
def product(x, y):
    w = y.astype("q8_0").astype("float32")
    other = fe.exp(y) + x.sum()
    return x @ w.T, other
want = x @ y.astype("q8_0").astype("float32").T
assert bits(fe.graph(product)(x, y)[0]) == bits(want)
"""
    run(program)


@pytest.mark.parametrize("dtype", DTYPES)
def test_infinite_scales_and_nan_give_what_decoded_weights_give(run: Run, dtype: str) -> None:
    # The numbers of a column with an odd scale are equal and not zero, so that infinities do not cancel out.
    program = f"""
dtype, found = "{dtype}", set()
for name in BLOCKS:
    for value in (np.inf, -np.inf, np.nan, 0.0, 6e-8, 65504.0):
        packed = fe.to_packed(weights(name, 20, 768, scales=np.float32(0.01))).copy()
        odd = fe.to_packed(weights(name, 20, 768, scales=np.float32(value)))[3:5].reshape(2, -1, BLOCKS[name][1])
        odd = odd.copy()
        there = {{"q4_K": [0, 1, 2, 3], "q6_K": [208, 209]}}.get(name, [0, 1])
        odd[:, :, [i for i in range(odd.shape[2]) if i not in there]] = 0x44
        if name == "q4_K":
            odd[:, :, 2:4] = 0  # inf - inf
        packed[3:5] = odd.reshape(2, -1)
        w = fe.from_packed(packed, name).to_device(device)
        alone = decoded(w, dtype)
        fe.eval(alone)
        for m in (2, 18):
            x = fe.asarray(rng.uniform(0.5, 1, (m, 768)).astype("float32"), device=device).astype(dtype)
            fe.eval(x)
            got = fe.graph(lambda x, w: x @ decoded(w, dtype).T)(x, w)
            got, want = (np.asarray(y.astype("float32")) for y in (got, x @ alone.T))
            np.testing.assert_array_equal(got, want)
            found |= {{str(y) for y in got[:, 3:5].ravel() if not np.isfinite(y)}}
            assert np.isfinite(np.delete(got, [3, 4], axis=1)).all()
assert found == {{"inf", "-inf", "nan"}}, found
"""
    run(program)


@pytest.mark.parametrize("capability", ["7.5", "8.0", "8.6"])
def test_gpus_with_less_shared_memory_give_the_same(run: Run, capability: str) -> None:
    program = """
for dtype in ("float32", "bfloat16"):
    for name in BLOCKS:
        w = weights(name, 130, 512)
        for m in (1, 8, 140):
            check(lambda x, w: x @ w.T, dtype, rows(dtype, m, 512), w)
"""
    run(program, FERRULE_EMULATION_CAPABILITY=capability)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_products_of_bytes_are_exact_in_any_layout(run: Run, dtype: str) -> None:
    program = f"""
for m, n, k in ((1, 64, 256), (17, 130, 768), (130, 200, 640), (64, 64, 16), (5, 7, 3), (200, 4, 100), (33, 65, 0),
                (150, 129, 1000), (128, 256, 512), (2, 68, 4096)):
    a, b = (rng.integers(0, 256, shape, np.uint8).view("{dtype}") for shape in ((m, k), (k, n)))
    padded = np.zeros((n, k + 3), "{dtype}")
    padded[:, 3:] = b.T
    want = a @ b
    a, b, a_t, b_t, padded = (fe.asarray(x, device=device) for x in (a, b, a.T.copy(), b.T.copy(), padded))
    for name, got in (("mk kn", a @ b), ("mk nk", a @ b_t.T), ("km kn", a_t.T @ b), ("offset", a @ padded[:, 3:].T)):
        assert (np.asarray(got) == want).all(), (m, n, k, name)
"""
    run(program)
