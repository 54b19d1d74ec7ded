"""Arbitrary file names, one file under two names, and reasons for missing devices."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

BACKENDS = Path(__file__).resolve().parents[3] / "csrc" / "backends"
Run = Callable[..., Any]
Put = Callable[..., Path]
Notes = Callable[[], list[str]]


@pytest.mark.parametrize("use", ["fe.devices()", "fe.device('t_mine')", "fe.best_device()", "fe.ones(3)"])
def test_first_use_after_load_loads_the_rest_once(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path, use: str
) -> None:
    mine = put_module(tmp_path / "mine", "t_mine", "TEST_KIND=FE_DEVICE_GPU")
    put_module(tmp_path / "named", "t_rest")
    code = (
        f"import ferrule as fe; fe.load({str(mine)!r})\n"
        "assert [b.name for b in fe.backends()] == ['t_mine'], 'load itself loads one'\n"
        f"{use}\n"
        "assert sorted(b.name for b in fe.backends()) == ['cpu', 't_mine', 't_rest']\n"
        "assert str(fe.device('t_mine')) == str(fe.device('gpu')) == 't_mine:0'\n"
        "fe.unload('t_rest')\n"
        "try: fe.device('t_rest')\n"
        "except fe.NotFoundError: pass\n"
        "else: raise AssertionError('it was loaded a second time')"
    )
    run_python(code, FERRULE_BACKEND_DIR=tmp_path / "named")
    assert notes().count("opened t_rest") == 1


@pytest.mark.parametrize("name", ["a_mine", "t_mine"])
def test_a_backend_for_the_cpu_that_is_loaded_first_does_not_take_its_place(
    run_python: Run, put_module: Put, tmp_path: Path, name: str
) -> None:
    """Also where its name comes before "cpu"; FERRULE_PREFER makes it the default."""
    mine = put_module(tmp_path / "mine", name, "TEST_KIND=FE_DEVICE_CPU")
    code = (
        f"import ferrule as fe; fe.load({str(mine)!r})\n"
        "print(fe.zeros(1, device='cpu').device, fe.default_device(), fe.devices()[0], fe.exp(fe.zeros(1)).item())"
    )
    assert run_python(code).stdout == "cpu:0 cpu:0 cpu:0 1.0\n"
    preferred = run_python(code.replace(", fe.exp(fe.zeros(1)).item()", ""), FERRULE_PREFER=name).stdout
    assert preferred == f"cpu:0 {name}:0 {name}:0\n"


@pytest.mark.parametrize(
    ("first", "use"),
    [
        ("fe.load(mine)", "fe.ones(3)"),
        ("fe.load(mine)", "fe.best_device()"),
        ("fe.load(mine); fe.unload('t_mine')", "fe.device('cpu')"),
        ("fe.refresh()", "fe.asarray([1])"),
    ],
)
def test_earlier_loads_do_not_prevent_autoload_of_the_rest(
    run_python: Run, put_module: Put, tmp_path: Path, first: str, use: str
) -> None:
    mine = put_module(tmp_path / "mine", "t_mine")
    run_python(f"import ferrule as fe; mine = {str(mine)!r}\n{first}\n{use}\nassert str(fe.device('cpu')) == 'cpu:0'")


def test_disabled_autoload_stays_disabled_after_load(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    mine = put_module(tmp_path / "mine", "t_mine")
    code = (
        f"import ferrule as fe; fe.load({str(mine)!r})\ntry: fe.device('cpu')\nexcept fe.NotFoundError as e: print(e)"
    )
    assert "there is t_mine:0" in run_python(code, FERRULE_AUTOLOAD="0").stdout


def test_missing_devices_are_explained(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    code = "import ferrule as fe\ntry: {use}\nexcept fe.NotFoundError as e: print(e)\nelse: raise AssertionError"
    for use in ("fe.ones(3)", "fe.device('cpu')", "fe.device('gpu:0')"):
        text = run_python(code.format(use=use), FERRULE_ONLY="cpy").stdout
        assert "there is no device at all: nothing matches FERRULE_ONLY=cpy; found is cpu; did you mean 'cpu'?" in text
    text = run_python(code.format(use="fe.ones(3)"), FERRULE_DISABLE="cpu").stdout
    assert "there is no device at all: cpu is disabled: FERRULE_DISABLE names it" in text
    there_is = "there is null:0, which is used if it is named; FERRULE_DISABLE is 'cpu'"
    assert (
        there_is
        in run_python(code.format(use="fe.ones(3)"), FERRULE_DISABLE="cpu", FERRULE_BACKEND_PATH=null_module).stdout
    )
    assert (
        "nothing has been loaded yet, and FERRULE_AUTOLOAD=0"
        in run_python(code.format(use="fe.ones(3)"), FERRULE_AUTOLOAD="0").stdout
    )
    empty = code.format(use="fe.load_all(dirs=['.']); fe.ones(3)")
    assert "no module was found" in run_python(empty).stdout


def test_a_disabled_name_that_no_backend_has_gives_one_warning(run_python: Run) -> None:
    code = "import ferrule as fe; fe.load_all(); fe.load_all()"
    own = [folder.name for folder in BACKENDS.iterdir() if (folder / "CMakeLists.txt").exists()]
    assert "cpu" in own
    assert run_python(code, FERRULE_DISABLE=",".join(own)).stderr == ""
    warning = "FERRULE_DISABLE names vulcan, but no such backend was found; found: cpu; did you mean 'vulkan'?"
    assert run_python(code, FERRULE_DISABLE="vulcan").stderr.splitlines() == [warning]


def test_closed_backend_is_marked_as_closed(run_python: Run) -> None:
    run_python(
        "import ferrule as fe; fe.load_all(); [b] = fe.backends(); assert b.info['closed'] is False\n"
        "fe.unload(b); assert b.info['closed'] is True; assert b.name == 'cpu'\n"
        "fe.load_all(); assert b.info['closed'] is True; assert fe.backends()[0].info['closed'] is False"
    )


def test_executable_dir_is_that_of_the_running_program(run_python: Run, tmp_path: Path) -> None:
    shown = run_python(
        "import ferrule as fe, pathlib; d = fe.executable_dir(); assert isinstance(d, pathlib.Path); print(d)"
    )
    where = run_python("import os; print(os.path.dirname(os.path.realpath('/proc/self/exe')))")
    assert shown.stdout == where.stdout


def test_a_file_of_any_name_is_loaded_by_its_path(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    module = put_module(tmp_path / "modules", "t_mine")
    os.rename(module, module.with_name("mine.bin"))
    run_python(
        "import ferrule as fe; assert fe.load('modules/mine.bin').name == 't_mine'; fe.device('t_mine')", cwd=tmp_path
    )


def test_one_file_under_two_names_computes_twice(run_python: Run) -> None:
    """For example, to compare the same kernels under different options."""
    run_python(
        "import ferrule as fe, numpy as np\n"
        "fe.load_all(); [own] = fe.backends()\n"
        "other = fe.load(own.path, as_name='other')\n"
        "assert (other.name, other.variant, other.path) == ('other', own.variant, own.path)\n"
        "assert [str(d) for d in fe.devices()] == ['cpu:0', 'other:0']\n"
        "a = np.random.default_rng(5).standard_normal((64, 65)).astype('f4')\n"
        "x, y = fe.asarray(a, device='cpu'), fe.asarray(a, device='other')\n"
        "assert np.array_equal(np.asarray((x @ x.T).sum()), np.asarray((y @ y.T).sum()))\n"
        "del x, y; fe.unload('cpu')\n"
        "assert fe.asarray(a, device='other').sum().device.name == 'other:0'\n"
        "try: fe.load(own.path, as_name='No Name')\n"
        "except fe.InvalidArgumentError: pass\n"
        "else: raise AssertionError"
    )


def test_an_op_that_only_a_cpu_could_compute_says_that_none_is_loaded(
    run_python: Run, put_module: Put, tmp_path: Path
) -> None:
    put_module(tmp_path / "mine", "t_mine", "TEST_KIND=FE_DEVICE_GPU")
    code = "import ferrule as fe; fe.eval(fe.linalg.inv(fe.ones((2, 2), device='t_mine')))"
    done = run_python(code, check=False, FERRULE_BACKEND_DIR=tmp_path / "mine", FERRULE_ONLY="t_mine")
    assert "no CPU backend is loaded that could compute it (load_all loads it)" in done.stderr, done.stderr
