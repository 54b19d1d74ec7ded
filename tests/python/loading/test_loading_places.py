"""Search paths of modules: variables, `dirs=`, installed distributions, and never the current directory."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]
Notes = Callable[[], list[str]]

LOAD = """
import json, ferrule as fe
report = fe.load_all({arguments})
rows = [[c.path.name, c.state, c.reason] for c in report.candidates]
print(json.dumps([rows, [[str(r.path), r.data["problem"]] for r in report.roots]]))
"""


def load(run_python: Run, arguments: str = "", **variables: object) -> tuple[dict[str, Any], dict[str, str]]:
    """(state, reason) of each candidate by file name, and the problem of each root by path."""
    rows, roots = json.loads(run_python(LOAD.format(arguments=arguments), **variables).stdout.splitlines()[-1])
    return {name: (state, reason) for name, state, reason in rows}, dict(roots)


def joined(*paths: Path | str) -> str:
    return os.pathsep.join(str(path) for path in paths)


@pytest.fixture
def trap(tmp_path: Path, put_module: Put) -> Path:
    """A folder with modules wherever a careless search would find them; each records when it is opened."""
    folder = tmp_path / "trap"
    for place in (".", "backends", "ferrule/backends", "ferrule_backends", "ferrule_backends/x"):
        put_module(folder / place, "t_trap")
        put_module(folder / place, "cpu-trap", rank=1_000_000)
    return folder


PROGRAM = "import ferrule as fe\nprint(fe.ones(3).sum().item(), [c.name for c in fe.load_all().loaded])\n"
OPENED = "3.0 ['cpu']\n"


@pytest.mark.parametrize(
    ("mode", "variables"),
    [
        *((mode, {}) for mode in ("repl", "stdin", "-c", "-m", "file")),
        ("-c", {"FERRULE_BACKEND_DIR": "", "FERRULE_BACKEND_PATH": "", "PYTHONPATH": ""}),
        ("-m", {"FERRULE_BACKEND_DIR": os.pathsep, "FERRULE_BACKEND_PATH": os.pathsep, "PYTHONPATH": f"{os.pathsep}."}),
    ],
)
def test_the_current_directory_is_never_searched(
    run_python: Run, notes: Notes, trap: Path, mode: str, variables: dict[str, str]
) -> None:
    (trap / "program.py").write_text(PROGRAM)
    code = {"-m": "program", "file": "program.py"}.get(mode, PROGRAM)
    assert OPENED in run_python(code, mode=mode, cwd=trap, **variables).stdout
    assert notes() == []


def test_file_in_the_current_directory_is_opened_if_a_call_names_it(run_python: Run, notes: Notes, trap: Path) -> None:
    """Checks the trap of the test above: a module in it does record that it was opened."""
    run_python("import ferrule as fe; fe.load_all(dirs=['.'])", cwd=trap)
    assert sorted(set(notes())) == ["initialised cpu-trap", "initialised t_trap", "opened cpu-trap", "opened t_trap"]
    run_python("import ferrule as fe; fe.load('libferrule-t_trap.so')", cwd=trap)


def test_relative_paths_in_variables_are_refused(run_python: Run, notes: Notes, trap: Path) -> None:
    variables = {"FERRULE_BACKEND_DIR": joined(".", "backends"), "FERRULE_BACKEND_PATH": "libferrule-t_trap.so"}
    rows, roots = load(run_python, cwd=trap, **variables)
    assert rows["libferrule-t_trap.so"] == ("error", "a path in FERRULE_BACKEND_PATH must be absolute")
    assert "must be absolute" in roots["."]
    load(run_python, "dirs=[fe.default_roots]", cwd=trap, **variables)
    assert notes() == []


def test_folders_of_installed_distributions_are_searched(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    put_module(tmp_path / "site" / "ferrule_backends" / "x", "t_installed")
    put_module(tmp_path / "site" / "ferrule_backends", "t_outside")
    code = (
        f"import site; site.getsitepackages = lambda: [{str(tmp_path / 'site')!r}]\n"
        "import ferrule as fe; print([c.name for c in fe.load_all().loaded])"
    )
    assert run_python(code).stdout == "['cpu', 't_installed']\n"


def test_folders_of_the_import_path_are_searched(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    """Each wheel may be in a folder of its own: PYTHONPATH, .pth files, Bazel, PEX, nix."""
    for place in ("a", "b", "late"):
        put_module(tmp_path / place / "ferrule_backends" / place, f"t_{place}")
    code = (
        f"import sys; sys.path.append({str(tmp_path / 'late')!r})\n"
        "import ferrule as fe; print([c.name for c in fe.load_all().loaded])"
    )
    path = joined(tmp_path / "a", tmp_path / "no.zip", tmp_path / "b")
    assert run_python(code, PYTHONPATH=path, cwd=tmp_path / "a").stdout == "['cpu', 't_b', 't_late']\n"
    assert run_python(code, PYTHONPATH=path).stdout == "['cpu', 't_a', 't_b', 't_late']\n"


@pytest.mark.parametrize("is_flat", [False, True])
def test_installation_of_links_into_a_store_is_whole(
    run_python: Run, package: Path, tmp_path: Path, is_flat: bool
) -> None:
    """uv links each file of a wheel to its cache, Bazel and nix to stores; nothing else lies beside a file there."""
    site, store = tmp_path / "site", tmp_path / "store"

    def link(source: Path, target: Path) -> None:
        files = [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
        for number, path in enumerate(files):
            place = target / path.relative_to(source)
            kept = store / target.name / (str(number) if is_flat else path.relative_to(source))
            for each in (place, kept):
                each.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, kept)
            kept.chmod(path.stat().st_mode)
            place.symlink_to(kept)

    link(package, site / "ferrule")
    link(package / "backends", site / "ferrule_backends" / "other")
    code = (
        "import ferrule as fe; report = fe.load_all(probe='auto')\n"
        "[row] = report.loaded; assert (row.name, row.probed, row.rank is None) == ('cpu', 'no', False), row\n"
        "print(*[root.path for root in report.roots])"
    )
    roots = run_python(code, PYTHONPATH=site).stdout.split()
    assert roots[0] == str(site / "ferrule" / "backends")
    assert roots[-1] == str(site / "ferrule_backends" / "other")


def test_backend_path_is_a_list_of_files(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    first, second = put_module(tmp_path / "a", "t_first"), put_module(tmp_path / "b", "t_second")
    put_module(tmp_path / "b", "t_beside")
    absent = tmp_path / "libferrule-t_absent.so"
    rows, _ = load(run_python, FERRULE_BACKEND_PATH=joined("", first, "", absent, second, ""))
    assert [rows[path.name][0] for path in (first, second, absent)] == ["loaded", "loaded", "error"]
    assert rows[absent.name][1] == "there is no such file"
    rows, _ = load(run_python, FERRULE_BACKEND_PATH=joined(tmp_path / "absent.txt", tmp_path / "a"))
    assert rows["absent.txt"] == ("error", "there is no such file")
    assert rows["a"] == ("error", "it is a folder; FERRULE_BACKEND_DIR takes folders")
    assert "libferrule-t_beside.so" not in rows
    assert "loaded" in {state for name, (state, _) in rows.items() if "cpu" in name}


def test_backend_path_is_the_first_root_also_under_dirs(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    named = put_module(tmp_path / "named", "t_pair-named")
    put_module(tmp_path / "dirs", "t_pair-best", rank=100)
    rows, _ = load(run_python, f"dirs=[{str(tmp_path / 'dirs')!r}]", FERRULE_BACKEND_PATH=named)
    assert {name: state for name, (state, _) in rows.items()} == {
        "libferrule-t_pair-named.so": "loaded",
        "libferrule-t_pair-best.so": "outranked",
    }
    assert "opened t_pair-best" not in notes()


def test_backend_dir_is_a_list_of_folders_in_their_order(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    put_module(tmp_path / "a", "t_pair-a", rank=1)
    put_module(tmp_path / "b", "t_pair-b", rank=2)
    put_module(tmp_path / "b", "t_other")
    absent = tmp_path / "absent"
    folders = joined("", absent, tmp_path / "a", "", tmp_path / "b", "")
    rows, roots = load(run_python, FERRULE_BACKEND_DIR=folders)
    states = {name: state for name, (state, _) in rows.items() if "t_" in name}
    assert states == {
        "libferrule-t_pair-a.so": "loaded",
        "libferrule-t_pair-b.so": "outranked",
        "libferrule-t_other.so": "loaded",
    }
    assert list(roots)[:3] == [str(absent), str(tmp_path / "a"), str(tmp_path / "b")]
    assert roots[str(absent)] == "there is no such folder"
    assert "opened t_pair-b" not in notes()
    assert "loaded" in {state for name, (state, _) in rows.items() if "cpu" in name}


def test_dirs_replace_the_default_roots(run_python: Run, notes: Notes, put_module: Put, tmp_path: Path) -> None:
    put_module(tmp_path / "variable", "t_variable")
    put_module(tmp_path / "named", "t_named")
    rows, roots = load(run_python, f"dirs=[{str(tmp_path / 'named')!r}]", FERRULE_BACKEND_DIR=tmp_path / "variable")
    assert rows.keys() == {"libferrule-t_named.so"}
    assert roots.keys() == {str(tmp_path / "named")}
    assert "opened t_variable" not in notes()
    assert load(run_python, "dirs=[]") == ({}, {})


def test_default_roots_can_be_among_dirs(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    put_module(tmp_path / "variable", "t_variable")
    put_module(tmp_path / "named", "t_named")
    rows, roots = load(
        run_python,
        f"dirs=[{str(tmp_path / 'named')!r}, fe.default_roots]",
        FERRULE_BACKEND_DIR=tmp_path / "variable",
    )
    loaded = {name for name, (state, _) in rows.items() if state == "loaded"}
    assert {"libferrule-t_named.so", "libferrule-t_variable.so"} < loaded
    assert any("cpu" in name for name in loaded)
    assert list(roots)[:2] == [str(tmp_path / "named"), str(tmp_path / "variable")]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems' names are Unicode")
def test_a_folder_whose_name_is_not_utf8_is_searched(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/f\xff"
    put_module(Path(os.fsdecode(folder)), "t_named")
    for variables in ({}, {"FERRULE_BACKEND_PATH": os.fsdecode(folder) + "/no"}):
        rows, _ = load(run_python, f"dirs=[{folder!r}]", **variables)
        assert rows["libferrule-t_named.so"][0] == "loaded"


def test_missing_explicit_folder_is_an_error(run_python: Run) -> None:
    code = "import ferrule as fe\ntry: fe.load_all(dirs=['/no/such/folder'])\nexcept fe.NotFoundError as e: print(e)"
    assert "/no/such/folder" in run_python(code).stdout


@pytest.mark.parametrize("names", ["t_a,CPU", " t_a  cpu ", ",cpu,,T_A,"])
def test_disable_is_a_list_of_names(run_python: Run, notes: Notes, put_module: Put, tmp_path: Path, names: str) -> None:
    put_module(tmp_path / "dir", "t_a", rank=1)
    put_module(tmp_path / "dir", "t_b", rank=1)
    rows, _ = load(run_python, FERRULE_BACKEND_DIR=tmp_path / "dir", FERRULE_DISABLE=names)
    assert {name for name, (state, _) in rows.items() if state == "loaded"} == {"libferrule-t_b.so"}
    assert rows["libferrule-t_a.so"] == ("disabled", "FERRULE_DISABLE names it")
    assert "opened t_a" not in notes()


def test_only_is_a_list_of_names(run_python: Run, notes: Notes, put_module: Put, tmp_path: Path) -> None:
    put_module(tmp_path / "dir", "t_a", rank=1)
    put_module(tmp_path / "dir", "t_b", rank=1)
    rows, _ = load(run_python, FERRULE_BACKEND_DIR=tmp_path / "dir", FERRULE_ONLY="T_B, cuda")
    assert {name for name, (state, _) in rows.items() if state == "loaded"} == {"libferrule-t_b.so"}
    assert {state for state, _ in rows.values()} == {"loaded", "disabled"}
    rows, _ = load(run_python, "only=['t_b']", FERRULE_BACKEND_DIR=tmp_path / "dir")
    assert {name for name, (state, _) in rows.items() if state == "loaded"} == {"libferrule-t_b.so"}
    assert "opened t_a" not in notes()


VARIABLES = (
    *("FERRULE_BACKEND_PATH", "FERRULE_BACKEND_DIR", "FERRULE_DISABLE", "FERRULE_ONLY", "FERRULE_AUTOLOAD"),
    *("FERRULE_LOG", "FERRULE_THREADS", "FERRULE_NULL_FAULT", "FERRULE_NULL_SLOW_MS"),
)


def test_empty_variables_are_unset(run_python: Run, null_module: Path) -> None:
    code = (
        "import ferrule as fe\n"
        "assert fe.ones(3).sum().item() == 3\n"
        f"fe.load({str(null_module)!r}); fe.device('null').open()\n"
        "print([b.name for b in fe.backends()], [str(r.path).rsplit('/')[-1] for r in fe.load_all().roots])"
    )
    done = run_python(code, **dict.fromkeys(VARIABLES, ""))
    assert (done.stdout, done.stderr) == ("['cpu', 'null'] ['backends']\n", "")


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or os.geteuid() != 0, reason="only root on Linux can hide /proc"
)
def test_modules_are_probed_where_proc_is_not_mounted(run_python: Run, tmp_path: Path) -> None:
    hide = (
        "import ctypes, sys\n"
        "c = ctypes.CDLL(None)\n"
        "new_mounts, private, recursive = 0x20000, 1 << 18, 1 << 14\n"
        "if c.unshare(new_mounts) or c.mount(b'none', b'/', None, private | recursive, None):\n"
        "    print('refused'); sys.exit()\n"
        "assert c.mount(b'none', b'/proc', b'tmpfs', 0, None) == 0\n"
    )
    use = "import ferrule as fe; fe.load_all(probe='always'); print(fe.ones(2).tolist())"
    printed = run_python(hide + use, FERRULE_CACHE_DIR=tmp_path / "cache").stdout.split("\n")[0]
    if printed == "refused":
        pytest.skip("the container does not allow mounts")
    assert printed == "[1.0, 1.0]"
