"""Kernels whose threads meet in shared memory, at sizes at which all of their parts run, in several orders of threads.

A missing barrier gives other results in one of the orders. `./dev verify thread` runs these programs, too: they are
short, and use every such kernel.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

START = """
rng = np.random.default_rng(0)
def random(*shape):
    return rng.integers(-9, 9, shape).astype("float32") / 4
def on_device(values, dtype="float32"):
    x = fe.asarray(values, device="cuda").astype(dtype)
    fe.eval(x)
    return x
def same(got, want, tolerance=1e-5):
    np.testing.assert_allclose(np.asarray(got.astype("float32")), want, rtol=tolerance, atol=tolerance)
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
def normalized(x, epsilon=1e-5):
    return (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + epsilon)
"""

PROGRAMS = {
    "normalization": """
for rows, width in ((5, 20), (3, 600), (1, 9001)):
    x = random(rows, width)
    for dtype, tolerance in (("float32", 1e-5), ("float16", 1e-2)):
        same(fe.softmax(on_device(x, dtype), axis=-1), softmax(x), tolerance)
        same(fe.layer_norm(on_device(x, dtype)), normalized(x), tolerance)
        # With an epsilon that a rounding cannot hide.
        root = np.sqrt((x * x).mean(axis=-1, keepdims=True) + 0.5)
        same(fe.rms_norm(on_device(x, dtype), epsilon=0.5), x / root, tolerance)
        same(fe.layer_norm(on_device(x, dtype), epsilon=0.5), normalized(x, 0.5), tolerance)
""",
    "reduction": """
for shape in ((3, 50), (2, 9000), (1, 40000), (300, 40), (2000, 8)):
    x = random(*shape)
    there = on_device(x)
    for axis in (0, 1):
        same(fe.sum(there, axis=axis), x.sum(axis=axis), 1e-4)
        same(fe.max(there, axis=axis), x.max(axis=axis))
        assert (np.asarray(fe.argmax(there, axis=axis)) == x.argmax(axis=axis)).all()
""",
    "matmul": """
for m, n, k in ((3, 40, 300), (20, 70, 100), (70, 20, 600), (70, 70, 70)):
    a, b = random(m, k), random(k, n)
    for dtype, tolerance in (("float32", 1e-5), ("float16", 1e-2), ("bfloat16", 2e-2), ("float64", 1e-5)):
        same(on_device(a, dtype) @ on_device(b, dtype), a @ b, tolerance)
        same(on_device(a, dtype) @ on_device(b.T.copy(), dtype).T, a @ b, tolerance)
    a, b = (4 * a).astype("int8"), (4 * b).astype("int8")
    same(on_device(a, "int8") @ on_device(b, "int8"), (a @ b).astype("float32"))
""",
    "attention": """
# A thread has rows of the first eight and of the last eight of 16.
for queries, keys, head in ((2, 300, 64), (14, 300, 64), (40, 150, 40), (70, 70, 128)):
    q, k, v = random(2, 2, queries, head), random(2, 2, keys, head), random(2, 2, keys, head)
    want = softmax(q.astype("float64") @ k.transpose(0, 1, 3, 2) / head**0.5) @ v
    for dtype, tolerance in (("float32", 1e-4), ("float16", 2e-2)):
        same(fe.scaled_dot_product_attention(*(on_device(x, dtype) for x in (q, k, v))), want, tolerance)
""",
    "sorting": """
for shape, k in (((3, 50), 5), ((2, 3000), 100), ((1, 9000), 900), ((1, 5000), 2000)):
    x = rng.permutation(shape[0] * shape[1]).reshape(shape).astype("float32") // 3
    values, indices = fe.topk(on_device(x), k, axis=-1)
    order = np.argsort(-x, axis=-1, kind="stable")[:, :k]
    assert (np.asarray(indices) == order).all()
    assert (np.asarray(values) == np.take_along_axis(x, order, axis=-1)).all()
""",
    "transposition": """
for dtype in ("int8", "float16", "float32", "int64"):
    for shape in ((70, 41), (9, 300), (3, 33, 34), (64, 128)):
        x = random(*shape).astype(dtype)
        there = on_device(x, dtype)
        assert (np.asarray(fe.concat([there.mT, there.mT], axis=-1))[..., :shape[-2]] == x.swapaxes(-1, -2)).all()
        assert (np.asarray(there.mT.reshape((-1,))) == x.swapaxes(-1, -2).ravel()).all()
""",
    "compaction": """
x, keep = random(7, 9001, 3), rng.uniform(0, 1, 9001) < 0.4
got = fe.compress(fe.asarray(keep, device="cuda"), on_device(x), axis=1)
assert (np.asarray(got) == x[:, keep]).all()
""",
    "blocks": """
x, w = random(33, 256), random(70, 256)
for name in ("q8_0", "q4_0"):
    packed = on_device(w).astype(name)
    for dtype, tolerance in (("float32", 1e-4), ("bfloat16", 0.2)):
        for rows in (3, 33):
            got = fe.graph(lambda x, w: x @ w.astype("float32").astype(dtype).T)(on_device(x[:rows], dtype), packed)
            same(got, x[:rows] @ np.asarray(packed.astype("float32")).T, tolerance)
""",
}


# More than 4096 chunks of 4096 items: two rounds of the sum over the chunks.
MANY_CHUNKS = """
mask = np.zeros(4098 * 4096, bool)
mask[rng.integers(0, mask.size, 500)] = mask[-1] = True
there = fe.asarray(mask, device="cuda")
assert (np.asarray(fe.nonzero(there)[0]) == np.flatnonzero(mask)).all()
"""


@pytest.mark.parametrize("order", ["forward", "reverse", "7"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_those_of_numpy(program: str, order: str, run: Run) -> None:
    run(START + PROGRAMS[program], FERRULE_EMULATION_ORDER=order)


# With ThreadSanitizer, which selects tests by the name "forward", this one takes more than a minute.
@pytest.mark.parametrize("order", ["forward", "reverse", "7"], ids=["ascending", "descending", "shuffled"])
def test_compaction_adds_the_counts_of_many_chunks_in_two_rounds(order: str, run: Run) -> None:
    run(START + MANY_CHUNKS, FERRULE_EMULATION_ORDER=order)
