"""The options of a device, from variables and from `Device.open`, with values that are right and wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.processes import Processes

Run = Callable[..., str]

USE = 'print(attempt(lambda: fe.ones(2, device="cuda") + 1))\nprint((fe.ones(2) + 1).tolist())\n'


BOOLEAN, INTEGER = "must be true or false, or 1 or 0", "must be an integer"


@pytest.mark.parametrize(
    ("option", "value", "wanted"),
    [
        ("GRAPHS", "maybe", BOOLEAN),
        ("MEMORY_LIMIT", "lots", INTEGER),
        ("MEMORY_LIMIT", "1e9", INTEGER),
        ("MEMORY_LIMIT", "99999999999999999999", INTEGER),
        ("OUT_OF_MEMORY_AT", "first", INTEGER),
        ("DEVICE_LOST_AT", "0x1", INTEGER),
    ],
)
def test_value_of_another_type_is_told_when_the_module_is_loaded_and_when_the_device_is_opened(
    option: str, value: str, wanted: str, start: Processes
) -> None:
    sentence = f"FERRULE_CUDA_{option} is '{value}', and {wanted}"
    done = start("print(*row.notes)\n" + USE, **{f"FERRULE_CUDA_{option}": value})
    note, error, cpu = done.output.splitlines()
    assert note == sentence
    assert error == f"InvalidArgumentError: device cuda:0: {sentence}"
    assert cpu == "[2.0, 2.0]"
    assert done.log.count(sentence) == 1


@pytest.mark.parametrize(
    ("option", "value", "sentence"),
    [
        ("MEMORY_LIMIT", "-1", "option memory_limit is -1, and must be a number of bytes, or 0"),
        ("GENERATE_FROM", "-1", "option generate_from is -1, and must be a number of elements, or 0"),
    ],
)
def test_value_that_the_module_refuses_is_an_error_that_names_the_variable(
    option: str, value: str, sentence: str, run: Run
) -> None:
    variables = {f"FERRULE_CUDA_{option}": value, "FERRULE_CUDA_GRAPHS": "0"}
    error, cpu = run(USE, **variables).splitlines()
    variable = f"the environment has FERRULE_CUDA_{option}={value}"
    assert error == f"InvalidArgumentError: emulated cannot be opened: {sentence}; {variable}"
    assert cpu == "[2.0, 2.0]"


def test_misspelt_variable_is_told_when_the_module_is_loaded(start: Processes) -> None:
    done = start("print(*row.notes)\nprint(*row.devices)", FERRULE_CUDA_TF23="1")
    sentence = "FERRULE_CUDA_TF23 is set, and cuda has no option of that name; did you mean FERRULE_CUDA_TF32?"
    assert done.output == f"{sentence}\ncuda:0\n"
    assert done.log.count(sentence) == 1
    assert done.contexts() == set()
    explained = start("print(fe.explain('cuda'))", FERRULE_CUDA_TF23="1")
    assert explained.output.endswith(f"; {sentence}\n")


def test_options_of_open_are_checked_too_and_the_device_can_be_opened_afterwards(run: Run) -> None:
    program = """
print(attempt(lambda: fe.device("cuda").open(graphs="maybe")))
print(attempt(lambda: fe.device("cuda").open(memory_limit=-1)))
print(attempt(lambda: fe.device("cuda").open(grahps=True)))
fe.device("cuda").open(graphs=False, memory_limit=1 << 20)
print(attempt(lambda: fe.ones(2, device="cuda") + 1))
"""
    wrong_type, wrong_value, wrong_name, sums = run(program).splitlines()
    assert wrong_type == f"InvalidArgumentError: device cuda:0: option graphs is 'maybe', and {BOOLEAN}"
    assert wrong_value.endswith(": option memory_limit is -1, and must be a number of bytes, or 0")
    assert "grahps" in wrong_name
    assert "graphs" in wrong_name.replace("grahps", "")
    assert sums == "[2.0, 2.0]"


@pytest.mark.parametrize(("graphs", "launches"), [("1", True), ("0", False), ("true", True), ("false", False)])
def test_graphs_are_replayed_only_if_the_option_says_so(graphs: str, launches: bool, start: Processes) -> None:
    program = """
f = fe.graph(lambda x: fe.sum(fe.exp(x) @ x, axis=0))
x = put([[0, 1], [2, 3]])
print({tuple(np.asarray(f(x)).tolist()) for _ in range(6)})
"""
    done = start(program, FERRULE_CUDA_GRAPHS=graphs)
    assert len(done.output.split(")")) == 2, done.output
    assert ("cudaGraphLaunch" in done.calls) == launches


def test_requested_failure_of_an_allocation_is_one_error(run: Run) -> None:
    program = 'print([attempt(lambda: fe.ones(2, device="cuda") + 1) for _ in range(3)])'
    errors = run(program, FERRULE_CUDA_OUT_OF_MEMORY_AT="1").splitlines()[0]
    assert errors.count("OutOfMemoryError: ") == 1
    assert "at allocation 1, as requested" in errors
    assert errors.count("[2.0, 2.0]") == 2


def test_every_option_is_documented(module: Path, run: Run) -> None:
    names = run('print(*[option["key"] for option in fe.device("cuda").info["options"]])').split()
    page = (Path(__file__).resolve().parents[1] / "docs" / "README.md").read_text()
    assert names
    assert [name for name in names if f"`FERRULE_CUDA_{name.upper()}`" not in page] == []
