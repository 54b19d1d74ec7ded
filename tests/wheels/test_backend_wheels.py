"""`pip install ferrule[<backend>]` adds one folder and changes no file; uninstalling removes all of it."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from backend_wheels import BACKENDS, Environment, hashes_in
from installed import ROOT

from tools.wheels import THIS_PLATFORM, find

PROJECTS = [ROOT / "wheels" / name for name in BACKENDS]


@pytest.mark.parametrize("project", PROJECTS, ids=BACKENDS)
def test_the_wheel_has_its_licences(project: Path) -> None:
    [wheel] = find(f"ferrule_{project.name}", THIS_PLATFORM)
    with zipfile.ZipFile(wheel) as archive:
        licenses = {
            file.split(".dist-info/licenses/")[1]: archive.read(file)
            for file in archive.namelist()
            if ".dist-info/licenses/" in file
        }
    assert licenses.pop("LICENSE") == (ROOT / "LICENSE").read_bytes()
    assert licenses
    assert licenses == {f"licenses/{file.name}": file.read_bytes() for file in (project / "licenses").iterdir()}


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
