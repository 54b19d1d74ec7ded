"""Damaged files of saved graphs raise an error of ferrule's that names the position; saving damages no file."""

from __future__ import annotations

import copy
import errno
import io
import json
import os
import random
import sys
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

from tests.python.each import each


def good_graph() -> Any:
    weights = np.arange(6, dtype="float32").reshape(2, 3)

    def function(x: fe.Array, s: float, k: int) -> Any:
        y = fe.concat([x * (s * 2.0), fe.asarray(weights)], axis=0)
        return fe.sum(y + 1, axis=0), x.T * (k + 1)

    return fe.graph(function).trace(fe.ones((2, 3)), 1.5, 2)


def contents(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    return json.loads(arrays.pop("steps").tobytes()), arrays


def file_of(described: Any, arrays: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    text = json.dumps(described).encode()
    np.savez(file, allow_pickle=False, steps=np.frombuffer(text, dtype=np.uint8), **arrays)
    return file.getvalue()


def steps(*some: Any, **others: Any) -> bytes:
    return file_of({"format": 4, "device": "cpu:0", "steps": list(some), **others}, {})


INPUT = ["input", 0, "a", "float32", [2], None]

DAMAGED: dict[str, tuple[Any, str]] = {
    "no zip": (lambda: b"PK\x03\x04 and no more", "not a saved graph"),
    "a zip that ends early": (lambda: good_graph().to_bytes()[:-40], "not a saved graph"),
    "an array": (lambda: saved_array(), "not a saved graph"),
    "steps of numbers": (lambda: file_of([1], {}), "not a saved graph"),
    "an empty step": (lambda: steps([]), "step 0: it is none of"),
    "a step of fewer fields": (lambda: steps(INPUT, ["output"]), "step 1: output has 1 fields"),
    "an unknown value": (lambda: steps(INPUT, ["output", 7]), "step 1: output uses the value 7"),
    "a missing constant": (lambda: steps(["constant", 0, "c", 0, "float32"]), "step 0: constant0 is missing"),
    "an unknown dtype": (lambda: steps(["input", 0, "a", "floatx", [2], None]), "step 0: input has a wrong .* 'dtype'"),
    "a NUL in a name": (lambda: steps(["input", 0, "a\0b", "float32", [2], None]), "step 0: .* NUL"),
    "attributes that are a list": (
        lambda: steps(INPUT, ["apply", [1], "sum", [0], [False], [1], None]),
        "step 1: apply has a wrong field 'attributes'",
    ),
    "fewer marks than inputs": (
        lambda: steps(INPUT, ["apply", [1], "concat", [0] * 60, [True], {"axis": 0}, None]),
        "step 1: it has 1 marks for 60 inputs",
    ),
    "more values than outputs": (
        lambda: steps(INPUT, ["apply", [1, 2], "abs", [0], [False], {}, None]),
        "step 1: it has 2 values for the 1 outputs of abs",
    ),
    "an attribute of objects": (
        lambda: steps(INPUT, ["apply", [1], "sum", [0], [False], {"axis": [{}]}, None]),
        "step 1: its attribute 'axis' must be a number, a string or a list of numbers",
    ),
    "a number that is none": (lambda: steps(numbers=[[["operand", [-3]], 1]]), "number 0: operation operand refers"),
    "an operation of later numbers": (lambda: steps(numbers=[[["add", [0, 1]], 1]]), "number 0: operation add refers"),
    "a scalar of a missing number": (lambda: steps(["scalar", 0, "int64", 1, 5]), "step 0: it takes number 5 of 0"),
    "a scalar of another kind": (lambda: steps(["scalar", 0, "int64", 1.5, None]), "step 0: 1.5 is not of dtype int64"),
}


def saved_array() -> bytes:
    file = io.BytesIO()
    np.save(file, np.ones(3))
    return file.getvalue()


@each("name", DAMAGED)
def test_a_damaged_file_is_an_error_that_says_where(name: str) -> None:
    make, message = DAMAGED[name]
    with pytest.raises(fe.InvalidArgumentError, match=message):
        fe.Graph.from_bytes(make())


STRANGE = [
    None, True, False, -1, 0, 1, 5, 2**31, 2**63, -(2**63) - 1, 10**400, 1.5, float("nan"), float("inf"),
    "", "a\0b", "\ud800", "float32", "float16", "bool", "cpu:0", "no device",
    {"axis": 0}, {"axis": ["x"]}, {"axis": 1e400}, {"axis": [1.5]}, {"dtype": "int8"}, {"dtype": 5}, "[" * 5000,
    [], [0], [[]], [-1], [2**62, 2**62], [1] * 70, {}, {"a": 1},
]  # fmt: skip


def mutated(value: Any, chance: random.Random) -> Any:
    """The JSON with one part replaced, dropped, repeated or moved."""
    value = copy.deepcopy(value)
    places: list[tuple[Any, Any]] = []

    def collect(part: Any) -> None:
        for key in list(part) if isinstance(part, dict) else range(len(part)):
            places.append((part, key))
            if isinstance(part[key], (list, dict)):
                collect(part[key])

    collect(value)
    for _ in range(chance.choice((1, 1, 2, 3))):
        owner, key = chance.choice(places)
        what = chance.random()
        if isinstance(owner, list) and key >= len(owner):
            continue
        if what < 0.6:
            owner[key] = copy.deepcopy(chance.choice(STRANGE))
        elif what < 0.7 and isinstance(owner, list):
            del owner[key]
        elif what < 0.8 and isinstance(owner, list):
            owner.insert(key, copy.deepcopy(owner[key]))
        else:
            other, place = chance.choice(places)
            if isinstance(other, dict) or place < len(other):
                owner[key] = copy.deepcopy(other[place])
    return value


def test_random_damage_raises_only_ferrule_errors() -> None:
    good, arrays = contents(good_graph().to_bytes())
    x = np.ones((2, 3), "float32")
    read = 0
    for seed in range(1500):
        chance = random.Random(seed)
        described = mutated(good, chance)
        kept = {name: array for name, array in arrays.items() if chance.random() > 0.03}
        try:
            graph = fe.Graph.from_bytes(file_of(described, kept))
            read += 1
            graph.text(), graph.to_bytes()
            if all(output.size < 1000 for output in graph.outputs):
                graph.compute(x, 2.5, 3)
        except fe.Error:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}: {described}") from error
    assert 20 < read < 1450


def test_random_bytes_raise_only_ferrule_errors() -> None:
    good = good_graph().to_bytes()
    for seed in range(300):
        chance = random.Random(seed)
        data = bytearray(good)
        for _ in range(chance.choice((1, 3, 10))):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            fe.Graph.from_bytes(bytes(data))
        except fe.Error:
            pass
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error


@pytest.mark.skipif(sys.platform == "win32", reason="no such files there")
def test_special_files_are_refused_at_once(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for special, kind in {fifo: "a FIFO", Path("/dev/zero"): "a device"}.items():
        with pytest.raises(fe.IoError, match=f"{special} is {kind}, not a regular file"):
            fe.Graph.load(special)
    with pytest.raises(IsADirectoryError):
        fe.Graph.load(tmp_path)


def test_a_number_that_python_cannot_write_is_a_typed_error() -> None:
    graph = fe.graph(lambda x, n: x * (n * 10**5000 > 3) + n).trace(np.ones(2, "f4"), 3)
    with pytest.raises(
        fe.InvalidArgumentError, match=r"Graph.to_bytes: a number of the graph cannot be written: .*4300"
    ):
        graph.to_bytes()


@pytest.mark.parametrize("failures", [1, 9, 10])
def test_python_that_fails_to_parse_a_header_is_asked_again(monkeypatch: pytest.MonkeyPatch, failures: int) -> None:
    """CPython 3.11.7 may fail to parse a header while another thread parses Python."""
    load, left = np.load, failures

    def load_later(*arguments: Any, **options: Any) -> Any:
        nonlocal left
        left -= 1
        if left >= 0:
            raise SystemError("AST constructor recursion depth mismatch (before=39, after=36)")
        return load(*arguments, **options)

    data = good_graph().to_bytes()
    monkeypatch.setattr(np, "load", load_later)
    if failures < 10:
        assert fe.Graph.from_bytes(data).to_bytes() == data
    else:
        with pytest.raises(fe.InvalidArgumentError, match="is not a saved graph"):
            fe.Graph.from_bytes(data)


def test_graph_that_cannot_be_written_leaves_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    graph = fe.Graph("cpu")
    graph.output(graph.input(3) + 1)
    path = tmp_path / "graph.npz"
    graph.save(path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match=r"No space left on device.*graph.npz"):
        graph.save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["graph.npz"]
