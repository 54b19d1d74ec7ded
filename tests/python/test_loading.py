"""Loading as a program sees it: what is found, what is opened, what is said about the rest."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

STATES = """
import json, ferrule as fe
report = fe.load_all({arguments})
print(json.dumps([[c.path.name, c.state, c.reason] for c in report.candidates]))
"""


def rows(run_python: Run, arguments: str = "", **variables: object) -> dict[str, tuple[str, str]]:
    """State and reason of each candidate, by file name."""
    done = run_python(STATES.format(arguments=arguments), **variables)
    return {name: (state, reason) for name, state, reason in json.loads(done.stdout.splitlines()[-1])}


def test_importing_loads_nothing(run_python: Run) -> None:
    assert run_python("import ferrule as fe; print(fe.backends())").stdout == "[]\n"


def test_load_all_loads_one_cpu_variant_and_says_why_not_the_others(run_python: Run) -> None:
    found = rows(run_python)
    assert [state for state, _ in found.values()].count("loaded") == 1
    assert all(reason for state, reason in found.values() if state not in ("loaded", "outranked"))


def test_load_all_is_idempotent(run_python: Run) -> None:
    run_python(
        "import ferrule as fe; first = fe.load_all(); second = fe.load_all()\n"
        "assert first.ok and second.ok and len(fe.backends()) == 1\n"
        "assert [c.path for c in first.loaded] == [c.path for c in second.loaded]"
    )


def test_eight_threads_load_at_once(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, threading\n"
        "reports = []\n"
        "barrier = threading.Barrier(8)\n"
        "def work(): barrier.wait(); reports.append(fe.load_all())\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "assert len(reports) == 8 and all(r.ok for r in reports) and len(fe.backends()) == 1"
    )


def test_first_use_of_a_device_loads(run_python: Run) -> None:
    assert run_python("import ferrule as fe; print(fe.ones(3).device)").stdout == "cpu:0\n"


def test_autoload_can_be_switched_off(run_python: Run) -> None:
    code = (
        "import ferrule as fe\n"
        "try: fe.best_device()\n"
        "except fe.NotFoundError as e: print('not found')\n"
        "fe.load_all(); print(fe.best_device())"
    )
    assert run_python(code, FERRULE_AUTOLOAD="0").stdout == "not found\ncpu:0\n"


def test_disable_leaves_a_backend_out(run_python: Run) -> None:
    assert {state for state, _ in rows(run_python, FERRULE_DISABLE="cpu").values()} == {"disabled"}


def test_only_leaves_others_out(run_python: Run) -> None:
    assert {state for state, _ in rows(run_python, FERRULE_ONLY="cuda,metal").values()} == {"disabled"}
    assert "loaded" in {state for state, _ in rows(run_python, FERRULE_ONLY="cuda, cpu").values()}
    assert {state for state, _ in rows(run_python, "only=['cuda']").values()} == {"disabled"}


def test_empty_variables_are_unset(run_python: Run) -> None:
    empty = dict.fromkeys(("FERRULE_DISABLE", "FERRULE_ONLY", "FERRULE_BACKEND_DIR", "FERRULE_BACKEND_PATH"), "")
    assert "loaded" in {state for state, _ in rows(run_python, **empty).values()}


def test_backend_path_names_files(run_python: Run, null_module: Path) -> None:
    found = rows(run_python, FERRULE_BACKEND_PATH=f"{os.pathsep}{null_module}{os.pathsep}")
    assert found[null_module.name][0] == "loaded"


def test_backend_path_holds_under_dirs_as_well(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    found = rows(run_python, f"dirs=[{str(tmp_path)!r}]", FERRULE_BACKEND_PATH=null_module)
    assert {name: state for name, (state, _) in found.items()} == {null_module.name: "loaded"}


def test_backend_dir_names_folders(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    both = f"{tmp_path}{os.pathsep}{null_module.parent}"
    assert rows(run_python, FERRULE_BACKEND_DIR=both)[null_module.name][0] == "loaded"


def test_dirs_replace_the_default_roots(run_python: Run, null_module: Path) -> None:
    found = rows(run_python, f"dirs=[{str(null_module.parent)!r}]")
    assert null_module.name in found
    assert not [name for name in found if "cpu" in name and "cpu2" not in name]


def test_default_roots_can_be_among_dirs(run_python: Run, null_module: Path) -> None:
    found = rows(run_python, f"dirs=[{str(null_module.parent)!r}, fe.default_roots]")
    assert found[null_module.name][0] == "loaded"
    assert any("cpu" in name and state == "loaded" for name, (state, _) in found.items())


def test_a_named_folder_that_is_not_there_is_not_found(run_python: Run) -> None:
    code = "import ferrule as fe\ntry: fe.load_all(dirs=['/no/such/folder'])\nexcept fe.NotFoundError as e: print(e)"
    assert "/no/such/folder" in run_python(code).stdout


@pytest.mark.parametrize("mode", ["repl", "-c", "-m"])
def test_the_current_directory_is_never_searched(run_python: Run, null_module: Path, tmp_path: Path, mode: str) -> None:
    for folder in (tmp_path, tmp_path / "backends", tmp_path / "ferrule_backends" / "null"):
        folder.mkdir(parents=True, exist_ok=True)
        for file in (null_module, null_module.with_suffix(".json")):
            shutil.copy(file, folder)
    code = "import ferrule as fe; print([c.path.name for c in fe.load_all()])"
    (tmp_path / "program.py").write_text(code)
    shown = run_python("program" if mode == "-m" else code, mode=mode, cwd=tmp_path).stdout
    assert "libferrule-cpu" in shown
    assert "null" not in shown


@pytest.mark.parametrize(
    ("fault", "state"),
    [("score0", "incompatible"), ("init_fails", "error"), ("init_throws", "error"), ("no_devices", "no_device")],
)
def test_a_fault_of_a_module_is_a_row_with_a_reason(run_python: Run, null_module: Path, fault: str, state: str) -> None:
    found = rows(run_python, FERRULE_BACKEND_PATH=null_module, FERRULE_NULL_FAULT=fault)
    assert found[null_module.name][0] == state
    assert len(found[null_module.name][1]) > 10
    assert "loaded" in {row_state for row_state, _ in found.values()}, "the process goes on with what is good"


def test_two_devices_of_one_backend_have_numbers(run_python: Run, null_module: Path) -> None:
    code = "import ferrule as fe; fe.load_all(); print([str(d) for d in fe.devices() if d.kind == 'test'])"
    shown = run_python(code, FERRULE_BACKEND_PATH=null_module, FERRULE_NULL_FAULT="two_devices").stdout
    assert shown == "['null:0', 'null:1']\n"


@pytest.mark.parametrize(
    "content", [b"", b"this is a text", b"\x7fELF", None], ids=["empty", "text", "magic", "truncated"]
)
def test_a_file_that_is_no_module_is_a_row(
    run_python: Run, null_module: Path, tmp_path: Path, content: bytes | None
) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    bad = folder / "libferrule-bad.so"
    bad.write_bytes(null_module.read_bytes()[:5000] if content is None else content)
    found = rows(run_python, f"dirs=[{str(folder)!r}]")
    assert found[bad.name][0] in ("error", "incompatible")
    assert found[bad.name][1]


def test_a_module_without_a_manifest_works_the_old_way(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    shutil.copy(null_module, folder)
    assert rows(run_python, f"dirs=[{str(folder)!r}]")[null_module.name][0] == "loaded"


def test_require_raises_with_the_report(run_python: Run) -> None:
    code = (
        "import ferrule as fe\n"
        "try: fe.load_all(require=['cuda'])\n"
        "except ImportError as e: print(type(e).__name__, len(e.report.candidates) > 0, 'cuda' in str(e))"
    )
    assert run_python(code).stdout == "LoadError True True\n"


def test_unload_refuses_while_an_array_lives_and_says_so(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "fe.load_all(); x = fe.ones((2, 3)) + 1; fe.eval(x)\n"
        "try: fe.unload('cpu')\n"
        "except fe.InvalidArgumentError as e: assert 'array' in str(e) and '24 bytes' in str(e), e\n"
        "else: raise AssertionError('unloaded')\n"
        "del x; fe.unload('cpu'); assert fe.backends() == []\n"
        "fe.load_all(); assert fe.ones(3).sum().item() == 3"
    )


def test_unload_of_what_is_not_loaded_is_an_error(run_python: Run) -> None:
    run_python(
        "import ferrule as fe\n"
        "for name in ('cpu', 'nonsense', ''):\n"
        "    try: fe.unload(name)\n"
        "    except fe.Error as e: assert isinstance(e, (LookupError, ValueError))\n"
        "    else: raise AssertionError(name)"
    )


def test_reload_takes_the_bytes_that_lie_there_now(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    for file in (null_module, null_module.with_suffix(".json")):
        shutil.copy(file, folder)
    run_python(
        "import ferrule as fe, os, shutil\n"
        f"path = {str(folder / null_module.name)!r}\n"
        "backend = fe.load(path); assert backend.name == 'null'\n"
        "shutil.copy(path, path + '.new'); os.replace(path + '.new', path)\n"
        "assert fe.reload('null').name == 'null'\n"
        "open(path + '.new', 'w').write('text'); os.replace(path + '.new', path)\n"
        "try: fe.reload('null')\n"
        "except fe.Error as e: print(e)\n"
        "assert [b.name for b in fe.backends()] == ['null'], 'the old one stays'"
    )


def test_load_names_what_is_wrong_with_a_file(run_python: Run, tmp_path: Path) -> None:
    bad = tmp_path / "libferrule-bad.so"
    bad.write_text("text")
    run_python(
        "import ferrule as fe\n"
        "for path in ('/no/such/libferrule-x.so', 'libferrule-bad.so', '/'):\n"
        "    try: fe.load(path)\n"
        "    except fe.Error as e: assert len(str(e)) > 10\n"
        "    else: raise AssertionError(path)"
    )


def test_shutdown_then_load_again(run_python: Run) -> None:
    run_python(
        "import ferrule as fe; fe.load_all(); fe.shutdown(); assert fe.backends() == []; fe.load_all(); fe.ones(2)"
    )


def test_device_names(run_python: Run) -> None:
    run_python(
        "import ferrule as fe\n"
        "assert fe.device('cpu') == fe.device('CPU:0') == fe.best_device()\n"
        "for name in ('gpu', 'nonsense', 'cpu:7'):\n"
        "    try: fe.device(name)\n"
        "    except LookupError as e: assert name.split(':')[0] in str(e)\n"
        "    else: raise AssertionError(name)\n"
        "for name in ('', 'cpu:', 'cpu:x', ':1'):\n"
        "    try: fe.device(name)\n"
        "    except (LookupError, ValueError) as e: pass\n"
        "    else: raise AssertionError(name)"
    )


def test_the_null_device_is_never_the_best(run_python: Run, null_module: Path) -> None:
    code = "import ferrule as fe; fe.load_all(only=['null']); print(fe.devices())\ntry: fe.best_device()\n"
    code += "except fe.NotFoundError: print('none')"
    assert "none" in run_python(code, FERRULE_BACKEND_PATH=null_module).stdout


def test_unknown_device_options_are_errors_that_list_the_known(run_python: Run, null_module: Path) -> None:
    code = (
        "import ferrule as fe; fe.load_all(); d = fe.device('null')\n"
        "try: d.open(nonsense=1)\n"
        "except fe.InvalidArgumentError as e: print('slow_ms' in str(e))"
    )
    assert run_python(code, FERRULE_BACKEND_PATH=null_module).stdout == "True\n"


def test_the_report_is_text_data_and_html(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, json\n"
        "report = fe.load_all(); loaded = report.loaded[0]\n"
        "assert loaded.name in str(report) and loaded.path.name in report._repr_html_()\n"
        "assert json.loads(report.to_json())['candidates'] and str(loaded.path) == str(fe.backends()[0].path)"
    )


def test_log_lines_go_to_python_logging(run_python: Run) -> None:
    code = (
        "import logging; logging.basicConfig(level=logging.DEBUG, format='%(name)s|%(message)s')\n"
        "import ferrule as fe; fe.load_all()"
    )
    assert "ferrule|" in run_python(code, FERRULE_LOG="debug").stderr


def test_nothing_happens_at_exit(run_python: Run) -> None:
    done = run_python(
        "import ferrule as fe, numpy as np, threading\n"
        "x = fe.asarray(np.ones(1000, 'f4')); y = x + 1; z = np.asarray(y); w = fe.graph(lambda a: a * 2)(x)\n"
        "cycle = [y, w]; cycle.append(cycle)"
    )
    assert done.stderr == ""
