"""Every check of a module finds the faulty module made for it and passes for correct modules."""

from __future__ import annotations

import importlib.util
import json
import shutil
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from ferrule.testing import module_slots
from ferrule.tools import module_file

HERE = Path(__file__).resolve().parent
MINE = HERE.parents[1] / "foreign" / "module" / "mine.cpp"
EXPORT = "\nFE_EXPORT_MODULE(FERRULE_MODULE_SYMBOL)\n"

BuildFile = Callable[..., Path]
RunPython = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def package() -> Path:
    spec = importlib.util.find_spec("ferrule._ferrule")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent


def compile_module(compiler: str, source: Path, target: Path, package: Path, *flags: str) -> Path:
    command = [compiler, "-shared", "-fPIC", "-fvisibility=hidden", f"-I{package / 'include'}", *flags]
    subprocess.run([*command, str(source), "-o", str(target)], check=True)
    return target


def compile_backend(source: Path, target: Path, package: Path) -> Path:
    """Compiles a module of one C++ file without CMake."""
    flags = ["-std=c++20", "-O1", "-fno-gnu-unique", "-Wall", "-Wextra", "-Werror", "-s"]
    flags += ['-DFERRULE_MODULE_NAME="mine"', '-DFERRULE_MODULE_VARIANT=""', "-DFERRULE_MODULE_SYMBOL=mine_module"]
    flags += [f"-Wl,--version-script={package / 'lib/cmake/ferrule/module.map'}", "-Wl,-z,defs"]
    return compile_module("c++", source, target, package, *flags)


@pytest.fixture(scope="module")
def slots(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Path:
    """The module with the fault that FERRULE_MUTANT selects."""
    return compile_backend(HERE / "modules/slots.cpp", tmp_path_factory.mktemp("slots") / "libferrule-mine.so", package)


@pytest.fixture
def build_file(tmp_path: Path, package: Path) -> BuildFile:
    """Compiles modules/file.c with flags."""

    def build(*flags: str, name: str = "libferrule-file.so") -> Path:
        return compile_module("cc", HERE / "modules/file.c", tmp_path / name, package, "-O1", *flags)

    return build


# ---- correct modules


@pytest.fixture(params=["cpu", "null", "mine", "slots"])
def right_module(
    request: pytest.FixtureRequest, package: Path, tmp_path_factory: pytest.TempPathFactory, slots: Path
) -> Path:
    if request.param == "cpu":
        return package / "backends/libferrule-cpu-x64.so"
    if request.param == "null":
        return package / "testing/libferrule-null.so"
    if request.param == "slots":
        return slots
    folder = tmp_path_factory.mktemp("mine")
    source = folder / "mine.cpp"
    source.write_text(MINE.read_text() + EXPORT)
    return compile_backend(source, folder / "libferrule-mine.so", package)


def test_correct_module_fails_no_check(right_module: Path) -> None:
    outcomes = {}
    for name, check in module_file.CHECKS.items():
        try:
            outcomes[name] = check(right_module)
        except module_file.NotChecked:
            assert name == "file.manifest"
    assert [problem for problems in outcomes.values() for problem in problems] == []
    results = [module_slots.run(right_module, check.name) for check in module_slots.checks()]
    assert [str(r) for r in results if r.outcome not in ("passed", "not applicable")] == []
    assert sum(r.outcome == "passed" for r in results) > 100


# ---- files


def test_correct_file_passes(build_file: BuildFile) -> None:
    path = build_file()
    assert {name: check(path) for name, check in module_file.CHECKS.items() if name != "file.manifest"} == {
        name: [] for name in module_file.CHECKS if name != "file.manifest"
    }


@pytest.mark.parametrize(
    ("check", "flags", "sentence"),
    [
        ("file.exports", ["-DMUTANT_SYMBOL"], "it exports mine, and must hide it"),
        ("file.exports", ["-DMUTANT_NO_ABI"], "it does not export ferrule_backend_abi"),
        ("file.exports", ["-DMUTANT_NO_INIT"], "it does not export ferrule_backend_init"),
        ("file.undefined_symbols", ["-DMUTANT_UNDEFINED"], "nobody_has_this is undefined"),
        ("file.static_initialisers", ["-DMUTANT_CONSTRUCTOR"], "is a static initialiser"),
        ("file.static_initialisers", ["-DMUTANT_CONSTRUCTOR", "-nostartfiles"], "is a static initialiser"),
        ("file.static_initialisers", ["-DMUTANT_CTORS"], "is a static initialiser"),
        ("file.static_initialisers", ["-DMUTANT_INIT_FUNCTION", "-Wl,-init,own_init"], "a function of its own"),
        ("file.abi", ["-DMUTANT_HASH"], "its layout hash is"),
        ("file.abi", ["-DMUTANT_MAJOR"], "its ABI is 1."),
        ("file.abi", ["-DMUTANT_MAGIC"], "not with the magic"),
        ("file.abi", ["-DMUTANT_NO_ABI"], "is not there"),
        ("file.abi", ["-DMUTANT_ABI_WITHOUT_BYTES"], "not constant data"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, list) else None,
)
def test_a_wrong_file_is_found(build_file: BuildFile, check: str, flags: list[str], sentence: str) -> None:
    assert sentence in " ".join(module_file.CHECKS[check](build_file(*flags)))


def test_a_needed_library_that_is_missing_is_found(build_file: BuildFile, tmp_path: Path) -> None:
    other = build_file("-Wl,-soname,libgone.so", name="libgone.so")
    path = build_file("-Wl,--no-as-needed", str(other))
    assert "libgone.so, which is not on this machine" in " ".join(module_file.check_undefined_symbols(path))
    path = build_file("-Wl,--no-as-needed", str(other), "-Wl,-rpath,$ORIGIN")
    assert module_file.check_undefined_symbols(path) == []


def test_file_name_that_the_loader_ignores_is_reported(build_file: BuildFile) -> None:
    assert module_file.check_file_name(build_file(name="mine.so"))


@pytest.mark.parametrize("key", ["sha256", "size", "name", "variant", "abi"])
def test_manifest_of_another_file_is_found(package: Path, tmp_path: Path, key: str) -> None:
    for suffix in (".so", ".json"):
        shutil.copy(package / f"testing/libferrule-null{suffix}", tmp_path)
    path = tmp_path / "libferrule-null.so"
    assert module_file.check_manifest(path) == []
    beside = path.with_suffix(".json")
    manifest = json.loads(beside.read_text()) | {key: "another"}
    beside.write_text(json.dumps(manifest))
    [problem] = module_file.check_manifest(path)
    assert f"says that {key} is 'another'" in problem


def test_manifest_that_is_not_json_is_found(build_file: BuildFile) -> None:
    path = build_file()
    path.with_suffix(".json").write_text("{")
    assert "cannot be read" in module_file.check_manifest(path)[0]


@pytest.mark.parametrize("check", [name for name in module_file.CHECKS if name not in ("file.name", "file.manifest")])
def test_file_that_is_not_elf_is_not_checked(tmp_path: Path, check: str) -> None:
    path = tmp_path / "libferrule-other.so"
    path.write_bytes(b"\xcf\xfa\xed\xfe" + bytes(100))
    with pytest.raises(module_file.NotChecked, match="not an ELF file"):
        module_file.CHECKS[check](path)


def test_lief_is_imported_by_the_first_check_that_reads_a_file(run_python: RunPython, package: Path) -> None:
    module = package / "testing/libferrule-null.so"
    done = run_python(
        "import sys; from pathlib import Path; from ferrule.tools import module_file\n"
        "assert 'lief' not in sys.modules\n"
        "sys.modules['lief'] = None\n"  # as if it were not installed
        f"try: module_file.check_exports(Path({str(module)!r}))\n"
        "except ImportError as error: print(error)"
    )
    assert done.stdout.startswith("module files are read with lief; pip install 'ferrule[inspect]': ")


# ---- slots

# The mutant that each check must find; checks of bad graphs, executions and arguments find one that accepts everything.
MUTANTS = {
    "init_twice": "crashes_on_second_init",
    "close": "pins_itself",
    "enumerates_without_memory": "takes_memory",
    "options": "says_yes",
    "host_too_old": "trusts_its_host",
    "host_without_slot": "trusts_its_host",
    "table_too_small": "fills_all",
    "outputs_too_small": "says_yes",
    "arguments.init": "fills_nothing",
    "body": "breaks_promises",
    "poll": "ignores_poll",
    "supports_is_a_promise": "breaks_promises",
    "refusals_have_reasons": "silent_refusals",
    "leaks": "leaks",
    "leaks.refusals": "drops_errors",
    "leaks.devices": "leaks_devices",
    "threads": "races",
    "threads.refusals": "shares_its_reasons",
    "queue_reset": "resets_at_once",
    "queue_wait_event": "waits_for_nothing",
    "queue_wait_event.errors": "takes_over_errors",
    "queue_memory": "borrows_other_memory",
    "queue_kinds": "has_no_upload_queue",
    "event_errors": "remembers_errors",
    "event_time": "goes_back_in_time",
    "copy": "copies_forwards",
    "fill": "fills_bytes",
    "copy_strided": "copies_words",
    "host_allocate": "misaligns_host_memory",
    "trace": "traces_backwards",
    "device_lost": "forgets_errors",
}
SAYS_YES = ("arguments.", "bad_graph.", "bad_body.", "bad_execution.")
# Normally found in the file itself; here the file has another hash.
BY_FILE = {"abi"}


def mutant_of(check: str) -> str:
    return MUTANTS.get(check) or ("says_yes" if check.startswith(SAYS_YES) else "")


@pytest.mark.parametrize("check", [check.name for check in module_slots.checks() if check.name not in BY_FILE])
def test_each_check_finds_its_faulty_module(slots: Path, check: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert mutant_of(check), f"{check} has no mutant that it must find"
    monkeypatch.setenv("FERRULE_MUTANT", mutant_of(check))
    result = module_slots.run(slots, check, time_limit=120)
    assert result.outcome in ("failed", "crashed"), str(result)
    assert result.sentences


@pytest.mark.parametrize(
    ("mutant", "check", "sentence"),
    [
        ("shares_its_backend", "init_twice", "gives the first backend once more"),
        ("starts_threads", "enumerates_without_memory", "started 1 threads"),
        ("blames_itself", "bad_graph.op_zero", "gives the error internal"),
        ("says_nothing", "bad_graph.op_zero", "without a sentence"),
        ("gives_both", "bad_graph.op_zero", "an error and an executable"),
        ("keeps_its_reasons", "leaks.refusals", "refusing each time something else, 1000 times, leaves"),
        ("drops_errors", "bad_graph.op_zero", "errors were created and never given to the core"),
        ("forgets_errors", "event_errors", "that was waited for before was accepted, and must be an error"),
        ("skips_after_errors", "event_errors", "the outputs of execution 2: byte 0"),
        ("recovers", "device_lost", "queue_reset of a lost device"),
        ("loses_one_queue", "device_lost", "an execution on another queue after the device was lost"),
        ("has_another_clock", "event_time", "by the host's clock the queue passed it between"),
        ("fills_too_much", "fill", "fill with a pattern of 1 bytes: 0 bytes from byte 0: byte 0 of 4096"),
        ("traces_another_graph", "trace", "is reported, but the graph has 1"),
        ("traces_late", "trace", "is reported after the event behind the execution is done"),
    ],
)
def test_further_faults_are_found(
    slots: Path, mutant: str, check: str, sentence: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_MUTANT", mutant)
    result = module_slots.run(slots, check)
    assert sentence in str(result)


def test_another_layout_hash_is_found_by_the_program_too(build_file: BuildFile) -> None:
    result = module_slots.run(build_file("-DMUTANT_HASH"), "abi")
    assert result.outcome == "failed"
    assert "layout_hash" in result.sentences[0]


@pytest.mark.parametrize(
    ("mutant", "name"),
    [
        ("aborts_on_bad_graphs", signal.SIGABRT.name),
        ("reads_null", signal.SIGSEGV.name),
        ("throws_on_bad_graphs", signal.SIGABRT.name),
        ("exits_on_bad_graphs", "exit status 0"),
    ],
)
def test_crash_ends_one_child_and_is_reported(
    slots: Path, mutant: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_MUTANT", mutant)
    result = module_slots.run(slots, "bad_graph.rank_nine")
    assert result.outcome == "crashed"
    assert name in result.sentences[0]
    assert "an input of nine dimensions" in result.sentences[1]
    assert result.command.endswith("libferrule-mine.so bad_graph.rank_nine")
    monkeypatch.delenv("FERRULE_MUTANT")
    assert module_slots.run(slots, "bad_graph.rank_nine").outcome == "passed"


@pytest.mark.parametrize(
    ("mutant", "check"), [("hangs_when_lost", "device_lost"), ("hangs_on_bad_graphs", "bad_graph.op_zero")]
)
def test_hang_ends_at_its_time_limit_and_is_reported(
    slots: Path, mutant: str, check: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FERRULE_MUTANT", mutant)
    result = module_slots.run(slots, check, time_limit=3)
    assert result.outcome == "hung"
    assert result.sentences[0] == "it was not done after 3 s"


def test_check_can_be_limited_to_one_op_and_device(package: Path) -> None:
    null = package / "testing/libferrule-null.so"
    assert module_slots.run(null, "supports_is_a_promise", op="matmul", seed=7).outcome == "passed"
    result = module_slots.run(null, "supports_is_a_promise", device=3)
    assert result.outcome == "not applicable"
    assert result.sentences == ["there is no device 3: it shows 1"]


def test_unknown_check_gives_no_result(package: Path) -> None:
    with pytest.raises(ValueError, match="there is no check"):
        module_slots.run(package / "testing/libferrule-null.so", "nonsense")


def test_file_that_cannot_be_opened_fails_with_the_loaders_message(tmp_path: Path) -> None:
    result = module_slots.run(tmp_path / "libferrule-gone.so", "close")
    assert result.outcome == "failed"
    assert "cannot open shared object file" in result.sentences[0]
