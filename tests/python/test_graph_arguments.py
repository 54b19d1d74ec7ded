"""What a traced function may be called with: what may hold arrays that change is refused."""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import types
from collections import OrderedDict, defaultdict
from typing import Any

import ferrule as fe
import numpy as np
import pytest


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


REFUSED: dict[str, Any] = {
    "model": Model(2),
    "slots": Settings(),
    "dataclass": Changing(),
    "frozen dataclass with an array": Frozen(inner=fe.ones(2)),
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
    "in a list": [1, Model(2)],
    "in a dict": {"layer": Model(2)},
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_may_hold_arrays_is_refused(name: str) -> None:
    value = REFUSED[name]
    f = fe.graph(lambda x, thing: x + 1)
    for call in (lambda: f(fe.ones(2), value), lambda: f(fe.ones(2), thing=value), lambda: f.trace(fe.ones(2), value)):
        with pytest.raises(fe.TracingError, match=r"argument 'thing' (is|holds) a .*Pass its arrays"):
            call()
    assert f.cache_info().currsize == 0


def test_the_self_of_a_decorated_method_is_refused_with_advice() -> None:
    with pytest.raises(fe.TracingError, match=r"'self' is a .*Model.*self\.run = ferrule\.graph\(self\._run\)"):
        Model(2).decorated(fe.ones(3))


def test_a_replaced_array_is_never_the_old_one() -> None:
    f = fe.graph(lambda x, weights: x * weights["w"])
    weights = {"w": fe.full((3,), 2.0)}
    assert f(fe.ones(3), weights).tolist() == [2, 2, 2]
    weights["w"] = fe.full((3,), 5.0)
    assert f(fe.ones(3), weights).tolist() == [5, 5, 5]


def relu(x: fe.Array) -> fe.Array:
    return fe.maximum(x, 0)


STATIC: dict[str, list[Any]] = {  # all different to a function
    "constants": [None, ..., True, False, "a", b"a", "b"],
    "complex": [1j, complex(0.0, -0.0), complex(0.0, 0.0), complex(-0.0, 0.0)],
    "big ints": [2**70, -(2**70)],
    "dtypes": [np.dtype("f4"), fe.int32, np.float32, int, bool],
    "functions": [relu, fe.relu, math.sin, np.sin, str.upper, fe.graph(relu)],
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


@pytest.mark.parametrize("name", STATIC)
def test_what_cannot_change_is_a_part_of_the_signature(name: str) -> None:
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


def test_equal_values_made_anew_are_one_signature() -> None:
    f = fe.graph(lambda x, thing: x + 1)
    for _ in range(2):
        f(fe.zeros(1), Frozen(4.0, ("x",)))
        f(fe.zeros(1), functools.partial(fe.softmax, axis=0))
        f(fe.zeros(1), slice(1, 2))
        f(fe.zeros(1), fe.device("cpu"))
        f(fe.zeros(1), str(b"text", "ascii"))
    assert f.cache_info().currsize == 5


def test_a_slice_and_an_activation_are_used() -> None:
    f = fe.graph(lambda x, part, activation: activation(x[part]))
    assert f(np.array([-1, 2, -3], "f4"), slice(1, None), relu).tolist() == [2, 0]


def test_a_named_tuple_and_an_ordered_dict_arrive_as_they_are() -> None:
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
