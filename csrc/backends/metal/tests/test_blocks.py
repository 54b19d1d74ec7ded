"""Block dtypes: conversions, copies, and products that read weights in blocks, beyond what the conformance kit sees.

The oracle of conversions is the package that reads and writes GGUF files (https://pypi.org/project/gguf).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

Run = Callable[..., str]

BLOCKS = ("q8_0", "q4_0", "q4_K", "q6_K")

PRELUDE = """
import warnings
warnings.simplefilter("error")  # an op that runs on the CPU instead
import gguf
from ferrule.testing.model.dtypes import BLOCKS
from ferrule.testing.model.values import blocks_with_scales

random = np.random.default_rng(5)
def on_metal(x):
    return fe.asarray(x, device="metal:0")
def packed_blocks(name, *shape, scales=None):
    elements, _ = BLOCKS[name]
    counts = (*shape[:-1], shape[-1] // elements, 2)
    scales = random.uniform(-0.05, 0.05, counts) if scales is None else np.broadcast_to(scales, counts)
    return np.frombuffer(blocks_with_scales(random, name, scales).tobytes(), np.uint8).reshape(*shape[:-1], -1)
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
    x[4, 5:9] = x[4, 37:41] = np.array([4, -4, 4, 1]) * 2.0**power  # equal magnitudes
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


def test_slices_from_starts_of_the_graph_are_whole_rows(run: Run) -> None:
    program = """
for name in BLOCKS:
    packed = packed_blocks(name, 6, 7, 512)
    w = fe.from_packed(packed, name).to_device("metal:0")
    start = on_metal(np.int64(2))
    cut = fe.graph(lambda w, start: fe.dynamic_slice(w, [start, start + 1, 0], [3, 4, 512]))(w, start)
    show(fe.to_packed(cut), packed[2:5, 3:7])
"""
    assert run(PRELUDE + program).split() == ["True"] * 4


def test_what_is_not_there_has_a_reason(run: Run) -> None:
    program = """
w = weights("q4_K", 3, 256)
for make in (lambda: w.astype("float16"), lambda: on_metal(np.ones((1, 256), np.float32)).astype("q4_K")):
    try:
        np.asarray(make())
        print("no error")
    except fe.errors.InvalidArgumentError as error:
        print("float32" in str(error))
"""
    assert run(PRELUDE + program).split() == ["True"] * 2
