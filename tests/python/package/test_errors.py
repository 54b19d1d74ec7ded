"""The exceptions of ferrule as they are raised: pickles and copies of them are the same errors."""

from __future__ import annotations

import copy
import importlib
import inspect
import pickle
import pkgutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest
from ferrule.errors import error_of

FE: Any = fe  # mypy does not check its arguments


def exceed_the_memory_limit() -> None:
    device = fe.device("cpu")
    fe.trim()  # memory that other tests have freed is not counted
    device.set_memory_limit(1)
    try:
        fe.eval(fe.zeros(100_000, device=device) + 1)
    finally:
        device.set_memory_limit(None)


def write_nowhere() -> None:
    with fe.trace("no/such/folder/run.json"):
        fe.eval(fe.ones(3))


def by_code(name: str) -> Callable[[], None]:
    """Raises the exception of a code of the C API, which only faulty devices and modules return."""
    kinds = [type(error_of(code, "")) for code in range(11)]

    def fail() -> None:
        raise error_of([kind.__name__ for kind in kinds].index(name), "softmax: no answer")

    return fail


RAISED: dict[str, Callable[[], object]] = {
    "AbiMismatchError": by_code("AbiMismatchError"),
    "CancelledError": by_code("CancelledError"),
    "DTypeError": lambda: fe.zeros(3, dtype="flaot32"),
    "DeviceLostError": by_code("DeviceLostError"),
    "InternalError": by_code("InternalError"),
    "InvalidArgumentError": lambda: fe.reshape(fe.arange(6), (4, 2)),
    "IoError": write_nowhere,
    "LoadError": lambda: fe.load_all(require="abacus"),
    "NotFoundError": lambda: fe.device("abacus"),
    "NumberOverflowError": lambda: fe.asarray(np.uint8([1, 2])) + 300,
    "OutOfMemoryError": exceed_the_memory_limit,
    "OutOfRangeError": lambda: fe.arange(3)[3],
    "TimeoutError_": by_code("TimeoutError_"),
    "TracingError": lambda: fe.graph(lambda x: x if x.sum() > 0 else x * 0)(fe.ones(3)),
    "UnsupportedError": lambda: FE.ones(3).to_device("cpu", stream=1),
}

COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    **{
        f"pickle {protocol}": lambda error, protocol=protocol: pickle.loads(pickle.dumps(error, protocol))
        for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
    },
}


def all_kinds() -> set[str]:
    """The public names of all subclasses of fe.Error in the package."""
    for module in pkgutil.walk_packages(fe.__path__, "ferrule."):
        if module.name.startswith(("ferrule.loading.", "ferrule.functions.", "ferrule.graphs.", "ferrule.io.")):
            importlib.import_module(module.name)

    def below(kind: type) -> set[type]:
        return {kind}.union(*map(below, kind.__subclasses__()))

    kinds = {kind.__name__ for kind in below(fe.Error) if kind.__module__.startswith("ferrule.")}
    return {name for name in kinds if not name.startswith("_")}


def test_every_kind_of_error_is_tested() -> None:
    assert all_kinds() == {*RAISED, "Error"}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", RAISED)
def test_a_copy_of_a_raised_error_is_the_same_error(name: str, way: str) -> None:
    with pytest.raises(fe.Error) as caught:
        RAISED[name]()
    error = caught.value
    error.add_note("seen in a test")
    assert type(error).__name__ == name
    copied = COPIES[way](error)
    assert (type(copied), str(copied), copied.args, copied.code) == (type(error), str(error), error.args, error.code)
    assert copied.__notes__ == ["seen in a test"]
    if isinstance(error, fe.LoadError):
        assert copied.report.to_dict() == error.report.to_dict()
        assert str(copied.report) == str(error.report)


def test_the_error_of_a_worker_reaches_the_process_that_waits(tmp_path: Path, run_python: Any) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        inspect.cleandoc("""
        import multiprocessing
        import ferrule as fe

        def load(name):
            fe.load_all(require=name)

        if __name__ == "__main__":
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                try:
                    pool.apply_async(load, ("abacus",)).get(60)
                except fe.LoadError as error:
                    print(type(error.report).__name__)
        """)
    )
    assert run_python(str(program), mode="file").stdout == "LoadReport\n"
