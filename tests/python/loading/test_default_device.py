"""The default device: where arrays are made without `device=`."""

from __future__ import annotations

from collections.abc import Iterator

import ferrule as fe
import numpy as np
import pytest


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    yield
    fe.set_default_device(None)


def test_the_best_device_is_the_default_until_another_is_set(null_device: fe.Device) -> None:
    best = fe.best_device()
    assert fe.default_device() == best
    fe.set_default_device("null")
    assert fe.default_device() == null_device == fe.__array_namespace_info__().default_device()
    assert fe.best_device() == best
    fe.set_default_device(None)
    assert fe.default_device() == best


def test_everything_that_makes_arrays_uses_the_default_device(null_device: fe.Device) -> None:
    fe.set_default_device(null_device)
    made = [
        fe.zeros(3),
        fe.arange(3),
        fe.asarray([1, 2]),
        fe.asarray(np.ones(2)),
        fe.add(np.ones(2), 1),
        fe.linspace(0, 1, 3),
        fe.logical_and(True, False),
        fe.random.uniform(fe.random.key(1), (2,)),
    ]
    assert {str(x.device) for x in made} == {str(null_device)}
    assert fe.Graph().device == null_device
    x = fe.ones(3, device="cpu")
    assert (x + 1).device == (1 / x).device == x.device  # numbers are where the arrays beside them are
    x[1:] = [5, 6]
    assert fe.isin(x, [5]).tolist() == [False, True, False]


@pytest.mark.parametrize("wrong", [0, "", "cpuu", 1.5, ["cpu"], "cpu\0"])
def test_only_a_device_can_be_the_default(wrong: object) -> None:
    before = fe.default_device()
    with pytest.raises(fe.Error):
        fe.set_default_device(wrong)  # type: ignore[arg-type]
    assert fe.default_device() == before


def test_unloading_the_backend_of_the_default_device_is_told(null_device: fe.Device) -> None:
    fe.set_default_device(null_device)
    fe.unload("null")
    with pytest.raises(fe.Error, match="null"):
        fe.eval(fe.zeros(3))
    fe.set_default_device(None)
    assert fe.zeros(3).tolist() == [0.0, 0.0, 0.0]
