"""`pip install ferrule[<backend>]` adds one folder and changes no file; uninstalling removes all of it."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest
from backend_wheels import BACKENDS, DIST, Environment, hashes_in, need_wheels, wheel_of
from installed import SYSTEM_LIBRARIES, exported, finalizes_when_unloaded, needed, runs_code_when_opened

PROJECTS = [DIST.parent / "wheels" / name for name in BACKENDS]


@pytest.mark.parametrize(
    "arguments",
    [("ferrule-vulkan",), ("ferrule[vulkan]",), ("ferrule[cpu,cuda]",), ("-q", "ferrule[all]"), ("ferrule-cuda==0.1",)],
)
def test_a_missing_wheel_skips_the_test_unless_wheels_are_required(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("backend_wheels.DIST", tmp_path)
    need_wheels("ferrule", "pip", "--no-deps", tmp_path / "ferrule-vulkan", "ferrule[cpu,testing]")
    monkeypatch.delenv("FERRULE_REQUIRE_WHEELS", raising=False)
    with pytest.raises(pytest.skip.Exception, match=r"has no wheel of ferrule_\w+: run ./dev wheels"):
        need_wheels(*arguments)
    monkeypatch.setenv("FERRULE_REQUIRE_WHEELS", "1")
    with pytest.raises(pytest.fail.Exception, match=r"has no wheel of ferrule_\w+: run ./dev wheels"):
        need_wheels(*arguments)


def test_continuous_integration_requires_wheels() -> None:
    exports = re.findall(r"^export (.*)$", (DIST.parent / ".ci" / "run").read_text(), re.MULTILINE)
    assert any("FERRULE_REQUIRE_WHEELS=1" in line.split() for line in exports)


def test_wheels_are_built_here_for_the_backends_that_this_system_can_have() -> None:
    settings = {file.parent.name: file.read_text() for file in (DIST.parent / "csrc" / "backends").glob("*/dev.sh")}
    left_out = {name for name, text in settings.items() if re.search(rf"^no_wheel_here\[{name}\]=", text, re.MULTILINE)}
    every = {project.parent.name for project in (DIST.parent / "wheels").glob("*/pyproject.toml")}
    assert set(BACKENDS) == every - left_out


@pytest.mark.parametrize("name", BACKENDS)
def test_the_wheel_holds_one_folder(name: str) -> None:
    with zipfile.ZipFile(wheel_of(f"ferrule_{name}")) as archive:
        tops = {file.split("/")[0] for file in archive.namelist()}
        folders = {"/".join(file.split("/")[:2]) for file in archive.namelist() if file.startswith("ferrule_backends/")}
    [information] = tops - {"ferrule_backends"}
    assert information.endswith(".dist-info")
    assert folders == {f"ferrule_backends/{name}"}


@pytest.mark.parametrize("project", PROJECTS, ids=BACKENDS)
def test_the_wheel_has_its_licences(project: Path) -> None:
    with zipfile.ZipFile(wheel_of(f"ferrule_{project.name}")) as archive:
        licenses = {
            file.split(".dist-info/licenses/")[1]: archive.read(file)
            for file in archive.namelist()
            if ".dist-info/licenses/" in file
        }
    assert licenses.pop("LICENSE") == (DIST.parent / "LICENSE").read_bytes()
    assert licenses
    assert licenses == {f"licenses/{file.name}": file.read_bytes() for file in (project / "licenses").iterdir()}


@pytest.fixture(params=BACKENDS)
def module(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The module of each wheel."""
    with zipfile.ZipFile(wheel_of(f"ferrule_{request.param}")) as archive:
        return Path(archive.extract(f"ferrule_backends/{request.param}/libferrule-{request.param}.so", tmp_path))


def test_the_module_needs_only_the_system_and_exports_only_its_entries(module: Path) -> None:
    assert needed(module) <= SYSTEM_LIBRARIES
    assert {name for name in exported(module) if not name.startswith("ferrule_backend_")} == set()


def test_opening_the_module_runs_no_code(module: Path) -> None:
    assert not runs_code_when_opened(module)


def test_the_unloaded_module_runs_its_destructors(module: Path) -> None:
    assert finalizes_when_unloaded(module)


@pytest.mark.parametrize("name", ["ferrule", *(f"ferrule_{name}" for name in BACKENDS)])
def test_the_wheel_runs_on_old_systems(name: str) -> None:
    minor = re.search(r"-manylinux_2_(\d+)_", wheel_of(name).name)
    assert minor
    assert int(minor[1]) <= 28


@pytest.mark.parametrize("name", BACKENDS)
def test_no_file_names_a_folder_of_the_machine_that_built_it(name: str) -> None:
    folders = [f"{DIST.parent}/".encode(), f"{Path.home()}/.".encode()]
    with zipfile.ZipFile(wheel_of(f"ferrule_{name}")) as archive:
        contents = {file: archive.read(file) for file in archive.namelist()}
    assert {file for file, content in contents.items() if any(folder in content for folder in folders)} == set()


@pytest.mark.parametrize("name", BACKENDS)
def test_installing_adds_one_folder_changes_nothing_and_can_be_undone(name: str, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    before = hashes_in(environment.site)
    assert any(file.startswith("ferrule/libferrule") for file in before)
    environment.pip("install", f"ferrule[{name}]")
    after = hashes_in(environment.site)
    assert {file: after.get(file) for file in before} == before
    added = after.keys() - before.keys()
    tops = {
        "/".join(file.split("/")[:2]) if file.startswith("ferrule_backends") else file.split("/")[0] for file in added
    }
    [information] = tops - {f"ferrule_backends/{name}"}
    assert information.startswith(f"ferrule_{name}-")
    assert information.endswith(".dist-info")

    # The module's own driver may be missing.
    program = f"import ferrule as fe; print(*[row.path for row in fe.load_all().candidates if row.name == '{name}'])"
    assert environment.run(program) == f"{environment.site / 'ferrule_backends' / name / f'libferrule-{name}.so'}\n"
    assert hashes_in(environment.site) == after, "using it writes nothing there"

    environment.pip("uninstall", f"ferrule-{name}")
    assert hashes_in(environment.site) == before
    assert not (environment.site / "ferrule_backends" / name).exists()
    # Without the package, loading works and does not list the backend.
    assert name not in environment.run("import ferrule as fe; fe.load_all(); print(fe.backends())")
