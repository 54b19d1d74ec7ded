"""Traced functions take and return dataclasses and registered classes, have static arguments, and are traced again when
an array that they close over is replaced."""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

FE: Any = fe


@dataclasses.dataclass
class Layer:
    weight: Any
    bias: Any
    scale: float = 1.0


@dataclasses.dataclass(frozen=True)
class Settings:
    size: int
    offset: Any = None


@dataclasses.dataclass
class Checked:
    """A dataclass whose construction needs values."""

    values: Any

    def __post_init__(self) -> None:
        if float(np.asarray(self.values).sum()) < 0:
            raise ValueError


class Batch:
    """A class that is not a dataclass."""

    def __init__(self, images: Any, labels: Any, name: str) -> None:
        self.images, self.labels, self.name = images, labels, name


fe.register_container(Batch, lambda b: ([b.images, b.labels], b.name), lambda name, parts: Batch(*parts, name))


def applied(layer: Layer, x: Any) -> Any:
    return (x @ layer.weight + layer.bias) * layer.scale


def test_dataclasses_are_taken_apart() -> None:
    traced = fe.graph(applied)
    x = fe.ones((2, 3))
    for weight, scale in ((1.0, 2.0), (3.0, 0.5)):
        layer = Layer(fe.full((3, 4), weight), np.ones(4, np.float32), scale)
        np.testing.assert_array_equal(np.asarray(traced(layer, x)), np.full((2, 4), (3 * weight + 1) * scale))
    assert traced.cache_info().misses == 1  # new arrays and numbers need no new trace
    traced(Layer(fe.ones((3, 4)), fe.ones((4,)), 2), x)
    assert traced.cache_info().misses == 2  # an int is another kind of number


def test_dataclasses_nest_and_are_returned() -> None:
    @fe.graph
    def step(state: dict[str, Layer], rate: float) -> dict[str, Layer]:
        return {name: dataclasses.replace(x, weight=x.weight - x.bias * rate) for name, x in state.items()}

    ones, zeros = (lambda n: fe.asarray(np.ones(n, np.float32))), (lambda n: fe.asarray(np.zeros(n, np.float32)))
    state = {"first": Layer(ones(2), ones(2)), "second": Layer(zeros(3), ones(3), 7.0)}
    for _ in range(3):
        state = step(state, 0.5)
    assert type(state["second"]) is Layer
    assert (state["first"].weight.tolist(), state["second"].weight.tolist()) == ([-0.5] * 2, [-1.5] * 3)
    assert (state["second"].scale, type(state["second"].scale)) == (7.0, float)
    assert step.cache_info().misses == 1


def test_numbers_of_frozen_dataclasses_are_part_of_the_signature() -> None:
    tail = fe.graph(lambda x, settings: x[-settings.size :] + settings.offset)
    x = fe.arange(5)
    assert tail(x, Settings(2, fe.ones((), dtype="int64"))).tolist() == [4, 5]
    assert tail(x, Settings(3, fe.zeros((), dtype="int64"))).tolist() == [2, 3, 4]
    assert tail.cache_info().misses == 2
    tail(x, Settings(3, fe.ones((), dtype="int64")))
    assert tail.cache_info().misses == 2


def test_the_constructor_of_a_dataclass_is_not_called() -> None:
    double = fe.graph(lambda checked: Checked.__new__(Checked) if checked is None else checked)
    assert double(Checked(fe.ones(2))).values.tolist() == [1, 1]


def test_registered_classes_are_taken_apart() -> None:
    traced = fe.graph(lambda batch: Batch(batch.images * 2, batch.labels + 1, batch.name + "!"))
    for value in (1.0, 2.0):
        made = traced(Batch(fe.full((2,), value), fe.arange(2), "train"))
        assert (type(made), made.images.tolist(), made.labels.tolist()) == (Batch, [2 * value] * 2, [1, 2])
        assert made.name == "train!"
    assert traced.cache_info().misses == 1
    traced(Batch(fe.ones((2,)), fe.arange(2), "test"))
    assert traced.cache_info().misses == 2


def test_messages_name_the_field() -> None:
    donating = fe.graph(applied, donate=0)
    layer = Layer(fe.ones((3, 4)), fe.ones(4))
    donating(layer, fe.ones((2, 3)))
    with pytest.raises(ValueError, match=r"applied\(\): argument layer\.weight: .* was donated"):
        donating(layer, fe.ones((2, 3)))
    with pytest.raises(fe.TracingError, match=r"'settings\.scale' is a Python number argument"):
        fe.graph(lambda settings: range(settings.scale))(Layer(1, 2, 3))


def test_an_assigned_array_in_a_returned_dataclass_is_not_warned_about() -> None:
    def function(layer: Layer) -> Layer:
        layer.weight[0] = 5
        return layer

    assert fe.graph(function)(Layer(fe.zeros(2), fe.zeros(1))).weight.tolist() == [5, 0]


@each(
    ("call", "kind", "message"),
    [
        (lambda: FE.register_container(list, len, len), ValueError, "takes a class that ferrule.graph does not know"),
        (lambda: FE.register_container(3, len, len), ValueError, "takes a class"),
        (lambda: FE.register_container(Path, 3, len), ValueError, "flatten and unflatten are functions"),
        (lambda: FE.graph(len, static_argnames="n"), ValueError, "static_argnames: the function has no argument 'n'"),
        (lambda: FE.graph(applied, static_argnums=2), ValueError, "static_argnums: there is no argument 2"),
        (lambda: FE.graph(applied, static_argnums=-1), ValueError, "static_argnums is places of arguments, from 0 on"),
        (lambda: FE.graph(applied, static_argnames=3), ValueError, "static_argnames is names of arguments, not 3"),
        (
            lambda: FE.graph(applied, static_argnames="x")(None, FE.ones(2)),
            fe.TracingError,
            "argument 'x' is static, and is a ferrule.array.array.Array, which may hold arrays",
        ),
    ],
)
def test_wrong_options_are_named(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        call()


def test_flatten_must_return_parts_and_the_rest() -> None:
    class Odd:
        pass

    fe.register_container(Odd, lambda odd: [1], lambda rest, parts: Odd())  # type: ignore[arg-type, return-value]
    with pytest.raises(fe.TracingError, match=r"flatten of .*Odd returns \(parts, rest\), not list"):
        fe.graph(lambda x: x)(Odd())


# ---- static arguments


def tail_of(x: Any, n: int, *, axis: int = 0) -> Any:
    return x[-n:].sum(axis=axis)


@pytest.mark.parametrize(
    "options", [{"static_argnums": (1,), "static_argnames": "axis"}, {"static_argnames": ["n", "axis"]}]
)
def test_static_arguments_may_be_shapes_and_axes(options: Any) -> None:
    traced = fe.graph(tail_of, **options)
    x = np.arange(12.0).reshape(4, 3)
    for n, axis in ((2, 0), (3, 1), (2, 0), (np.int64(2), 0)):
        np.testing.assert_array_equal(np.asarray(traced(fe.asarray(x), n, axis=axis)), x[-n:].sum(axis=axis))
        np.testing.assert_array_equal(np.asarray(traced(fe.asarray(x), n=n, axis=axis)), x[-n:].sum(axis=axis))
    assert traced.cache_info().misses == 4  # two values, each by position and by name


def test_an_error_names_the_argument_to_declare() -> None:
    with pytest.raises(fe.TracingError, match=r"'n' is a Python number .*ferrule.graph\(static_argnames='n'\)"):
        fe.graph(lambda x, n: fe.ones((n,)))(fe.ones(2), 3)
    with pytest.raises(fe.TracingError, match=r"'axis' is a .*static_argnames='axis'"):
        fe.graph(lambda x, axis: x.sum(axis=axis))(fe.ones(2), 0)


def test_static_arguments_survive_pickling() -> None:
    traced = pickle.loads(pickle.dumps(fe.graph(tail_of, static_argnames=("n", "axis"))))
    assert traced(fe.arange(5), 2).item() == 7


# ---- arrays that a function closes over

WEIGHT = fe.ones(2)
HOST = np.ones(2)


def scaled_by_global(x: Any) -> Any:
    return x * WEIGHT + HOST


def test_a_rebound_global_array_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = fe.graph(lambda x: scaled_by_global(x))
    assert traced(fe.ones(2)).tolist() == [2, 2]
    monkeypatch.setitem(globals(), "WEIGHT", fe.full((2,), 5.0))
    assert traced(fe.ones(2)).tolist() == [6, 6]
    monkeypatch.setitem(globals(), "HOST", np.zeros(2))
    assert traced(fe.ones(2)).tolist() == [5, 5]
    assert traced(fe.ones(2)).tolist() == [5, 5]
    assert traced.cache_info().misses == 3


def test_a_rebound_array_of_a_closure_is_seen() -> None:
    w = fe.ones(2)

    @fe.graph
    def traced(x: Any) -> Any:
        return x * w

    assert traced(fe.ones(2)).tolist() == [1, 1]
    w = fe.full((2,), 3.0)
    assert traced(fe.ones(2)).tolist() == [3, 3]
    w[0] = 7  # the same object has another value
    assert traced(fe.ones(2)).tolist() == [7, 3]
    assert traced(fe.ones(2)).tolist() == [7, 3]
    assert traced.cache_info().misses == 3
    outer = fe.graph(lambda x: traced(x) + 1)
    assert outer(fe.ones(2)).tolist() == [8, 4]
    w = fe.zeros(2)
    assert outer(fe.ones(2)).tolist() == [1, 1]


RATE: Any = 3


def scaled_by_rate(x: Any) -> Any:
    return x * RATE


def test_a_rebound_number_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = fe.graph(lambda x: scaled_by_rate(x))
    assert traced(fe.ones(2)).tolist() == [3, 3]
    for rate in (4, 4.5, np.float32(2), True, float("nan")):
        monkeypatch.setitem(globals(), "RATE", rate)
        np.testing.assert_array_equal(np.asarray(traced(fe.ones(2))), np.full(2, float(rate)))
        assert traced(fe.ones(2)).dtype == "float32"
    misses = traced.cache_info().misses
    traced(fe.ones(2))
    assert traced.cache_info().misses == misses

    kind = "first"

    @fe.graph
    def chosen(x: Any) -> Any:
        return x + 1 if kind == "first" else x - 1

    assert chosen(fe.ones(1)).tolist() == [2]
    kind = "second"
    assert chosen(fe.ones(1)).tolist() == [0]


def test_an_array_that_is_deleted_is_seen() -> None:
    w = fe.ones(2)

    @fe.graph
    def traced(x: Any) -> Any:
        return x * w  # noqa: F821

    traced(fe.ones(2))
    del w
    with pytest.raises(NameError):
        traced(fe.ones(2))


TYPED = """
import ferrule as fe
from ferrule import Array

@fe.graph
def plain(x: Array, n: int) -> tuple[Array, int]:
    return x, n

@fe.graph(static_argnames="n")
def static(x: Array, n: int = 3) -> Array:
    return x

reveal_type(plain(fe.ones(2), 3))
reveal_type(static(fe.ones(2)))
reveal_type(fe.graph(lambda x: 3, fuse=False)(fe.ones(1)))
plain(fe.ones(2))
static(fe.ones(2), "3")
"""


def test_type_checkers_see_the_functions_own_signature(check_types: Callable[[str], list[str]]) -> None:
    lines = check_types(TYPED)
    assert [line for line in lines if "note: Revealed" in line] == [
        '13: note: Revealed type is "tuple[ferrule.array.array.Array, int]"',
        '14: note: Revealed type is "ferrule.array.array.Array"',
        '15: note: Revealed type is "int"',
    ], lines
    assert [line.split(" error:")[0] for line in lines if "error" in line] == ["16:", "17:"]
