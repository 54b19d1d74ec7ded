"""Arguments of traced functions: objects that may contain changing arrays are refused."""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import json
import logging
import math
import re
import types
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any, ClassVar, Generic, NamedTuple, TypeVar

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

T = TypeVar("T")
WEIGHTS = np.full(2, 2.0)
factor = 2
TWO = np.ones(2)


class Model:
    def __init__(self, w: float) -> None:
        self.w = fe.full((3,), w)

    def forward(self, x: fe.Array) -> fe.Array:
        return x * self.w

    @fe.graph
    def decorated(self, x: fe.Array) -> fe.Array:
        return x * self.w


class Settings:
    __slots__ = ("rate",)


@dataclasses.dataclass
class Changing:
    rate: float = 2.0


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: float = 2.0
    names: tuple[str, ...] = ("a", "b")
    inner: Any = None


class Mode(enum.Enum):
    UP = 1
    DOWN = -1


class Listed(enum.Enum):
    WEIGHTS = [np.ones(2)]  # noqa: RUF012

    @property
    def weight(self) -> Any:
        return self.value[0]


class Weights:
    w = np.ones(2)


class MoreWeights(Weights):
    pass


class Scaled:
    def scale(self, x: fe.Array, w: Any = TWO) -> fe.Array:
        return x * w


class Called:
    def __init__(self, w: Any = TWO) -> None:
        self.w = w


@dataclasses.dataclass(frozen=True)
class FrozenWithClassArray:
    rate: float = 2.0
    w: ClassVar[Any] = np.ones(2)


def scaled(x: fe.Array, w: Any = TWO) -> fe.Array:
    return x * w


def scaled_by_keyword(x: fe.Array, *, w: Any = (TWO,)) -> fe.Array:
    return x * w[0]


def closing_over(w: Any) -> Callable[[fe.Array], fe.Array]:
    def f(x: fe.Array) -> fe.Array:
        return x * (w if isinstance(w, fe.Array) else w[0])

    return f


def reading_an_array(x: fe.Array) -> fe.Array:
    return x * WEIGHTS


def calling_one_that_does(x: fe.Array) -> fe.Array:
    return next(reading_an_array(part) for part in (x,))


def reading_a_number(x: fe.Array) -> fe.Array:
    return x * factor


def with_another_attribute() -> Changing:
    changing = Changing()
    changing.other = fe.ones(2)  # type: ignore[attr-defined]
    return changing


REFUSED: dict[str, Any] = {
    "model": Model(2),
    "slots": Settings(),
    "dataclass with another attribute": with_another_attribute(),
    "bound method": Model(2).forward,
    "method of an array": np.ones(2).sum,
    "partial of an array": functools.partial(fe.add, np.ones(2)),
    "module": types.ModuleType("weights"),
    "namespace": types.SimpleNamespace(w=np.ones(2)),
    "defaultdict": defaultdict(int),
    "set": {1, 2},
    "bytearray": bytearray(b"ab"),
    "generator": (k for k in range(3)),
    "random state": np.random.default_rng(1),
    "class with an array": Weights,
    "class whose base has an array": MoreWeights,
    "class whose method has an array": Scaled,
    "class whose constructor has an array": Called,
    "frozen dataclass whose class has an array": FrozenWithClassArray(),
    "bound method with a default": types.MethodType(scaled, Mode.UP),
    "function with a default": scaled,
    "function with a default of a keyword": scaled_by_keyword,
    "closure over an array": closing_over(fe.ones(2)),
    "closure over a list of arrays": closing_over([np.ones(2)]),
    "closure over a model": closing_over(Model(2)),
    "closure over a closure": closing_over([closing_over(fe.ones(2))]),
    "function of a global array": reading_an_array,
    "function of one of a global array": calling_one_that_does,
    "class whose method reads a global array": type("Layer", (), {"run": reading_an_array}),
    "partial of a closure": functools.partial(closing_over(fe.ones(2))),
    "member of an Enum": Listed.WEIGHTS,
    "Enum": Listed,
    "in a list": [1, Model(2)],
    "in a dict": {"layer": Model(2)},
}


@each("name", REFUSED)
def test_arguments_that_may_contain_arrays_are_refused(name: str) -> None:
    value = REFUSED[name]
    f = fe.graph(lambda x, thing: x + 1)
    for call in (lambda: f(fe.ones(2), value), lambda: f(fe.ones(2), thing=value), lambda: f.trace(fe.ones(2), value)):
        with pytest.raises(fe.TracingError, match=r"argument 'thing' (is|holds) a .*Pass its arrays"):
            call()
    assert f.cache_info().currsize == 0


def test_the_self_of_a_decorated_method_is_refused_with_advice() -> None:
    with pytest.raises(fe.TracingError, match=r"'self' is a .*Model.*self\.run = ferrule\.graph\(self\._run\)"):
        Model(2).decorated(fe.ones(3))


def test_another_librarys_array_is_refused_with_advice() -> None:
    class Tensor:
        def __dlpack__(self) -> object: ...

    for argument in (Tensor(), [Tensor()]):
        with pytest.raises(fe.TracingError, match=r"'x' (is|holds) a .*Tensor; .*use ferrule\.from_dlpack\(x\)"):
            fe.graph(relu)(argument)


def test_replaced_closed_over_array_is_used() -> None:
    f = fe.graph(lambda x, weights: x * weights["w"])
    weights = {"w": fe.full((3,), 2.0)}
    assert f(fe.ones(3), weights).tolist() == [2, 2, 2]
    weights["w"] = fe.full((3,), 5.0)
    assert f(fe.ones(3), weights).tolist() == [5, 5, 5]


def test_state_of_function_and_class_arguments_is_part_of_the_signature() -> None:
    factors = [2.0]
    by = closing_over(factors)

    class Rate:
        value = 2.0

    f = fe.graph(lambda x, by, rate: by(x) * rate.value)
    assert f(fe.ones(1), by, Rate).tolist() == [4]
    factors[0] = 5.0
    assert f(fe.ones(1), by, Rate).tolist() == [10]
    Rate.value = 3.0
    assert f(fe.ones(1), by, Rate).tolist() == [15]
    assert f.cache_info().currsize == 3


def test_a_global_number_that_a_function_reads_is_a_part_of_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    f = fe.graph(lambda x, by: by(x))
    assert f(fe.ones(1), reading_a_number).tolist() == [2]
    monkeypatch.setitem(globals(), "factor", 3)
    assert f(fe.ones(1), reading_a_number).tolist() == [3]


def test_globals_of_installed_packages_are_not_part_of_the_signature() -> None:
    """json.dumps uses an object of the json package."""
    f = fe.graph(lambda x, name, write: x + len(write(name)))
    assert f(fe.ones(1), "ab", json.dumps).tolist() == [5]


def test_a_traced_function_may_close_over_arrays() -> None:
    f = fe.graph(lambda x, layer: layer(x))
    assert f(fe.ones(2), fe.graph(closing_over(fe.full((2,), 3.0)))).tolist() == [3, 3]


class Recursive:
    def again(self, depth: int) -> int:
        return depth and super().__sizeof__() and Recursive().again(depth - 1)

    @staticmethod
    def static(x: int = 1) -> int:
        return x

    @classmethod
    def made(cls) -> Recursive:
        return cls()

    @property
    def name(self) -> str:
        return __name__

    @functools.cached_property
    def log(self) -> logging.Logger:
        return logging.getLogger()


class Point(NamedTuple):
    x: int
    y: int = 1


class Shape(abc.ABC, Generic[T]):
    __slots__ = ("sides",)
    pattern = re.compile("a")

    @abc.abstractmethod
    def area(self) -> float: ...


def looking_into_a_module() -> Callable[..., Any]:
    import math as mathematics

    def f(x: int) -> float:
        return f(x - 1) if x else mathematics.sin(x)

    return f


def relu(x: fe.Array) -> fe.Array:
    return fe.maximum(x, 0)


STATIC: dict[str, list[Any]] = {  # all are different static values
    "constants": [None, ..., True, False, "a", b"a", "b"],
    "complex": [1j, complex(0.0, -0.0), complex(0.0, 0.0), complex(-0.0, 0.0)],
    "big ints": [2**70, -(2**70)],
    "dtypes": [np.dtype("f4"), fe.int32, np.float32, int, bool],
    "functions": [relu, fe.relu, math.sin, np.sin, str.upper, fe.graph(relu)],
    "closures": [closing_over((1, 2)), closing_over([3]), looking_into_a_module(), functools.wraps(relu)(lambda x: x)],
    "classes": [Recursive, Point, Shape, Frozen, Changing, Mode, fe.Array, np.ndarray, fe.bfloat16.type, OrderedDict],
    "partials": [
        functools.partial(relu),
        functools.partial(fe.softmax, axis=0),
        functools.partial(fe.softmax, axis=-1),
    ],
    "enums": list(Mode),
    "slices": [slice(None), slice(1), slice(1, None), slice(True), slice(1.0), range(3), range(0, 3, 2)],
    "frozensets": [frozenset({1}), frozenset({True}), frozenset({1.0}), frozenset({(1, "a")})],
    "dataclasses": [Frozen(), Frozen(3.0), Frozen(3), Frozen(inner=Frozen()), Frozen(names=("a",))],
    "keys": [{1: 2}, {True: 2}, {1.0: 2}, OrderedDict({1: 2}), OrderedDict({1: 2, 2: 3}), OrderedDict({2: 3, 1: 2})],
    "classmethods": [int.from_bytes, bytes.fromhex],
}


@each("name", STATIC)
def test_immutable_arguments_are_part_of_the_signature(name: str) -> None:
    seen: list[Any] = []

    @fe.graph
    def f(x: fe.Array, thing: Any) -> fe.Array:
        seen.append(thing)
        return x + len(seen)

    x = fe.zeros(1)
    for _ in range(2):
        assert [f(x, value).item() for value in STATIC[name]] == list(range(1, len(STATIC[name]) + 1))
    for value, given in zip(STATIC[name], seen, strict=True):
        assert type(given) is type(value)
        if name != "keys":
            assert given is value


def test_equal_new_values_have_the_same_signature() -> None:
    f = fe.graph(lambda x, thing: x + 1)
    for _ in range(2):
        f(fe.zeros(1), Frozen(4.0, ("x",)))
        f(fe.zeros(1), functools.partial(fe.softmax, axis=0))
        f(fe.zeros(1), slice(1, 2))
        f(fe.zeros(1), fe.device("cpu"))
        f(fe.zeros(1), str(b"text", "ascii"))
    assert f.cache_info().currsize == 5


def test_slices_and_functions_are_accepted_as_arguments() -> None:
    f = fe.graph(lambda x, part, activation: activation(x[part]))
    assert f(np.array([-1, 2, -3], "f4"), slice(1, None), relu).tolist() == [2, 0]


def test_named_tuple_and_ordered_dict_keep_their_types() -> None:
    f = fe.graph(lambda weights: weights["b"] if isinstance(weights, OrderedDict) else None)
    assert f(OrderedDict(a=fe.ones(1), b=fe.zeros(1))).tolist() == [0]


class Special(fe.Array):
    pass


def test_an_array_of_a_subclass_is_an_array() -> None:
    special = object.__new__(Special)
    f = fe.graph(lambda x: x + 1)
    for value in (1.0, 2.0):
        special._handle = fe.full((2,), value)._handle
        assert f(special).tolist() == [value + 1] * 2
