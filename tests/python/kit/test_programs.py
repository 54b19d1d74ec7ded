"""Random programs: every way to compute one agrees with NumPy. Also tests their generator and minimiser."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ferrule as fe
import pytest
from ferrule.op_rows import OP_ROWS
from ferrule.testing.programs.computation_ways import STEPS, WAYS
from ferrule.testing.programs.compute import Places, compare, faults_of, see_steps
from ferrule.testing.programs.draw import draw_program
from ferrule.testing.programs.model.inputs import Input
from ferrule.testing.programs.model.memory import Memory
from ferrule.testing.programs.program import Program, Step
from ferrule.testing.programs.run_batches import Finding, batches_of, run_batches
from ferrule.testing.programs.shrink import values_of
from ferrule.testing.programs.steps import operations
from ferrule.testing.running.child import Child
from ferrule.testing.running.target import Target

PARTS = 8
TREE = Path(__file__).resolve().parents[3]
# The CPU module under another name, made by `./dev unit`, as a second device.
SECOND = TREE / "build/tests/csrc/backends/cpu/testing/libferrule-cpu2.so"
# Ops that are used implicitly: a step's decomposition, a view's kernel, an update by indices or a mask.
WITHIN_OTHERS = {"arange", "iota", "copy", "slice", "scatter", "masked_scatter", "sum_of_squares"}
# Whether they have a result, and how exact it is, depends on the values: only cases of the kit have them.
OF_CERTAIN_VALUES = {"cholesky", "det", "eigvals", "eigvalsh", "inv", "solve", "svdvals"}
OF_CERTAIN_VALUES |= {"fft_complex", "fft_real", "fft_to_real"}
# Programs have no complex numbers.
OF_COMPLEX_NUMBERS = {"conj", "imag", "real"}


@pytest.fixture
def child() -> Iterator[Child]:
    child = Child(Target("device", "cpu"))
    yield child
    child.close()


@pytest.mark.parametrize("part", range(PARTS))
def test_every_way_of_computing_a_program_matches_numpy(
    part: int, child: Child, request: pytest.FixtureRequest
) -> None:
    first, count = request.config.getoption("programs_seed"), request.config.getoption("programs_count")
    seeds = range(first + part * count // PARTS, first + (part + 1) * count // PARTS)
    tally = run_batches(child, "cpu:0", batches_of(seeds), str(SECOND) if SECOND.exists() else None, shrinks=1)
    assert tally.programs == len(seeds)
    if tally.findings:
        pytest.fail("\n\n".join(map(str, tally.findings)), pytrace=False)


@pytest.mark.parametrize("first", ["null:0", "cpu:0"])
@pytest.mark.parametrize(("pace", "order"), [("LATE", 1), ("LATE", 7), ("THREADED", 3)])
def test_asynchronous_devices_match_numpy(
    first: str,
    pace: str,
    order: int,
    null_module: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The null module's two devices, or the CPU and one of them: work is done by threads, or on waits in a random
    order."""
    kernels = fe.device("cpu").backend.path
    for name, value in {pace: 1, "SEED": order, "HIDDEN": 1, "COMPUTES_WITH": kernels, "FAULT": "two_devices"}.items():
        monkeypatch.setenv(f"FERRULE_NULL_{name}", str(value))
    seed, count = request.config.getoption("programs_seed"), request.config.getoption("programs_count") // 16
    is_cpu = first == "cpu:0"
    child = Child(Target("device", "cpu") if is_cpu else Target("backend", str(null_module)))
    try:
        child.start()
        second = str(null_module) if is_cpu else "null:1"
        tally = run_batches(child, first, batches_of(range(seed, seed + count)), second, shrinks=1)
    finally:
        child.close()
    assert (tally.programs, tally.refused) == (count, 0)
    if tally.findings:
        pytest.fail("\n\n".join(map(str, tally.findings)), pytrace=False)


def test_a_seed_gives_the_same_program_which_survives_json() -> None:
    for seed in range(30):
        program = draw_program(seed)
        assert Program.from_json(program.to_json()) == draw_program(seed)


def test_programs_contain_every_op_with_one_result() -> None:
    ops = {name for name, row in OP_ROWS.items() if len(row["outputs"]) == 1}
    assert ops - {*operations()} - WITHIN_OTHERS - OF_CERTAIN_VALUES - OF_COMPLEX_NUMBERS == set()


def test_programs_contain_difficult_features() -> None:
    """Empty results beside their bases, duplicated values, inputs passed through, shared memory."""
    found = {"empty": 0, "twice": 0, "passed": 0, "shared": 0, "rank 6": 0, "in place": 0, "raises": 0}
    for seed in range(400):
        program = draw_program(seed)
        values = values_of(program)
        assert values is not None
        outputs = [values[name] for name in program.outputs]
        found["empty"] += any(x.size == 0 for x in outputs) and any(x.size > 0 for x in outputs)
        found["twice"] += len({*program.outputs}) < len(program.outputs)
        found["passed"] += any(one.name in program.outputs for one in program.inputs)
        found["shared"] += len({one.memory for one in program.inputs}) < len(program.inputs)
        found["rank 6"] += any(x.ndim == 6 for x in values.values())
        found["in place"] += any(step.operation == "update" for step in program.steps)
        found["raises"] += program.raises
    assert min(found.values()) >= 5, found


def test_sum_of_a_separately_computed_view_may_differ_in_last_bits() -> None:
    """Seed 519191: an output that is a view becomes dense if it is computed before its sum, which changes the order of
    the sum."""
    program = Program(
        (Memory("float64", (50, 300), "ordinary", 7, -1, 1, writable=False),),
        (Input("x0", 0, "{0}"),),
        (),
        (
            Step("v0", "astype", ("x0",), {"dtype": "float32"}),
            Step("v1", "permute_dims", ("v0",), {"axes": [1, 0]}),
            Step("v2", "sum", ("v1",), {"axis": 1, "keepdims": False}),
        ),
        ("v1", "v2"),
    )
    places = Places(fe.device("cpu"))
    one_by_one = next(way for way in WAYS if way.name == "one_by_one")
    seen, _ = see_steps(program, places, STEPS)
    assert compare(program, places, one_by_one, [seen["v1"], seen["v2"]]) is not None
    assert faults_of(program, places, only=["one_by_one"]) == []
    seen["v2"] = seen["v2"] + 1
    assert compare(program, places, one_by_one, [seen["v1"], seen["v2"]]) is not None


def test_device_that_computes_nothing_is_found_with_a_minimised_program(null_module: Path, tmp_path: Path) -> None:
    child = Child(Target("backend", str(null_module)))
    try:
        child.start()
        tally = run_batches(child, child.devices[0]["name"], batches_of(range(30)), shrinks=3)
    finally:
        child.close()
    assert len(tally.findings) >= 15
    smallest = min((str(finding) for finding in tally.findings), key=len)
    assert smallest.count("\n    v") <= 2, smallest


def test_code_of_a_finding_runs_standalone(child: Child, tmp_path: Path) -> None:
    programs = {seed: draw_program(seed) for seed in range(50)}
    # In larger programs some output depends on an input, which graphs need.
    chosen = [seed for seed, one in programs.items() if not one.raises and len(one.steps) > 7 and len(one.inputs) > 2]
    for seed in chosen[:2]:
        drawn = child.ask(do="program", device="cpu:0", second=None, seed=seed, program=None, ways=[])
        for way in ("steps", "lazy", "graph_again", "by_hand", "overwritten"):
            asked = {"device": "cpu:0", "second": None, "program": drawn["program"], "way": way, "kind": "bits"}
            script = tmp_path / "program.py"
            script.write_text(child.ask(do="source", **asked)["source"])
            run = subprocess.run([sys.executable, script], capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stderr


def test_crash_ends_one_process_and_names_its_program(child: Child, monkeypatch: pytest.MonkeyPatch) -> None:
    from ferrule.tools.child import ChildEnded

    real, crashed = child.ask, []

    def ask(**request: object) -> dict[str, object]:
        if request["do"] == "programs" and request["first"] == 0 and not crashed:
            crashed.append(True)
            raise ChildEnded("crashed", "killed by SIGSEGV", "program 4 graph", "")
        return real(**request)

    monkeypatch.setattr(child, "ask", ask)
    tally = run_batches(child, "cpu:0", batches_of(range(10)), shrinks=0)
    assert tally.programs == 10
    assert Finding(4, "graph", "crashed", tally.findings[0].text) == tally.findings[0]


def test_the_kit_runs_programs_and_says_how_to_repeat_them(null_module: Path) -> None:
    options = ["--ferrule-backend", str(null_module), "--ferrule-level", "brief", "-p", "no:cacheprovider", "-q"]
    command = [sys.executable, "-m", "pytest", "--pyargs", "ferrule.testing.test_programs", *options]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 1, run.stdout
    assert "def program(" in run.stdout
    assert f"python -m ferrule.testing.programs --backend={null_module} --seed 0 --count 20" in run.stdout
