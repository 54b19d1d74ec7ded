"""Errors that say how to fix the call, for wrong arguments that users of other libraries write."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule import _ferrule
from ferrule.text.other_names import OTHER_NAMES

from tests.python.each import each

X = fe.ones((2, 3))
FE: Any = fe  # mypy does not check its arguments


def assign_too_much() -> None:
    x = fe.ones((2, 3))
    x[0] = fe.ones(4)


WRONG: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "log level": (
        lambda: fe.set_log_level("verbose"),
        ValueError,
        """takes "debug", "info", "warning" or "error", not 'verbose'""",
    ),
    "device by number": (lambda: FE.device(0), ValueError, 'takes a Device or a name, such as "cpu" or "gpu:1", not 0'),
    "device misspelt": (lambda: fe.device("cpuu"), fe.NotFoundError, "did you mean 'cpu'"),
    "threads below 0": (lambda: fe.set_thread_count(-1), ValueError, "or 0 for the default, not -1"),
    "threads in halves": (lambda: FE.set_thread_count(1.5), ValueError, "takes a number of threads"),
    "concat": (lambda: FE.concat(X, X), ValueError, "concat([x, y], axis=0)"),
    "stack": (lambda: FE.stack(X, X), ValueError, "stack([x, y], axis=0)"),
    "zeros of sizes": (lambda: FE.zeros(2, 3), ValueError, "pass the shape as one tuple, zeros((2, 3))"),
    "zeros with a dtype": (lambda: FE.ones(2, "f8"), ValueError, "the dtype by its name: dtype=..."),
    "empty": (lambda: FE.empty(2, 3), ValueError, "empty((2, 3))"),
    "reshape": (lambda: FE.reshape(X, 3, 2), ValueError, "reshape(x, (2, 3))"),
    "broadcast_to": (lambda: FE.broadcast_to(X, 3, 2), ValueError, "broadcast_to(x, (2, 3))"),
    "permute_dims": (lambda: FE.permute_dims(X, 1, 0), ValueError, "permute_dims(x, (1, 0))"),
    "zeros of a float": (lambda: FE.zeros(3.0), ValueError, "zeros: shape must be an integer or a tuple of integers"),
    "sum along a float": (
        lambda: FE.sum(X, axis=1.0),
        ValueError,
        "sum: axis must be an integer or a tuple of integers",
    ),
    "sum along a text": (lambda: FE.sum(X, axis="0"), ValueError, "sum: axis must be an integer or a tuple"),
    "argmax of two axes": (
        lambda: FE.argmax(X, axis=(0, 1)),
        ValueError,
        "argmax: axis must be one integer, not (0, 1)",
    ),
    "expand_dims": (lambda: FE.expand_dims(X, axis=1.5), ValueError, "expand_dims: axis must be an integer or a tuple"),
    "softmax of two axes": (
        lambda: FE.softmax(X, axis=(0, 1)),
        ValueError,
        "softmax: axis must be one integer, not (0, 1)",
    ),
    "int of 65 bits": (lambda: fe.asarray(2**64), OverflowError, f"{2**64} does not fit into int64 or uint64"),
    "list of an int of 65 bits": (lambda: fe.asarray([[1], [-(2**63) - 1]]), OverflowError, "does not fit into int64"),
    "text": (
        lambda: fe.asarray("a"),
        fe.DTypeError,
        "type str is neither numbers nor memory that holds them; ferrule has",
    ),
    "list of objects": (lambda: fe.asarray([object()]), fe.DTypeError, "type object is neither numbers nor"),
    "list of texts": (lambda: fe.asarray(["a"]), fe.DTypeError, "dtype <U1 is not supported; ferrule has bool, int8"),
    "dtype misspelt": (
        lambda: fe.zeros(3, dtype="flaot32"),
        fe.DTypeError,
        "'flaot32' is not a dtype; did you mean 'float32'",
    ),
    "dtype of astype": (lambda: X.astype("flaot32"), fe.DTypeError, "did you mean 'float32'"),
    "no dtype": (lambda: fe.asarray([1], dtype="image"), fe.DTypeError, "'image' is not a dtype; there are bool, int8"),
    "integers to sqrt": (
        lambda: fe.sqrt(fe.asarray([1, 2])),
        fe.DTypeError,
        "needs a floating-point dtype; convert it with x.astype('float32')",
    ),
    "a float to an op of integers": (
        lambda: fe.bitwise_left_shift(X, X),
        fe.DTypeError,
        "bitwise_left_shift: x1 is float32(2, 3), but needs an integer dtype",
    ),
    "assignment": (
        assign_too_much,
        ValueError,
        "x[key] = value: the value has shape (4,), which does not broadcast to (3,)",
    ),
    "fallback": (
        lambda: fe.graph(lambda x: x, fallback="never"),
        ValueError,
        """fallback is "warn", "allow" or "error", not 'never'""",
    ),
}


@each("name", WRONG)
def test_message_suggests_a_remedy(name: str) -> None:
    call, kind, expected = WRONG[name]
    with pytest.raises(fe.Error) as caught:
        call()
    assert isinstance(caught.value, kind)
    assert expected in str(caught.value)
    assert "incompatible function arguments" not in str(caught.value)


@pytest.mark.parametrize("like", [np.ones((2, 3), "f8"), [[1.0, 2, 3]] * 2, fe.ones((2, 3), dtype="f8")])
def test_like_functions_accept_what_asarray_accepts(like: Any) -> None:
    dtype = fe.asarray(like).dtype
    for make, value in ((fe.zeros_like, 0), (fe.ones_like, 1), (fe.empty_like, 0)):
        made = make(like)
        assert (made.dtype, made.tolist()) == (dtype, [[value] * 3] * 2)
    assert fe.full_like(like, 7).tolist() == [[7] * 3] * 2


def test_graph_given_another_dtype_suggests_a_cast() -> None:
    graph = fe.Graph()
    graph.output(graph.input((3,)) + 1)
    with pytest.raises(fe.InvalidArgumentError, match=r"compiled for float32.*; cast it with astype"):
        graph.compute(np.ones(3))
    with pytest.raises(fe.InvalidArgumentError, match=r"compiled for float32\(3,\)$"):
        graph.compute(np.ones(4, "f4"))


@pytest.mark.parametrize("data", [b"", b"hello", b"\x80\x04hello", b"PK\x03\x04hello"])
def test_file_that_is_no_graph_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "model.graph"
    path.write_bytes(data)
    with pytest.raises(fe.InvalidArgumentError) as caught:
        fe.Graph.load(path)
    assert str(caught.value) == f"{path} is not a saved graph; Graph.save and Graph.to_bytes make one"


X34 = fe.asarray(np.arange(12, dtype="float32").reshape(3, 4))
BATCH = fe.asarray(np.random.default_rng(0).normal(size=(2, 3, 3)).astype("float32"))
KEY = fe.random.key(0)
WEIGHTS = np.float32([0.1, 0.0, 0.9])
# The code that a message advises, in that message, and NumPy's function of the name that ferrule lacks.
ADVISED: dict[str, tuple[Callable[[], Any], str, Callable[[], Any], Any]] = {
    "fliplr": (lambda: FE.fliplr, "ferrule.flip(x, axis=1)", lambda: fe.flip(X34, axis=1), np.fliplr(X34)),
    "flipud": (lambda: FE.flipud, "ferrule.flip(x, axis=0)", lambda: fe.flip(X34, axis=0), np.flipud(X34)),
    "inner of vectors": (
        lambda: FE.inner,
        "ferrule.vecdot(x, y) of vectors",
        lambda: fe.vecdot(X34[0], X34[1]),
        np.inner(X34[0], X34[1]),
    ),
    "inner of matrices": (
        lambda: FE.inner,
        "x @ y.mT of matrices",
        lambda: X34 @ (X34 + 1).mT,
        np.inner(np.asarray(X34), np.asarray(X34 + 1)),
    ),
    "diag of a matrix": (lambda: FE.diag, "ferrule.linalg.diagonal(x)", lambda: fe.linalg.diagonal(X34), np.diag(X34)),
    "diag of a vector": (
        lambda: FE.diag,
        "ferrule.eye(len(v)) * v",
        lambda: fe.eye(len(X34[1])) * X34[1],
        np.diag(np.asarray(X34[1])),
    ),
    "one_hot": (
        lambda: FE.one_hot,
        "indices[..., None] == ferrule.arange(n)",
        lambda: fe.asarray([2, 0])[..., None] == fe.arange(3),
        np.eye(3, dtype=bool)[[2, 0]],
    ),
    "embedding": (
        lambda: FE.embedding,
        "ferrule.take(weights, indices, axis=0)",
        lambda: fe.take(X34, fe.asarray([2, 0]), axis=0),
        np.asarray(X34)[[2, 0]],
    ),
    "cond": (
        lambda: fe.linalg.cond,  # type: ignore[attr-defined]
        "svdvals(x)[..., 0] / svdvals(x)[..., -1]",
        lambda: fe.linalg.svdvals(BATCH)[..., 0] / fe.linalg.svdvals(BATCH)[..., -1],
        np.linalg.cond(np.asarray(BATCH)),
    ),
    "strides": (
        lambda: X34.strides,  # type: ignore[attr-defined]
        "numpy.asarray(x).strides",
        lambda: np.asarray(X34).strides,
        (16, 4),
    ),
}


@each("name", ADVISED)
def test_advised_code_computes_what_the_other_library_does(name: str) -> None:
    attribute, advice, call, expected = ADVISED[name]
    with pytest.raises(AttributeError) as caught:
        attribute()
    assert advice in str(caught.value)
    np.testing.assert_allclose(np.asarray(call()), expected, rtol=1e-4)


@pytest.mark.parametrize("module", [fe, fe.random])
def test_advice_for_multinomial_takes_probabilities(module: Any) -> None:
    with pytest.raises(AttributeError, match=r"choice\(key, n, shape, p=probabilities\)"):
        module.multinomial  # noqa: B018
    chosen = np.asarray(fe.random.choice(KEY, 3, (20_000,), p=fe.asarray(WEIGHTS)))
    np.testing.assert_allclose(np.bincount(chosen, minlength=3) / chosen.size, WEIGHTS, atol=0.01)


def test_advice_for_dropout_keeps_the_mean() -> None:
    with pytest.raises(
        AttributeError, match=r"ferrule.where.ferrule.random.bernoulli.key, 1 - p, x.shape., x / .1 - p., 0"
    ):
        FE.dropout  # noqa: B018
    x, p = fe.ones(100_000), 0.25
    dropped = fe.where(fe.random.bernoulli(KEY, 1 - p, x.shape), x / (1 - p), 0)
    assert set(np.unique(np.asarray(dropped))) == {np.float32(0), np.float32(4 / 3)}
    assert abs(float(dropped.mean()) - 1) < 0.01


@pytest.mark.parametrize("name", ["grad", "value_and_grad", "no_grad", "backward"])
def test_derivatives_are_not_there(name: str) -> None:
    for owner in (fe, X):
        with pytest.raises(AttributeError, match=r"; ferrule computes no derivatives$"):
            getattr(owner, name)


@each(
    ("call", "words"),
    [
        (lambda: FE.PRNGKey, "; it is ferrule.random.key here"),
        (lambda: fe.random.PRNGKey, r"; use key\(seed\)"),  # type: ignore[attr-defined]
        (lambda: FE.conv2d, "; ferrule has no convolutions"),
        (lambda: FE.nn, "; ferrule has no layers, but functions such as ferrule.softmax"),
        (lambda: FE.save, r"; it is ferrule.io.save_safetensors\(path, \{name: x\}\)"),
        (lambda: FE.savez, r"; it is ferrule.io.save_safetensors\(path, \{name: x\}\)"),
        (lambda: FE.vmap, "; ferrule has none; its functions take any number of leading axes"),
        (lambda: FE.set_printoptions, "; it is numpy.set_printoptions here"),
        (lambda: FE.ones(3).at, r"; it is x\[key\] = value here"),
        (lambda: FE.ones(3).diagonal, r"; it is ferrule.linalg.diagonal\(x\) here"),
        (lambda: FE.kron, "no attribute 'kron'$"),
        (lambda: FE.savetxt, "no attribute 'savetxt'$"),
    ],
)
def test_names_without_an_equivalent_get_no_silly_suggestion(call: Callable[[], object], words: str) -> None:
    with pytest.raises(AttributeError, match=words):
        call()


def test_elements_cannot_be_deleted() -> None:
    x: Any = fe.ones(3)
    with pytest.raises(TypeError, match=r"^del x\[key\]: an array never loses elements; x\[mask\] or"):
        del x[0]
    assert x.tolist() == [1, 1, 1]


def test_transpose_of_a_vector_is_not_said_to_be_mt() -> None:
    for x, words in ((fe.ones(3), r"x\[:, None\] is a column"), (fe.ones((2, 3, 4)), "use mT or permute_dims")):
        with pytest.raises(fe.InvalidArgumentError, match=f"^T: needs 2 dimensions, not {x.ndim}; {words}") as caught:
            x.T  # noqa: B018
        assert ("mT" in str(caught.value)) == (x.ndim > 2)


@pytest.mark.parametrize("x", [fe.ones((2, 2)), np.ones((2, 2))])
def test_trace_of_a_matrix_names_the_function_of_linalg(x: Any) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=r"^trace: path is a file name, not \w+; ferrule.linalg.trace"):
        fe.trace(x)


@pytest.mark.parametrize(
    ("suffix", "reader"), [("npy", "numpy.load"), ("NPZ", "numpy.load"), ("safetensors", "ferrule.io.open_safetensors")]
)
def test_load_of_a_file_of_arrays_names_its_reader(suffix: str, reader: str, tmp_path: Path) -> None:
    path = tmp_path / f"a.{suffix}"
    with pytest.raises(fe.NotFoundError, match=f"; load is for modules, and {reader} reads arrays$"):
        fe.load(path)
    path.write_bytes(b"\x93NUMPY" * 100)
    with pytest.raises(fe.IoError, match=f"; load is for modules, and {reader} reads arrays$"):
        fe.load(path)
    with pytest.raises(fe.InvalidArgumentError, match=r"^load: path is a file name, not Array$"):
        FE.load(X)


@each(
    ("call", "end"),
    [
        (lambda: FE.sum(X, 1), "takes 1 positional argument but 2 were given; write axis=1"),
        (lambda: FE.sum(X, (0, 1)), "; write axis=(0, 1)"),
        (lambda: FE.sum(X, X), "; write axis=..."),
        (lambda: FE.softmax(X, -1), "takes 1 positional argument but 2 were given; write axis=-1"),
        (lambda: FE.tril(X, -1), "; write k=-1"),
        (lambda: FE.topk(X, 2, 1), "; write axis=1"),
        (lambda: fe.fft.fft(X, 3, 0), "; write n=3, axis=0"),  # type: ignore[misc]
        (lambda: FE.sum(X, dim=1), "got an unexpected keyword argument 'dim'; it is axis= here"),
        (lambda: FE.softmax(X, dim=1), "; it is axis= here"),
        (lambda: FE.permute_dims(X, dims=(1, 0)), "; it is axes= here"),
        (lambda: FE.sum(X, keepdim=True), "; it is keepdims= here"),
        (lambda: FE.var(X, ddof=1), "; it is correction= here"),
        (lambda: FE.scaled_dot_product_attention(X, X, X, attn_mask=X), "; it is mask= here"),
        (lambda: FE.layer_norm(X, eps=1e-5), "; it is epsilon= here"),
        (lambda: FE.clip(X, a_min=0), "; it is min= here"),
        (lambda: FE.reshape(X, (3, 2), order="F"), "unexpected keyword argument 'order'; elements are in C order"),
        (lambda: FE.sum(X, out=X), "; the result is always a new array"),
        (lambda: FE.sum(X, axsi=1), "unexpected keyword argument 'axsi'; did you mean 'axis'?"),
        (lambda: FE.ones((2, 3)).sum(dim=1), "; it is axis= here"),
        (lambda: FE.ones((1, 3)).squeeze(dim=0), "; it is axis= here"),
        (lambda: FE.sum(), "missing 1 required positional argument: 'x'"),
        (lambda: FE.sum(X, 0, None, True, 1, 2), "takes 1 positional argument but 6 were given"),
        (lambda: FE.sum(X, zzz=1), "unexpected keyword argument 'zzz'"),
    ],
)
def test_arguments_of_other_libraries_name_ferrules(call: Callable[[], object], end: str) -> None:
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value).endswith(end)


def test_a_type_error_inside_a_function_stays_as_it_is() -> None:
    def outer(x: int, /, *, axis: int = 0) -> int:
        return inner(x, axis)  # type: ignore[call-arg, misc]

    def inner(x: int, /, *, axis: int = 0) -> int:
        return axis

    with pytest.raises(TypeError, match=r"inner\(\) takes 1 positional argument but 2 were given$"):
        _ferrule.public(outer, __name__)(1)


def test_explain_suggests_ops() -> None:
    assert fe.explain("sotfmax").endswith(" Did you mean 'softmax'?")


@each("name", OTHER_NAMES)
def test_names_of_other_libraries_suggest_ferrules(name: str) -> None:
    with pytest.raises(AttributeError, match=f"it is ferrule.{OTHER_NAMES[name]} here"):
        getattr(fe, name)
    found: Any = fe
    for part in OTHER_NAMES[name].split("."):
        found = getattr(found, part)


def test_misspelt_name_suggests_similar_names() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'sofmax'; did you mean 'softmax'"):
        FE.sofmax  # noqa: B018
    with pytest.raises(AttributeError, match=r"no attribute '__wrapped__'$"):
        FE.__wrapped__  # noqa: B018


def assign(x: fe.Array, value: object) -> None:
    x[0] = value


@each(
    ("call", "message"),
    [  # wrong argument types are what is tested
        (lambda: fe.var(fe.ones(3), correction="a"), "var: correction must be a number, not 'a'"),  # type: ignore[arg-type]
        (lambda: fe.pad(fe.ones(3), [1, 2, 3]), r"pad: widths are a .* for each of 1 axes, not \[1, 2, 3\]"),
        (lambda: fe.split(fe.ones(3), [1.5]), r"split: sections must be .* integers, not \[1.5\]"),  # type: ignore[list-item]
        (lambda: fe.full(2, "a"), "full: the value is a number, not 'a'"),  # type: ignore[arg-type]
        (lambda: fe.full_like(fe.ones(2), [1, 2]), r"full_like: the value is a number, not \[1, 2\]"),  # type: ignore[arg-type]
        (lambda: fe.softmax(fe.ones(2), axis=[None]), r"softmax: axis must be one integer, not \[None\]"),  # type: ignore[arg-type]
        (lambda: fe.graph(fe.exp, cache_size=-1), "graph: cache_size is a number of graphs, not -1"),
        (lambda: fe.mean([1.0, 2.0]), "mean: takes arrays, not list; ferrule.asarray.x. makes one"),
        (lambda: FE.topk(X, 2.0), "topk: k must be one integer, not 2.0"),
        (lambda: FE.softmax(X, axis=np.float64(1)), r"softmax: axis must be one integer, not np.float64\(1.0\)"),
        (lambda: FE.layer_norm(X, epsilon="a"), "layer_norm: epsilon must be a number, not 'a'"),
        (lambda: fe.ones(3).astype(None), "astype: None is not a dtype; there are bool, .*"),
        (lambda: FE.graph(3), "graph: takes a function, and 3 is not callable"),
        (lambda: FE.graph(donate=0)("f"), "graph: takes a function, and 'f' is not callable"),
        (lambda: fe.argmax(fe.ones(2), keepdims="a"), "argmax: keepdims must be True or False, not 'a'"),  # type: ignore[arg-type]
        (lambda: fe.take(fe.zeros((3, 0)), [9], axis=0), "take: index 9 is out of bounds for axis 0 with size 3"),
        (lambda: fe.zeros((0, 2))[[-1]], r"x\[key\]: index -1 is out of bounds for axis 0 with size 0"),
        (lambda: fe.concat(3), "concat: takes a list or tuple of arrays, not int"),  # type: ignore[arg-type]
        (lambda: fe.stack(None), "stack: takes a list or tuple of arrays, not NoneType"),  # type: ignore[arg-type]
        (lambda: FE.where("a", 1, 2), "where: takes arrays, not str"),
        (lambda: fe.ones(3) == [1, 1, 1], "equal: takes arrays, not list; ferrule.asarray.x. makes one"),
        (lambda: fe.ones(3) != (1, 1, 1), "not_equal: takes arrays, not tuple; ferrule.asarray.x. makes one"),
        (lambda: assign(fe.arange(3), None), "x.key. = value: takes arrays, not NoneType"),
        (lambda: assign(fe.arange(3), float("nan")), "x.key. = value: nan is not a value of int64"),
        (lambda: assign(fe.arange(3), 1j), "x.key. = value: 1j has an imaginary part, and int64 has none"),
        (
            lambda: fe.compress(fe.asarray([True]), fe.arange(1), size=2, fill_value=9.5),
            "compress: 9.5 does not fit into int64",
        ),
        (lambda: fe.ones((3, 3))[[[1], [1, 2]]], r"x\[key\]: the lists in \[\[1\], \[1, 2\]\] differ in length"),
    ],
)
def test_invalid_arguments_are_typed_errors(call: Callable[[], object], message: str) -> None:
    with pytest.raises(fe.Error, match=f"^{message}$"):
        call()


@each("traced", [False, True])
@each(
    "call",
    [
        lambda x: fe.sum(x),
        lambda x: fe.exp(x),
        lambda x: fe.nonzero(x, size=1),
        lambda x: fe.compress(x, fe.ones(2), size=1),
        lambda x: fe.compress(fe.ones(2), x, size=1),
        lambda x: fe.update_slice(fe.ones(3), x, (0,)),
        lambda x: fe.update_slice(x, fe.ones(3), (0,)),
        lambda x: fe.dynamic_slice(x, (0,), (1,)),
        lambda x: fe.matmul(fe.ones(2), x),
        lambda x: fe.flip(x),
        lambda x: fe.scaled_dot_product_attention(x, x, x),
    ],
)
def test_lists_are_refused_with_the_same_message(call: Callable[[Any], object], traced: bool) -> None:
    with pytest.raises(fe.InvalidArgumentError, match=r"^\w+: takes arrays, not list; ferrule.asarray\(x\) makes one$"):
        fe.graph(lambda y: call([1.0, 2.0]))(fe.ones(2)) if traced else call([1.0, 2.0])


@each(
    ("name", "words"),
    [
        ("softmax", r"; it is ferrule.softmax\(x\) here"),
        ("clone", r"; it is ferrule.asarray\(x, copy=True\) here"),
        ("concatenate", r"; it is ferrule.concatenate\(x\) here"),
        ("shap", "; did you mean 'shape'?"),
        ("zzz", ""),
        ("_repr_latex_", ""),
    ],
)
def test_attributes_of_other_libraries_arrays_are_explained(name: str, words: str) -> None:
    with pytest.raises(AttributeError, match=f"^'Array' object has no attribute '{name}'{words}") as caught:
        getattr(fe.ones(3), name)
    assert words or str(caught.value).endswith(f"'{name}'")
    assert not hasattr(fe.ones(3), name)


def test_reading_by_a_traced_mask_names_the_alternatives() -> None:
    x = fe.asarray([1.0, 2, 3])
    with pytest.raises(fe.TracingError, match=r"^x\[mask\], .* ferrule.compress\(mask, x, .* use ferrule.where"):
        fe.graph(lambda x: x[x > 1])(x)
    assert fe.graph(lambda x: fe.compress(x > 1, x, axis=0, size=2))(x).tolist() == [2, 3]


@each(
    ("call", "message"),
    [
        (lambda: fe.linalg.solve(fe.ones((2, 3)), fe.ones(3)), "linalg.solve: x1 must consist of square matrices"),
        (lambda: fe.linalg.cholesky(fe.ones((2, 2), dtype="bfloat16")), "linalg.cholesky: x is bfloat16"),  # of the op
        (lambda: fe.linalg.pinv(fe.ones((2, 2), dtype="float16")), "linalg.pinv: linalg.svd: x is float16"),
        (lambda: fe.linalg.matmul(fe.ones(2), fe.ones(3)), "matmul: inner sizes differ"),  # also fe.matmul
        (lambda: fe.linalg.outer(fe.ones((2, 2)), fe.ones(3)), "linalg.outer: takes two vectors"),
        (lambda: fe.fft.rfft(fe.ones(3), n=0), "fft.rfft: n must be at least 1"),
        (lambda: fe.fft.fftshift(fe.ones(3), axes=1), "fft.fftshift: axis 1 is out of range"),
        (lambda: fe.random.uniform(fe.random.key(0), (2,), low=2.0, high=1.0), "random.uniform: low, 2.0, is greater"),
        (lambda: fe.random.split(fe.random.key(0), -1), "random.split: n is -1"),
        (lambda: fe.random.bits(fe.ones(3), (2,)), "random.bits: key is made by random.key or random.split"),
    ],
)
def test_messages_name_the_function_as_callers_write_it(call: Callable[[], object], message: str) -> None:
    with pytest.raises(fe.Error) as caught:
        call()
    assert str(caught.value).startswith(message)
