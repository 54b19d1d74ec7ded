"""Copies and pickles of traced functions contain their function and options, without the graphs."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import ferrule as fe
import pytest


@fe.graph
def doubled(x: fe.Array) -> fe.Array:
    return x * 2


@fe.graph(cache_size=3, fuse=False)
def tripled(x: fe.Array) -> fe.Array:
    return x * 3


def plain(x: fe.Array) -> fe.Array:
    return x + 1


class Model:
    def __init__(self, w: float) -> None:
        self.w = fe.full((2,), w)
        self.run = fe.graph(self._run, cache_size=5, device="cpu", fallback="allow")

    def _run(self, x: fe.Array) -> fe.Array:
        return x * self.w

    @fe.graph
    def decorated(self: Any) -> Any:  # never called
        return self


def through_pickle(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


COPIES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, through_pickle]


@pytest.mark.parametrize("copied", COPIES)
def test_decorated_function_keeps_its_identity(copied: Callable[[Any], Any]) -> None:
    assert copied(doubled) is doubled
    assert copied([tripled])[0] is tripled
    assert copied(Model.decorated) is Model.decorated


@pytest.mark.parametrize("copied", COPIES)
def test_copy_has_the_same_function_and_options_and_its_own_graphs(copied: Callable[[Any], Any]) -> None:
    f = fe.graph(plain, cache_size=3, device=fe.device("cpu"))
    f(fe.ones(2))
    other = copied(f)
    assert other is not f
    assert other.cache_info() == (0, 0, 3, 0)
    assert other(fe.ones(2)).tolist() == [2, 2]
    assert f.cache_info().currsize == 1
    assert other.__name__ == "plain"


def test_a_lambda_is_copied_but_not_pickled() -> None:
    f = fe.graph(lambda x: x + 1)
    assert copy.deepcopy(f)(fe.ones(1)).tolist() == [2]
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(f)


@pytest.mark.parametrize("copied", [copy.deepcopy, through_pickle])
def test_a_copied_model_runs_its_own_method(copied: Callable[[Any], Any]) -> None:
    model = Model(2.0)
    other = copied(model)
    other.w = fe.full((2,), 5.0)
    assert other.run(fe.ones(2)).tolist() == [5, 5]
    assert model.run(fe.ones(2)).tolist() == [2, 2]
    assert other.run.cache_info().maxsize == 5
    run = copied(model.run)
    assert run(fe.ones(2)).tolist() == [2, 2]
    assert run._function.__self__.run is run
