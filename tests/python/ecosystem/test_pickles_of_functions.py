"""Decorated functions of a script or a notebook, sent to processes that have no such module."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

pytest.importorskip("cloudpickle", reason="cloudpickle is not installed")

Run = Callable[..., CompletedProcess[str]]

SCRIPT = """
import copy, pickle, sys, cloudpickle, ferrule as fe

factor = fe.full((2,), 3.0)

@fe.graph
def scaled(x):
    return x * factor

@fe.graph(static_argnames="n", cache_size=5)
def power(x, n):
    return x if n == 0 else x * power(x, n - 1)

class Layer:
    @fe.graph
    def apply(x):
        return scaled(x) + 1

for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
    assert pickle.loads(pickle.dumps(scaled, protocol)) is scaled
assert copy.deepcopy([scaled])[0] is scaled
assert cloudpickle.loads(cloudpickle.dumps(scaled)) is not scaled
with open(sys.argv[1], "wb") as file:
    cloudpickle.dump([scaled, power, Layer], file)
"""


def test_functions_of_a_script_are_sent_by_value(run_python: Run, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT.replace("sys.argv[1]", repr(str(tmp_path / "sent"))))
    run_python(str(tmp_path / "script.py"), mode="file")
    run_python(
        "import pickle, ferrule as fe\n"
        "scaled, power, Layer = pickle.load(open('sent', 'rb'))\n"
        "assert scaled(fe.ones(2)).tolist() == [3, 3]\n"
        "assert power(fe.full((2,), 2.0), 3).tolist() == [16, 16]\n"
        "assert power.cache_info().maxsize == 5\n"
        "assert Layer.apply(fe.ones(2)).tolist() == [4, 4]\n"
    )


def test_functions_of_a_module_are_sent_by_name_unless_it_is_registered(tmp_path: Path) -> None:
    import cloudpickle

    (tmp_path / "my_layers.py").write_text("import ferrule as fe\n\n@fe.graph\ndef double(x): return x * 2\n")
    sys.path.insert(0, str(tmp_path))
    try:
        import my_layers  # type: ignore[import-not-found]

        assert cloudpickle.loads(cloudpickle.dumps(my_layers.double)) is my_layers.double
        assert pickle.loads(pickle.dumps(my_layers.double)) is my_layers.double
        assert copy.copy(my_layers.double) is my_layers.double
        cloudpickle.register_pickle_by_value(my_layers)
        assert cloudpickle.loads(cloudpickle.dumps(my_layers.double)) is not my_layers.double
    finally:
        sys.path.remove(str(tmp_path))
        sys.modules.pop("my_layers", None)
