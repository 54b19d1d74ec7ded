"""Block dtypes for weights, against the package that reads and writes GGUF files."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import gguf
import numpy as np
import pytest
from ferrule import _ferrule
from ferrule.dtypes.blocks import BY_NAME
from ferrule.testing.model.values import blocks_with_scales, set_scales
from numpy.typing import NDArray

from tests.python.each import each

DTYPES = list(BY_NAME.values())
WRITABLE = [dtype for dtype in DTYPES if _ferrule.DTYPES[dtype.name].is_encoded]  # float32 can be converted to them
Packed = NDArray[np.uint8]


def kind_of(dtype: fe.BlockDType) -> Any:
    return gguf.GGMLQuantizationType[dtype.name.upper()]


def numbers_of(packed: Packed, dtype: fe.BlockDType) -> NDArray[np.float32]:
    numbers: NDArray[np.float32] = gguf.quants.dequantize(packed, kind_of(dtype))
    return numbers


def packed_of(numbers: NDArray[np.float32], dtype: fe.BlockDType) -> Packed:
    packed: Packed = gguf.quants.quantize(numbers, kind_of(dtype))
    return packed


def random_blocks(dtype: fe.BlockDType, shape: tuple[int, ...], seed: int = 0) -> Packed:
    """Random bits, with ordinary numbers as scales."""
    rng = np.random.default_rng(seed)
    count = (*shape[:-1], shape[-1] // dtype.block_elements)
    blocks = blocks_with_scales(rng, dtype.name, rng.uniform(-2, 2, (*count, 2)))
    return blocks.view(np.uint8).reshape(*shape[:-1], count[-1] * dtype.block_bytes)


@pytest.fixture(params=DTYPES, ids=str)
def dtype(request: pytest.FixtureRequest) -> fe.BlockDType:
    found: fe.BlockDType = request.param
    return found


@pytest.fixture(params=WRITABLE, ids=str)
def writable(request: pytest.FixtureRequest) -> fe.BlockDType:
    found: fe.BlockDType = request.param
    return found


def same_bits(got: object, wanted: NDArray[Any]) -> None:
    host = np.asarray(got)
    assert (host.dtype, host.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_array_equal(
        np.ascontiguousarray(host).view(np.uint8), np.ascontiguousarray(wanted).view(np.uint8)
    )


# ---- the dtypes


def test_block_sizes_match_the_format(dtype: fe.BlockDType) -> None:
    assert (dtype.block_elements, dtype.block_bytes) == gguf.GGML_QUANT_SIZES[kind_of(dtype)]
    assert dtype == dtype.name
    assert repr(dtype) == f"ferrule.{dtype.name}"
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    with pytest.raises(fe.DTypeError, match=f"block of {dtype.block_elements} takes {dtype.block_bytes} bytes"):
        dtype.itemsize  # noqa: B018
    assert dtype.bytes_of(2 * dtype.block_elements) == 2 * dtype.block_bytes
    for count in (dtype.block_elements + 1, -1):
        with pytest.raises(fe.InvalidArgumentError, match=f"bytes_of: {count} elements are not a whole number of"):
            dtype.bytes_of(count)


def test_an_array_borrows_packed_bytes(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (3, 512))
    packed.flags.writeable = False
    x = fe.from_packed(packed, dtype)
    assert x.dtype is dtype
    assert x.shape == (3, 512)
    assert x.nbytes == packed.nbytes
    assert x.placement == "borrowed"
    same_bits(fe.to_packed(x), packed)
    same_bits(fe.to_packed(fe.from_packed(packed, dtype.name, copy=True)), packed)
    same_bits(fe.to_packed(pickle.loads(pickle.dumps(x))), packed)
    assert str(dtype) in repr(x)
    as_floats = repr(fe.asarray(numbers_of(packed, dtype)))
    assert repr(x).split("shape")[0] == as_floats.split("shape")[0]


def test_rows_of_packed_bytes_may_be_strided(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (6, 512))
    x = fe.from_packed(packed[::-2], dtype)
    same_bits(fe.to_packed(x), packed[::-2])
    same_bits(x.astype("float32"), numbers_of(packed[::-2], dtype))


@pytest.mark.parametrize("dtype", [fe.q8_0, fe.q4_K], ids=str)
def test_packed_bytes_of_any_layout_are_accepted(dtype: str) -> None:
    packed = random_blocks(dtype, (4, 512))
    wanted = np.asarray(fe.from_packed(packed, dtype).astype("float32"))
    for laid_out in (np.asfortranarray(packed), np.repeat(packed, 2, axis=1)[:, ::2]):
        for copy in (None, True):
            x = fe.from_packed(laid_out, dtype, copy=copy)
            np.testing.assert_array_equal(np.asarray(x.astype("float32")), wanted)
        with pytest.raises(fe.InvalidArgumentError, match="do not follow one another: a copy is needed"):
            fe.from_packed(laid_out, dtype, copy=False)


@each(
    ("packed", "words"),
    [
        (np.zeros(35, "uint8"), "whole blocks of 34"),
        (np.zeros((), "uint8"), "whole blocks of 34"),
        (np.zeros(34, "int8"), "uint8, not dtype int8"),
        (np.zeros((1,) * 8 + (34,), "uint8"), "8 dimensions"),
        ("text", "uint8"),
        ([1.5, 2], "uint8"),
    ],
)
def test_invalid_packed_bytes_are_refused(packed: object, words: str) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=words):
        fe.from_packed(packed, "q8_0")


@each("shape", [(0, 512), (3, 0), (0, 5, 256), (2, 0, 0)])
def test_packed_bytes_without_elements_round_trip(dtype: fe.BlockDType, shape: tuple[int, ...]) -> None:
    for copy in (None, True, False):
        x = fe.from_packed(fe.to_packed(fe.from_packed(random_blocks(dtype, shape), dtype)), dtype, copy=copy)
        assert (x.dtype, x.shape) == (dtype, shape)


def test_packed_bytes_of_ferrule_arrays_are_shared(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (4, 512))
    bytes_ = fe.asarray(packed, copy=True)
    x = fe.from_packed(bytes_, dtype, copy=False)
    same_bits(fe.to_packed(x), packed)
    same_bits(x.astype("float32"), numbers_of(packed, dtype))
    bytes_[0] = 0
    same_bits(fe.to_packed(x), packed)
    whole = fe.asarray(packed, copy=True)
    for strided in (whole[::2], whole[:, ::-1], whole[3:], fe.asarray(packed)[::2]):
        same_bits(fe.to_packed(fe.from_packed(strided, dtype)), np.asarray(strided))
    with pytest.raises(fe.InvalidArgumentError, match=r"from_packed: the bytes of uint8\(2, .*copy=False forbids"):
        fe.from_packed(whole[::2], dtype, copy=False)
    with pytest.raises(fe.DTypeError, match="from_packed: the bytes are dtype uint8, not dtype float32"):
        fe.from_packed(fe.ones((2, 34)), dtype)
    with pytest.raises(fe.InvalidArgumentError, match=rf"uint8\(2, 33\) .*whole blocks of {dtype.block_bytes} bytes"):
        fe.from_packed(fe.zeros((2, 33), dtype="uint8"), dtype)


def test_only_block_dtypes_have_packed_bytes() -> None:
    with pytest.raises(fe.DTypeError, match="float32 has no blocks"):
        fe.from_packed(np.zeros(34, "uint8"), "float32")
    with pytest.raises(fe.DTypeError, match=r"None is not a dtype; there are .*q8_0"):
        fe.from_packed(np.zeros(34, "uint8"), None)
    with pytest.raises(fe.DTypeError, match="float32"):
        fe.to_packed(fe.ones(3))


# ---- conversion to and from float32


@each("shape", [(256,), (1, 256), (7, 768), (2, 3, 4, 256), (0, 256), (5, 0), (40, 8192)])
def test_astype_float32_matches_gguf_bit_for_bit(dtype: fe.BlockDType, shape: tuple[int, ...]) -> None:
    packed = random_blocks(dtype, shape, seed=len(shape))
    wanted = numbers_of(packed, dtype) if packed.size else np.empty(shape, np.float32)
    same_bits(fe.from_packed(packed, dtype).astype("float32"), wanted)


def test_every_scale_is_decoded(dtype: fe.BlockDType) -> None:
    """All float16 values as scales, of large blocks some, including infinities and denormals; NaN stays NaN."""
    some = np.r_[:65536:17, 1, 0x3FF, 0x7C00, 0x7E00, 0x8000, 0x8001, 0x83FF, 0xFC00]
    every = (np.arange(65536) if dtype.block_elements == 32 else some).astype(np.uint16)
    packed = random_blocks(dtype, (every.size, dtype.block_elements))
    set_scales(dtype.name, packed, every.view(np.float16)[:, np.newaxis])
    with np.errstate(all="ignore"):
        wanted = numbers_of(packed, dtype)
    got = np.asarray(fe.from_packed(packed, dtype).astype("float32"))
    np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
    np.testing.assert_array_equal(np.where(np.isnan(got), 0, got), np.where(np.isnan(wanted), 0, wanted))


@each("name", ["mxfp4", "nvfp4"])
def test_every_scale_of_one_byte_is_decoded(name: str) -> None:
    dtype = BY_NAME[name]
    packed = random_blocks(dtype, (256, dtype.block_elements))
    packed[:, : dtype.block_bytes - dtype.block_elements // 2] = np.arange(256)[:, np.newaxis]
    with np.errstate(over="ignore"):
        same_bits(fe.from_packed(packed, dtype).astype("float32"), numbers_of(packed, dtype))


@each("blocks", [(1,), (3, 3), (2, 5, 2), (0, 1), (4, 0), (33, 128)])
def test_quantisation_matches_gguf(writable: fe.BlockDType, blocks: tuple[int, ...]) -> None:
    shape = (*blocks[:-1], blocks[-1] * writable.block_elements)
    numbers = np.random.default_rng(len(shape)).standard_normal(shape, "float32") * np.float32(3)
    x = fe.asarray(numbers).astype(writable)
    assert x.dtype is writable
    assert x.shape == shape
    if numbers.size:
        same_bits(fe.to_packed(x), packed_of(numbers, writable))
    else:
        assert fe.to_packed(x).size == 0


def test_quantisation_of_difficult_numbers_matches_gguf(writable: fe.BlockDType) -> None:
    """Zeros and equal magnitudes of both signs, ties, tiny and huge values."""
    rng = np.random.default_rng(3)
    rows = [
        np.zeros(32),
        -np.zeros(32),
        np.where(np.arange(32) % 2, 1, -1),
        np.where(np.arange(32) % 2, -1, 1),
        np.arange(-16, 16) + 0.5,
        np.arange(32) * 127 / 31,
        np.full(32, 1e-30),
        np.full(32, 6e4),
        np.full(32, 3e38) * np.where(np.arange(32) % 3, 1, -1),
        *(rng.integers(-127, 128, 32) + rng.choice([0, 0.5, -0.5], 32) for _ in range(200)),
        *(rng.integers(-8, 8, 32) + rng.choice([0, 0.5, -0.5], 32) for _ in range(200)),
        *(np.exp2(rng.uniform(-20, 20)) * rng.standard_normal(32) for _ in range(500)),
    ]
    numbers = np.array(rows, np.float32).repeat(writable.block_elements // 32, axis=0)
    numbers = numbers.reshape(-1, writable.block_elements)
    with np.errstate(all="ignore"):
        wanted = packed_of(numbers, writable)
    same_bits(fe.to_packed(fe.asarray(numbers).astype(writable)), wanted)


@each("bad", [np.nan, np.inf, -np.inf])
def test_nonfinite_block_does_not_affect_its_neighbours(writable: fe.BlockDType, bad: float) -> None:
    size = writable.block_elements
    numbers = np.ones((1, 3 * size), "float32")
    numbers[0, size + 8] = bad
    again = np.asarray(fe.asarray(numbers).astype(writable).astype("float32"))
    assert not np.isfinite(again[0, size + 8])
    np.testing.assert_allclose(again[0, :size], 1, rtol=1e-3)  # the scale is a float16
    np.testing.assert_allclose(again[0, 2 * size :], 1, rtol=1e-3)
    if np.isnan(bad):
        lost = np.isinf if writable == "mxfp4" else np.isnan  # mxfp4 has no NaN
        assert lost(again[0, size : 2 * size]).all()


def test_strided_float32_is_quantised(writable: fe.BlockDType) -> None:
    numbers = np.random.default_rng(0).standard_normal((256, 768), "float32")
    for view in (numbers.T, numbers[::-3, 256:512], numbers[:, ::-1]):
        same_bits(fe.to_packed(fe.asarray(view).astype(writable)), packed_of(np.ascontiguousarray(view), writable))


# ---- views and graphs

SLICES: list[Any] = [
    np.s_[2],
    np.s_[1:5:2],
    np.s_[::-1],
    np.s_[:, 256:],
    np.s_[-1, :256],
    np.s_[..., 256:512],
    np.s_[1:1],
    np.s_[:, 512:512],
    np.s_[None, 3:],
]


def bytes_in(place: Any, dtype: fe.BlockDType) -> Any:
    """The same slice of the packed bytes."""
    parts = place if isinstance(place, tuple) else (place,)

    def scaled(part: Any, is_last: bool) -> Any:
        if not is_last or not isinstance(part, slice):
            return part
        ends = (
            None if end is None else end // dtype.block_elements * dtype.block_bytes for end in (part.start, part.stop)
        )
        return slice(*ends)

    reaches_last = len([part for part in parts if part is not None]) == 2
    return tuple(scaled(part, reaches_last and number == len(parts) - 1) for number, part in enumerate(parts))


@each("place", SLICES)
def test_slices_of_whole_blocks_are_allowed(dtype: fe.BlockDType, place: Any) -> None:
    packed = random_blocks(dtype, (6, 768))
    wanted = packed[bytes_in(place, dtype)]
    x = fe.from_packed(packed, dtype)
    assert fe.to_packed(x[place]).tobytes() == wanted.tobytes()
    numbers = numbers_of(packed, dtype)[place]
    same_bits(x[place].astype("float32"), numbers)
    in_graph = fe.graph(lambda x: (x[place], x[place].astype("float32")))
    blocks, graph_numbers = in_graph(x)
    assert fe.to_packed(blocks).tobytes() == wanted.tobytes()
    same_bits(graph_numbers, numbers)


@each("place", [np.s_[:, 1:257], np.s_[:, :100], np.s_[:, 5], np.s_[:, ::2], np.s_[:, ::-1]])
def test_slices_of_partial_blocks_are_refused(dtype: fe.BlockDType, place: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=f"{dtype}.*whole blocks"):
        fe.from_packed(random_blocks(dtype, (2, 512)), dtype)[place]


def test_reshape_keeps_blocks_whole(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (4, 512))
    x = fe.from_packed(packed, dtype)
    assert fe.to_packed(fe.reshape(x, (2, 2, 512))).tobytes() == packed.tobytes()
    assert fe.to_packed(fe.reshape(x, (-1,))).tobytes() == packed.tobytes()
    assert fe.to_packed(fe.reshape(x[::2], (1, 2, 512))).tobytes() == packed[::2].tobytes()
    with pytest.raises(fe.InvalidArgumentError, match="whole number of blocks"):
        fe.reshape(x, (512, 4))


def test_weights_are_constants_or_inputs_of_graphs(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (16, 256))
    weights, x = fe.from_packed(packed, dtype), fe.ones((2, 256))
    wanted = np.asarray(fe.linear(x, weights))  # sums part by part
    np.testing.assert_allclose(wanted, np.asarray(x @ fe.asarray(numbers_of(packed, dtype)).T), rtol=1e-3, atol=1e-2)
    as_constant = fe.graph(lambda x: x @ weights.astype("float32").T)
    as_input = fe.graph(lambda x, w: x @ w.astype("float32").T)
    same_bits(as_constant(x), wanted)
    same_bits(as_input(x, weights), wanted)


def test_closed_over_blocks_stay_blocks_in_a_traced_function(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (3, 16, 256))
    weights, x = fe.from_packed(packed, dtype), fe.ones((2, 256))
    numbers = numbers_of(packed, dtype)

    @fe.graph
    def inner(x: fe.Array) -> fe.Array:
        return x @ fe.asarray(weights[1], dtype="float32").T

    def outer(x: fe.Array) -> Any:
        return x @ weights[0].astype("float32").T, inner(x), weights[2].astype("float32")

    graph = fe.graph(outer).trace(x)
    assert {str(constant.dtype) for constant, _ in graph._concrete_constants()} == {str(dtype)}
    assert len(graph.to_bytes()) < numbers.nbytes
    first, second, third = fe.graph(outer)(x)
    same_bits(first, np.asarray(fe.linear(x, weights[0])))
    same_bits(second, np.asarray(fe.linear(x, weights[1])))
    same_bits(third, numbers[2])
    same_bits(weights.astype("float32"), numbers)  # no trace is active any more


def test_closed_over_blocks_can_be_printed_in_a_traced_function() -> None:
    weights = fe.from_packed(random_blocks(fe.q8_0, (64,)), "q8_0")
    texts: list[str] = []
    fe.graph(lambda x: (texts.append(repr(weights)), x + 1)[1])(fe.ones(3))
    assert texts == [repr(weights)]


def test_assignment_to_blocks_is_refused(dtype: fe.BlockDType) -> None:
    x = fe.from_packed(random_blocks(dtype, (2, 512)), dtype)
    values: list[Any] = [x[1], 0, np.zeros(512, "float32")]
    for value in values:
        with pytest.raises(fe.DTypeError, match=rf"^x\[key\] = value: x has the dtype {dtype}, whose blocks"):
            x[0] = value
    with pytest.raises(fe.DTypeError, match=f"^update_slice: .*{dtype}"):
        fe.update_slice(x, x[:1], (0, 0))


def test_constants_in_blocks_are_not_folded_to_float32(dtype: fe.BlockDType) -> None:
    graph = fe.Graph("cpu")
    weights = graph.constant(fe.from_packed(random_blocks(dtype, (512, 512)), dtype))
    graph.output(graph.input((512, 512)) + weights.astype("float32"))
    assert "astype" in {node["op"] for node in graph.compile().placement()["nodes"]}


def test_writable_block_memory_is_read_at_use(dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (2, 256))
    before, weights = numbers_of(packed, dtype), fe.from_packed(packed, dtype)
    numbers = weights.astype("float32")
    traced = fe.graph(lambda x: x + weights.astype("float32"))
    zeros = fe.zeros((2, 256))
    same_bits(traced(zeros), before + np.float32(0))
    packed[:] = random_blocks(dtype, (2, 256), seed=1)
    same_bits(numbers, before)
    same_bits(traced(zeros), before + np.float32(0))
    same_bits(weights.astype("float32"), numbers_of(packed, dtype))


def test_saved_graphs_keep_blocks(tmp_path: Path, dtype: fe.BlockDType) -> None:
    packed = random_blocks(dtype, (2, 256))
    graph = fe.Graph("cpu")
    taken = graph.input((2, 256), dtype)
    graph.output(taken.astype("float32"), fe.from_packed(packed, dtype).astype("float32") + graph.input((2, 256)))
    graph.save(tmp_path / "blocks.npz")
    again = fe.Graph.load(tmp_path / "blocks.npz", "cpu").compile()
    first, second = again.compute(fe.from_packed(packed, dtype), fe.zeros((2, 256)))
    same_bits(first, numbers_of(packed, dtype))
    same_bits(second, numbers_of(packed, dtype) + np.float32(0))


def test_tensors_of_a_mapped_file_are_borrowed_at_any_offset(tmp_path: Path, dtype: fe.BlockDType) -> None:
    """GGUF aligns tensors to 32 bytes, which is not a multiple of most block sizes."""
    packed = random_blocks(dtype, (3, 512))
    path = tmp_path / "weights"
    path.write_bytes(bytes(96) + packed.tobytes() + bytes(64))
    region = fe.buffer_from_host_ptr(np.memmap(path, mode="r"))
    x = fe.Array._of(region._handle.cut(96, dtype, (3, 512)))
    assert x.placement == region.placement
    same_bits(x.astype("float32"), numbers_of(packed, dtype))
    same_bits(fe.to_packed(x[1:, 256:]), packed[1:, packed.shape[1] // 2 :])


# ---- rows, which an embedding table is read by


ROWS: dict[str, Callable[[Any, Any], Any]] = {
    "take": lambda f, x: f.take(x, f.asarray([2, 0, 2]), axis=0),
    "take of matrices": lambda f, x: f.take(x, f.asarray([[1, 0], [0, 1]]), axis=1),
    "index arrays": lambda f, x: x[f.asarray([1, 2])],
    "permute_dims": lambda f, x: f.permute_dims(x, (1, 0, 2)),
    "copied permute_dims": lambda f, x: f.permute_dims(x, (1, 0, 2))[:, 1:],
    "concat": lambda f, x: f.concat([x, x[:1]], axis=0),
    "concat of blocks": lambda f, x: f.concat([x, x], axis=2),
    "concat of views": lambda f, x: f.concat([f.permute_dims(x, (1, 0, 2)), x[:2]], axis=1),
    "stack": lambda f, x: f.stack([x, x]),
    "flip": lambda f, x: f.flip(x, axis=0),
    "roll": lambda f, x: f.roll(x, 1, axis=0),
}


@each("name", ROWS)
def test_rows_of_blocks_are_moved(name: str, dtype: fe.BlockDType) -> None:
    move = ROWS[name]
    packed = random_blocks(dtype, (3, 2, 512))
    wanted = move(np, packed)
    x = fe.from_packed(packed, dtype)
    for got in (move(fe, x), fe.graph(lambda x: move(fe, x))(x)):
        assert got.dtype == dtype
        same_bits(fe.to_packed(got), wanted)
        same_bits(np.asarray(got.astype("float32")), np.asarray(fe.from_packed(wanted, dtype).astype("float32")))


def test_an_index_of_a_row_out_of_bounds_is_an_error(dtype: fe.BlockDType) -> None:
    x = fe.from_packed(random_blocks(dtype, (3, 512)), dtype)
    with pytest.raises(fe.Error, match="index 3 is out of bounds for axis 0 with size 3"):
        fe.eval(fe.take(x, fe.asarray([0, 3]), axis=0))


# ---- unsupported operations


@each(
    "use",
    [
        lambda x: x + x,
        lambda x: x + 1,
        lambda x: -x,
        lambda x: x == x,
        lambda x: x @ x,
        lambda x: fe.sum(x),
        lambda x: fe.softmax(x),
        lambda x: fe.concat([x, x.astype("float32")]),
        lambda x: fe.einsum("ij,kj->ik", fe.ones((2, 512)), x),
        lambda x: fe.broadcast_to(x, (2, 2, 512)),
        lambda x: fe.take(x, fe.asarray([0]), axis=1),
        lambda x: fe.where(fe.asarray(True), x, x),
        lambda x: fe.pad(x, 1),
        lambda x: x.astype("float16"),
        lambda x: x.astype("int8"),
        lambda x: fe.ones((2, 512), dtype="float64").astype(x.dtype),
        lambda x: fe.ones((2, 512)).astype("q6_K"),
        lambda x: fe.ones((2, 100)).astype("q8_0"),
        lambda x: fe.zeros((2, 512), dtype=x.dtype),
        lambda x: fe.arange(512, dtype=x.dtype),
        lambda x: fe.asarray([1.0], dtype=x.dtype),
        lambda x: np.asarray(x),
        lambda x: x.tolist(),
        lambda x: fe.host_empty((2, 512), x.dtype),
        lambda x: fe.argmax(x),
    ],
)
def test_unsupported_ops_on_blocks_name_the_dtype(use: Callable[[fe.Array], object], dtype: fe.BlockDType) -> None:
    x = fe.from_packed(random_blocks(dtype, (2, 512)), dtype)
    with pytest.raises(fe.InvalidArgumentError, match=rf"{dtype}|q\d_[0K]"):
        use(x)


def test_blocks_have_no_outer_product(dtype: fe.BlockDType) -> None:
    x = fe.from_packed(random_blocks(dtype, (2, 512)), dtype)
    for factors in ((x, fe.ones(3)), (fe.ones(3), x), (x, x), (x, 2.0)):
        with pytest.raises(fe.DTypeError, match=r"^outer: multiply: "):
            fe.outer(*factors)  # type: ignore[arg-type]


def test_dlpack_has_no_such_dtype(dtype: fe.BlockDType) -> None:
    x = fe.from_packed(random_blocks(dtype, (2, 512)), dtype)
    with pytest.raises(BufferError, match=str(dtype)):
        np.from_dlpack(x)
