"""A traced function is traced again, with one warning, when a value that it reads from outside changes."""

from __future__ import annotations

import datetime
import functools
import os
import random
import secrets
import time
import uuid
import warnings
from collections.abc import Callable
from time import perf_counter
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each

X = np.ones(2, "float32")


class Layer:
    scale = 1.0

    def __init__(self, w: float) -> None:
        self.w = fe.full((2,), w)


class Slotted:
    __slots__ = ("rate",)

    def __init__(self) -> None:
        self.rate = 2.0


class Model:
    def __init__(self) -> None:
        self.state: dict[str, Any] = {"k": fe.full((2,), 2.0), "n": 3, "by": {"inner": 1.0}}
        self.layers: Any = [Layer(1.0), Layer(2.0)]
        self.rates = [1.0, 2.0]
        self.pair = (Layer(5.0), 7)
        self.slots = Slotted()
        self.host = np.ones(2, "float32")
        self.shown = np.broadcast_to(self.host, (2, 2))  # read-only
        self.large = np.ones((40, 50), "float32").T
        self.bias: Any = None
        self.unused = 0

    def item(self, x: Any) -> Any:
        return x * self.state["k"] * self.state["n"] * self.state["by"]["inner"]

    def loop(self, x: Any) -> Any:
        for layer in self.layers:
            x = x + layer.w
        return x

    def numbers(self, x: Any) -> Any:
        return x * sum(self.rates)

    def attribute(self, x: Any) -> Any:
        return self.helper(x) * self.slots.rate * Layer.scale + self.pair[0].w

    def helper(self, x: Any) -> Any:
        return x + self.layers[1].w

    def memory(self, x: Any) -> Any:
        return x * self.host + self.large[0, 0]

    def read_only(self, x: Any) -> Any:
        return x * self.shown

    def optional(self, x: Any) -> Any:
        return x if self.bias is None else x + self.bias


def set_item(key: str, value: Any) -> Callable[[Model], None]:
    return lambda model: model.state.__setitem__(key, value)


def scale_all(model: Model) -> None:
    model.large *= 3


CHANGES: dict[str, tuple[str, Callable[[Model], Any], str]] = {
    "array in a dict": ("item", set_item("k", fe.full((2,), 5.0)), "self.state['k']"),
    "number in a dict": ("item", set_item("n", 4), "self.state['n']"),
    "dict in a dict": ("item", set_item("by", {"inner": 2.0}), "self.state['by']"),
    "item of a list": ("loop", lambda model: model.layers.__setitem__(0, Layer(9.0)), "self.layers[0]"),
    "length of a list": ("loop", lambda model: model.layers.append(Layer(9.0)), "len(self.layers)"),
    "attribute in a loop": ("loop", lambda model: setattr(model.layers[1], "w", fe.zeros(2)), "self.layers[1].w"),
    "written array": ("loop", lambda model: model.layers[1].w.__setitem__(0, 7), "self.layers[1].w"),
    "number in a list": ("numbers", lambda model: model.rates.__setitem__(1, 9.0), "self.rates[1]"),
    "attribute": ("attribute", lambda model: setattr(model, "layers", [None, Layer(3.0)]), "self.layers"),
    "slot": ("attribute", lambda model: setattr(model.slots, "rate", 4.0), "self.slots.rate"),
    "array in a tuple": ("attribute", lambda model: setattr(model.pair[0], "w", fe.ones(2)), "self.pair[0].w"),
    "NumPy memory": ("memory", lambda model: model.host.__setitem__(1, 4), "self.host"),
    "large NumPy memory": ("memory", scale_all, "self.large"),
    "read-only NumPy memory": ("read_only", lambda model: model.host.__setitem__(1, 4), "self.shown"),
    "None": ("optional", lambda model: setattr(model, "bias", 3.0), "self.bias"),
}


@each("name", CHANGES)
def test_changed_contents_are_used_after_one_warning(name: str) -> None:
    method, change, label = CHANGES[name]
    model = Model()
    traced = fe.graph(getattr(model, method))
    traced(X)
    model.unused += 1
    traced(X)
    assert traced.cache_info().misses == 1
    change(model)
    with pytest.warns(UserWarning, match="has changed since the function was traced") as warned:
        got = traced(X)
    assert label in str(warned[0].message)
    assert warned[0].filename == __file__
    np.testing.assert_array_equal(np.asarray(got), np.asarray(getattr(model, method)(fe.asarray(X))))
    traced(X)
    assert traced.cache_info().misses == 2
    model.state["n"] = model.rates[0] = model.slots.rate = 11
    model.host[0] = 12
    traced(X)  # no second warning


@each(
    ("before", "after"),
    [
        (None, 3.0),
        (fe.ones(2), None),
        (fe.exp, fe.sin),
        (lambda x: x + 1, lambda x: x + 2),
        (fe.graph(lambda x: x + 1), fe.graph(lambda x: x + 2)),
        (fe.float32, fe.float64),
    ],
)
def test_what_a_name_refers_to_now_is_used(before: Any, after: Any) -> None:
    value = before

    def reads(x: Any) -> Any:
        if isinstance(value, np.dtype):
            return fe.astype(x, value)
        return value(x) if callable(value) else x if value is None else x + value

    traced = fe.graph(reads)
    for now in (before, after, before):
        value = now
        got, wanted = np.asarray(traced(X)), np.asarray(reads(fe.asarray(X)))
        np.testing.assert_array_equal(got, wanted)
        assert got.dtype == wanted.dtype


def test_random_numbers_of_a_numpy_module_that_is_not_imported_yet_give_a_warning(run_python: Any) -> None:
    run_python("""
import warnings
import ferrule as fe, numpy as np
assert "random" not in vars(np)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    fe.graph(lambda x: x + np.random.rand())(fe.zeros(1))
assert "np.random.rand()" in str(caught[0].message)
""")


def test_changed_class_attribute_and_global_dict_are_used(monkeypatch: pytest.MonkeyPatch) -> None:
    traced = fe.graph(Model().attribute)
    traced(X)
    monkeypatch.setattr(Layer, "scale", 2.0)
    with pytest.warns(UserWarning, match=r"Layer\.scale"):
        assert traced(X).tolist() == [17, 17]


def test_a_function_that_counts_its_traces_is_traced_once() -> None:
    counts = {"n": 0}
    calls: list[int] = []

    @fe.graph
    def traced(x: Any) -> Any:
        counts["n"] += 1
        calls.append(len(calls))
        return x + counts["n"]

    for _ in range(3):
        assert traced(X).tolist() == [2, 2]
    assert (counts["n"], calls) == (1, [0])


def test_an_attribute_that_is_assigned_to_in_the_graph_keeps_its_value() -> None:
    layer = Layer(1.0)

    def added(x: Any) -> Any:
        layer.w = layer.w + x
        return layer.w

    with pytest.warns(UserWarning, match=r"layer\.w was assigned to inside the graph"):
        assert fe.graph(added)(X).tolist() == [2, 2]
    assert layer.w.tolist() == [1, 1]


def scaled(x: Any, w: Any) -> Any:
    return x * w


def first_scaled(x: Any, c: Any) -> Any:
    return x * c["k"][0]


def multiply_in_place(w: Any) -> None:
    w *= 5


def with_keyword_default(w: Any) -> Callable[[Any], Any]:
    return lambda x, *, w=w: x * w


def of_a_helper(w: Any) -> Callable[[Any], Any]:
    def helper(x: Any, w: Any = w) -> Any:
        return x * w

    return lambda x: helper(x) + 0


def of_two_partials(w: Any) -> Callable[[Any], Any]:
    fixed, changing = functools.partial(scaled, w=0.0), functools.partial(scaled, w=w)
    return lambda x: fixed(x) + changing(x)


def of_a_method(w: Any) -> Callable[[Any], Any]:
    class Scale:
        def __call__(self, x: Any, w: Any = w) -> Any:
            return x * w

    return Scale().__call__


# How a function gets a value as a default: the function that makes it, the value, a change of the value by a factor of
# 5, and whether the contents change, of which there is a warning.
ARRAY = (lambda: fe.ones(2), multiply_in_place, False)
MEMORY = (lambda: np.ones(2, "float32"), multiply_in_place, True)
NUMBERS = (lambda: [1.0, 1.0], lambda c: c.__setitem__(0, 5.0), True)
Change = tuple[Callable[[Any], Callable[..., Any]], Callable[[], Any], Callable[[Any], None], bool]
DEFAULTS: dict[str, Change] = {
    "array": (lambda w: lambda x, w=w: x * w, *ARRAY),
    "NumPy memory": (lambda w: lambda x, w=w: x * w, *MEMORY),
    "number in a dict": (
        lambda c: lambda x, c=c: x * c["k"],
        lambda: {"k": 1.0},
        lambda c: c.__setitem__("k", 5.0),
        True,
    ),
    "numbers of a list": (lambda c: lambda x, c=c: x * c[0], *NUMBERS),
    "sum of a list": (lambda c: lambda x, c=c: x * (sum(c) - c[1]), *NUMBERS),
    "array of a list": (
        lambda c: lambda x, c=c: x * c[1],
        lambda: [fe.ones(2), fe.ones(2)],
        lambda c: c.__setitem__(1, fe.full((2,), 5.0)),
        True,
    ),
    "keyword-only": (with_keyword_default, *ARRAY),
    "of a function that is called": (of_a_helper, *ARRAY),
    "of a method": (of_a_method, *ARRAY),
    "in a partial": (lambda w: functools.partial(scaled, w=w), *ARRAY),
    "in the second partial of a function": (of_two_partials, *ARRAY),
    "by place in a partial": (lambda w: functools.partial(lambda w, x: x * w, w), *ARRAY),
    "dict in a partial": (
        lambda c: functools.partial(first_scaled, c=c),
        lambda: {"k": [1.0]},
        lambda c: c.__setitem__("k", [5.0]),
        True,
    ),
}


@each("name", DEFAULTS)
def test_a_changed_default_is_used(name: str) -> None:
    make, start, change, is_inside = DEFAULTS[name]
    value = start()
    traced = fe.graph(make(value))
    assert traced(X).tolist() == traced(X).tolist() == [1, 1]
    assert traced.cache_info().misses == 1
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        change(value)
        assert traced(X).tolist() == [5, 5]
    assert len(warned) == is_inside
    assert traced(X).tolist() == [5, 5]
    assert traced.cache_info().misses == 2


def test_another_default_is_used() -> None:
    def by_default(x: Any, n: float = 1.0, *, m: float = 1.0) -> Any:
        return x * n * m

    traced = fe.graph(by_default)
    assert traced(X).tolist() == [1, 1]
    by_default.__defaults__ = (2.0,)
    assert traced(X).tolist() == [2, 2]
    by_default.__kwdefaults__["m"] = 3.0
    assert traced(X).tolist() == [6, 6]


def test_a_default_in_place_of_which_an_argument_is_passed_causes_no_trace() -> None:
    w = fe.ones(2)
    traced = fe.graph(lambda x, w=w: x * w)
    traced(X, X)
    traced(X, w=X)
    multiply_in_place(w)
    traced(X, X)
    traced(X, w=X)
    assert traced.cache_info().misses == 2


GENERATOR = np.random.default_rng(0)
OLD_GENERATOR = np.random.RandomState(0)
CLOCKS: dict[str, Callable[[Any], Any]] = {
    "np.random.rand": lambda x: x * np.random.rand(),
    "np.random.default_rng": lambda x: x * np.random.default_rng().normal(),
    "GENERATOR.normal": lambda x: x * GENERATOR.normal(),
    "OLD_GENERATOR.rand": lambda x: x * OLD_GENERATOR.rand(),
    "generator.normal": lambda x, generator=GENERATOR: x * generator.normal(),
    "os.urandom": lambda x: x * os.urandom(1)[0],
    "secrets.randbelow": lambda x: x * secrets.randbelow(2),
    "uuid.uuid4": lambda x: x * (uuid.uuid4().int % 2),
    "random.random": lambda x: x * random.random(),
    "random.choice": lambda x: x * random.choice([1, 2]),
    "time.time": lambda x: x * time.time(),
    "time.localtime": lambda x: x * time.localtime().tm_sec,
    "time.gmtime": lambda x: x * time.gmtime().tm_sec,
    "time.strftime": lambda x: x * int(time.strftime("%S")),
    "perf_counter": lambda x: x * perf_counter(),
    "datetime.datetime.now": lambda x: x * datetime.datetime.now().second,
}


@each("name", CLOCKS)
def test_a_clock_or_a_generator_gives_one_warning_at_its_line(name: str) -> None:
    traced = fe.graph(CLOCKS[name])
    with pytest.warns(UserWarning, match=rf"calls {name}\(\) while it is traced") as warned:
        traced(X)
    assert (warned[0].filename, warned[0].lineno) == (__file__, CLOCKS[name].__code__.co_firstlineno)
    traced(X[:1])  # traced again, without another warning


ENVIRONMENT: dict[str, Callable[[Any], Any]] = {
    "item": lambda x: x * len(os.environ["HOME"]),
    "get": lambda x: x * len(os.environ.get("HOME", "")),
    "getenv": lambda x: x * len(os.getenv("HOME", "")),
}


@each("name", ENVIRONMENT)
def test_an_environment_variable_gives_one_warning(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home")
    traced = fe.graph(ENVIRONMENT[name])
    with pytest.warns(UserWarning, match="the function reads environment variables while it is traced") as warned:
        traced(X)
    assert (warned[0].filename, warned[0].lineno) == (__file__, ENVIRONMENT[name].__code__.co_firstlineno)
    traced(X[:1])  # traced again, without another warning


def test_seeded_generators_sleeping_and_given_times_give_no_warning() -> None:
    def steady(x: Any) -> Any:
        time.sleep(0)
        assert time.gmtime(0).tm_year == 1970
        assert time.strftime("%Y", time.gmtime(0)) == time.strftime("%Y", (1970, *[1] * 8))
        assert uuid.UUID(int=0) != uuid.uuid5(uuid.NAMESPACE_DNS, "ferrule")
        return x * np.random.default_rng(0).normal()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fe.graph(steady)(X)


def test_check_compares_each_call_with_an_eager_run() -> None:
    def structured(x: Any, n: int) -> Any:
        return {"mean": x.mean() * n, "all": [x + n, x > 0]}, n * 2, None

    traced = fe.graph(structured, check=True)
    assert traced(X, 3)[1] == 6
    assert traced(X * np.float32("nan"), 4)[1] == 8
    assert fe.graph(structured, check=True, static_argnames="n")(X, 3)[1] == 6

    counted: list[Any] = []

    def stateful(x: Any) -> Any:
        counted.append(x)
        return x * len(counted)

    with pytest.raises(fe.TracingError, match=r"the result, float32\(2,\), differs from that of an eager run"):
        fe.graph(stateful, check=True)(X)

    hidden = {"rate": 1.0}
    by_name = fe.graph(lambda x: x * vars(type("Of", (), hidden))["rate"], check=True)
    assert by_name(X).tolist() == [1, 1]


def test_check_leaves_the_donated_array_to_the_graph() -> None:
    traced = fe.graph(lambda cache, row: fe.update_slice(cache, row, (0, 0)), donate=0, check=True)
    got = traced(fe.zeros((2, 2)), fe.ones((1, 2)))
    assert got.tolist() == [[1, 1], [0, 0]]
