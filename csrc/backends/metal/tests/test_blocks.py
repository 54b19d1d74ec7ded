"""Block dtypes: conversions, copies, and products that read weights in blocks, beyond what the conformance kit sees.

The oracle of conversions is the package that reads and writes GGUF files (https://pypi.org/project/gguf).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

BLOCKS = ("q8_0", "q4_0", "q4_K", "q6_K", "q5_1", "q3_K", "iq2_xs", "tq1_0")

PRELUDE = """
import warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead
import gguf
from ferrule.testing.model import dtypes
from ferrule.testing.model.values import blocks_with_scales

BLOCKS = {name: dtypes.BLOCKS[name] for name in ("q8_0", "q4_0", "q4_K", "q6_K", "q5_1", "q3_K", "iq2_xs", "tq1_0")}
random = np.random.default_rng(5)
def on_metal(x):
    return fe.asarray(x, device="metal:0")
def packed_blocks(name, *shape, scales=None):
    elements, _ = BLOCKS[name]
    counts = (*shape[:-1], shape[-1] // elements, 2)
    scales = random.uniform(-0.05, 0.05, counts) if scales is None else np.broadcast_to(scales, counts)
    blocks = np.ascontiguousarray(blocks_with_scales(random, name, scales))
    return blocks.view(np.uint8).reshape(*shape[:-1], -1)
def weights(name, *shape, scales=None):
    return fe.from_packed(packed_blocks(name, *shape, scales=scales), name).to_device("metal:0")
def kind_of(name):
    return gguf.GGMLQuantizationType[name.upper()]
def decoded(packed, name):
    rows = np.ascontiguousarray(packed).reshape(-1, packed.shape[-1])
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(rows, kind_of(name)).reshape(*packed.shape[:-1], -1)
def bits(x):
    return np.asarray(x).tobytes()
def show(one, other):
    print(bits(one) == bits(other))
def show_numbers(one, other):
    print(np.array_equal(np.asarray(one), np.asarray(other), equal_nan=True))
"""

FLUSH = pytest.mark.parametrize("flush", ["0", "1"])


@FLUSH
@pytest.mark.parametrize("name", BLOCKS)
def test_decoding_has_the_bits_of_gguf(name: str, flush: str, run: Run) -> None:
    # One block, odd numbers of rows, views of rows and of whole blocks, and a packed view.
    program = f"""
name = "{name}"
elements, size = BLOCKS[name]
for shape in ((elements,), (1, elements), (3, elements), (7, 3 * elements), (2, 5, 512)):
    packed = packed_blocks(name, *shape)
    w, want = fe.from_packed(packed, name).to_device("metal:0"), decoded(packed, name)
    show(w.astype("float32"), want)
packed = packed_blocks(name, 5, 9, 1024)
w, want = fe.from_packed(packed, name).to_device("metal:0"), decoded(packed, name)
for place in (np.s_[1:], np.s_[::-2], np.s_[:, 3], np.s_[2, 1::3], np.s_[:, :, 256:768], np.s_[4, 8:, 768:]):
    show(w[place].astype("float32"), want[place])
    moved = fe.graph(lambda w: w[place])(w)
    show(moved.astype("float32"), want[place])
    show(decoded(fe.to_packed(moved), name), want[place])
"""
    words = run(PRELUDE + program, FERRULE_EMULATION_METAL_FLUSH=flush).split()
    assert words == ["True"] * 23


@FLUSH
@pytest.mark.parametrize("name", BLOCKS)
def test_scales_that_are_subnormal_zero_or_not_finite(name: str, flush: str, run: Run) -> None:
    program = f"""
name = "{name}"
for scale in (2.0**-24, -(2.0**-24), 3 * 2.0**-16, 2.0**-14, 0.0, -0.0, 65504.0):
    packed = packed_blocks(name, 3, 512, scales=np.float32(scale))
    show(fe.from_packed(packed, name).to_device("metal:0").astype("float32"), decoded(packed, name))
for scale in (np.inf, -np.inf, np.nan):
    packed = packed_blocks(name, 3, 512, scales=np.float32(scale))
    show_numbers(fe.from_packed(packed, name).to_device("metal:0").astype("float32"), decoded(packed, name))
"""
    words = run(PRELUDE + program, FERRULE_EMULATION_METAL_FLUSH=flush).split()
    assert words == ["True"] * 10


@FLUSH
@pytest.mark.parametrize("name", ["q8_0", "q4_0"])
def test_encoding_has_the_bits_of_gguf(name: str, flush: str, run: Run) -> None:
    # Also of rows that begin at any element, and of numbers whose scales are subnormal as float16 or as float32. The
    # package does not define the result where the inverse of a scale is infinite: the CPU's is meant there.
    program = f"""
name = "{name}"
def encoded(x):
    with np.errstate(all="ignore"):
        return gguf.quants.quantize(np.ascontiguousarray(x), kind_of(name))
for power in (0, 10, -18, -30, -120, -124, -126, -140):
    x = (random.standard_normal((7, 192)) * 2.0**power).astype(np.float32)
    x[2] = 0
    x[4, 5:9] = x[4, 37:41] = np.array([4, -4, 1, -4]) * 2.0**power  # equal magnitudes
    there, parts = on_metal(x), np.s_[1::2, 7:167]
    want = encoded(x) if power > -126 else fe.to_packed(fe.asarray(x).astype(name))
    show(fe.to_packed(there.astype(name)), want)
    want = encoded(x[parts]) if power > -126 else fe.to_packed(fe.asarray(x[parts]).astype(name))
    show(fe.to_packed(there[parts].astype(name)), want)
x = random.standard_normal((3, 64)).astype(np.float32)
x[0, 3], x[1, 40] = np.nan, np.inf
there = np.asarray(on_metal(x).astype(name).astype("float32"))
print(np.isnan(there[0, :32]).all(), np.isfinite(there[0, 32:]).all(), np.isfinite(there[1, :32]).all(),
      bits(there[2]) == bits(decoded(encoded(x), name)[2]))
"""
    words = run(PRELUDE + program, FERRULE_EMULATION_METAL_FLUSH=flush).split()
    assert words == ["True"] * 20


@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_that_are_mapped_from_a_file_are_borrowed(name: str, run: Run) -> None:
    # Tensors begin at multiples of 32 bytes there; one that begins elsewhere, at an odd byte too, is copied.
    program = f"""
import mmap
name = "{name}"
packed = packed_blocks(name, 65, 512)
for before in (0, 32, 4096 + 2, 7):
    with open("blocks", "wb") as file:
        file.write(b"x" * before + packed.tobytes() + b"y" * 5000)
    with open("blocks", "rb") as file:
        memory = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), np.uint8)
    there = memory[before : before + packed.size].reshape(packed.shape)
    w = fe.from_packed(there, name).to_device("metal:0")
    show(w.astype("float32"), decoded(packed, name))
    show(w[3::2].astype("float32"), decoded(packed[3::2], name))
    x = fe.ones((2, 512), device="metal:0")
    show(fe.graph(lambda x, w: x @ w.astype("float32").T)(x, w), x @ on_metal(decoded(packed, name)).T)
"""
    assert run(PRELUDE + program).split() == ["True"] * 12


PRODUCTS = """
import json
def rows(dtype, *shape):
    x = on_metal(random.standard_normal(shape).astype(np.float32)).astype(dtype)
    fe.eval(x)
    return x
def dense(w, dtype):
    w = w.astype("float32")
    return w if dtype == "float32" else w.astype(dtype)
def product_of(function, dtype, x, w):
    # `function` of x and the decoded weights; alone, a graph of their own decodes the weights.
    got = fe.graph(lambda x, w: function(x, dense(w, dtype)))(x, w)
    there = dense(w, dtype)
    fe.eval(there)
    show(got, function(x, there))
    return got
def ops_of(function, *arrays):
    # The ops that the device ran in a call, which is no longer the first.
    graph = fe.graph(function)
    fe.eval(graph(*arrays))
    with fe.trace("trace.json"):
        fe.eval(graph(*arrays))
    with open("trace.json") as file:
        events = json.load(file)["traceEvents"]
    return sorted({event["name"].split(":")[0] for event in events if event.get("cat") == "kernel"})
"""
ORDERS = pytest.mark.parametrize("order", ["forward", "reverse", "3"])


@ORDERS
@pytest.mark.parametrize("name", BLOCKS)
def test_products_have_the_bits_of_decoded_weights_for_any_number_of_rows(name: str, order: str, run: Run) -> None:
    # One column and one block, columns that fill no tile, and more segments of K than one.
    program = f"""
name = "{name}"
elements, _ = BLOCKS[name]
for dtype, n, k in (("float32", 1, elements), ("float32", 33, 3 * elements), ("bfloat16", 70, 1280)):
    w, x = weights(name, n, k), rows(dtype, 37, k)
    whole = product_of(lambda x, w: x @ w.T, dtype, x, w)
    for m in (1, 5, 16, 17):
        print(bits(fe.graph(lambda x, w: x @ dense(w, dtype).T)(x[:m], w)) == bits(whole[:m]))
"""
    orders = {"FERRULE_EMULATION_METAL_ORDER": order, "FERRULE_EMULATION_ORDER": order}
    words = run(PRELUDE + PRODUCTS + program, **orders).split()
    assert words == ["True"] * 15


def test_many_large_products_have_the_bits_of_decoded_weights(run: Run) -> None:
    # Enough of them for the largest tile.
    program = """
w, x = weights("q4_0", 128, 130, 32), rows("float32", 128, 129, 32)
product_of(lambda x, w: x @ fe.permute_dims(w, (0, 2, 1)), "float32", x, w)
"""
    assert run(PRELUDE + PRODUCTS + program).split() == ["True"]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_products_are_those_of_numpy(dtype: str, run: Run) -> None:
    # Whole numbers, whose sums float32 has exactly.
    program = f"""
dtype = "{dtype}"
for name in ("q8_0", "q4_0", "q6_K"):
    packed = packed_blocks(name, 45, 1024, scales=np.float32(1))
    if name == "q6_K":
        packed.reshape(45, -1, 210)[..., 192:208] = 1  # the scales of the parts
    w = fe.from_packed(packed, name).to_device("metal:0")
    for m in (2, 40):
        x = random.integers(-3, 4, (m, 1024)).astype(np.float32)
        got = fe.graph(lambda x, w: x @ dense(w, dtype).T)(on_metal(x).astype(dtype), w)
        want = on_metal((x @ decoded(packed, name).T).astype(np.float32)).astype(dtype)
        show_numbers(got.astype("float32"), want.astype("float32"))
"""
    assert run(PRELUDE + PRODUCTS + program).split() == ["True"] * 6


def test_products_do_not_decode_weights_to_memory(run: Run) -> None:
    program = """
for name, dtype in (("q4_0", "float32"), ("q4_K", "bfloat16")):
    w = weights(name, 40, 512)
    for m in (1, 20):
        x = rows(dtype, m, 512)
        print(*ops_of(lambda x, w: x @ dense(w, dtype).T, x, w))
    # The decoded weights are computed where something else reads them.
    print(*ops_of(lambda x, w: (x @ (y := dense(w, dtype)).T, y), x, w))
# Blocks that the graph computes are decoded, as their memory may serve for something else when they are read.
x, y = rows("float32", 3, 64), rows("float32", 40, 64)
print(*ops_of(lambda x, y: x @ y.astype("q8_0").astype("float32").T, x, y))
show(fe.graph(lambda x, y: x @ y.astype("q8_0").astype("float32").T)(x, y), x @ y.astype("q8_0").astype("float32").T)
"""
    lines = run(PRELUDE + PRODUCTS + program).split("\n")
    alone, shared = ["matmul", "matmul"], "astype matmul"
    assert lines[:8] == [*alone, shared, *alone, shared, shared, "True"]


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_weights_may_be_stacks_and_parts_of_others(dtype: str, run: Run) -> None:
    program = f"""
dtype = "{dtype}"
for name in ("q4_0", "q6_K"):
    stack, x = weights(name, 3, 40, 1024), rows(dtype, 3, 5, 1024)
    w = stack[1]
    product_of(lambda x, w: x @ fe.permute_dims(w, (0, 2, 1)), dtype, x, stack)
    product_of(lambda x, w: x[0] @ fe.permute_dims(w, (0, 2, 1)), dtype, x, stack)
    product_of(lambda x, w: x[:, 1:2, :] @ w[1].T, dtype, x, stack)
    product_of(lambda x, w: x[0] @ w[7:].T, dtype, x, w)
    product_of(lambda x, w: x[0] @ w[::-3].T, dtype, x, w)
    product_of(lambda x, w: x[0, :, 256:768] @ w[:, 256:768].T, dtype, x, w)
    product_of(lambda x, w: x[0, :, ::2] @ w[:, :512].T, dtype, x, w)
    product_of(lambda x, w: fe.permute_dims(x, (0, 2, 1))[0, :5, :] @ w[:5, :5].T, dtype, x, w)
    # These have no whole blocks along K.
    product_of(lambda x, w: x[0, :, :1000] @ w[:, 16:1016].T, dtype, x, w)
    product_of(lambda x, w: x[0, :, :40] @ w, dtype, x, w)
    # Parts of blocks in memory: of another base, by rows.
    fe.eval(stack)
    product_of(lambda x, w: x[0] @ w.T, dtype, x, stack[2])
    product_of(lambda x, w: x[0, :, 256:768] @ w.T, dtype, x, stack[2, :, 256:768])
"""
    assert run(PRELUDE + PRODUCTS + program).split() == ["True"] * 24


@FLUSH
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_scales_that_are_not_finite_give_what_decoded_weights_give(dtype: str, flush: str, run: Run) -> None:
    program = f"""
dtype = "{dtype}"
for name in BLOCKS:
    scales = np.full((20, 768 // BLOCKS[name][0], 2), 0.01, np.float32)
    scales[3], scales[5], scales[7, 0], scales[9] = np.inf, np.nan, -np.inf, 2.0**-24
    w = weights(name, 20, 768, scales=scales)
    there = dense(w, dtype)
    fe.eval(there)
    for m in (2, 18):
        x = rows(dtype, m, 768)
        got = fe.graph(lambda x, w: x @ dense(w, dtype).T)(x, w).astype("float32")
        show_numbers(got, (x @ there.T).astype("float32"))
        print(np.isfinite(np.delete(np.asarray(got), [3, 5, 7], axis=1)).all())
"""
    words = run(PRELUDE + PRODUCTS + program, FERRULE_EMULATION_METAL_FLUSH=flush).split()
    assert words == ["True"] * (4 * len(BLOCKS))
