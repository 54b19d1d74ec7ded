"""ferrule works wherever pip or a person puts it, and says what is wrong where it cannot work."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from backend_wheels import (
    Environment,
    hashes_in,
    make_environment,
    needed_by,
    without_settings,
)
from packaging.requirements import Requirement

from tools.wheels import DIST

# Prints what is loaded, and a result.
PROGRAM = """
import ferrule as fe, numpy as np
report = fe.load_all()
x = fe.asarray(np.arange(12, dtype="float32").reshape(3, 4))
assert np.array_equal(np.asarray(x @ x.mT), np.arange(12).reshape(3, 4) @ np.arange(12).reshape(3, 4).T)
print(x.device)
print(*[row.path for row in report if row.state == "loaded" and row.name == "cpu"])
"""


def run(
    python: Path | str, *, path: Path | str = "", program: str = PROGRAM, **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run a program with the packages of a folder before all others."""
    if path:
        variables["PYTHONPATH"] = str(path)
    command = [str(python), "-B", "-c", program]
    return subprocess.run(command, env=without_settings() | variables, capture_output=True, text=True, cwd="/")


def loaded(ended: subprocess.CompletedProcess[str]) -> Path:
    """The CPU module that was loaded."""
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    device, module = ended.stdout.splitlines()
    assert device == "cpu:0"
    return Path(module)


def pip_install(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-index"]
    subprocess.run([*command, "--find-links", DIST, "--no-deps", "--ignore-installed", *arguments], check=True)


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with ferrule and a backend's wheel, by `pip install --target`."""
    folder = tmp_path_factory.mktemp("target")
    pip_install("--target", folder, "ferrule", "ferrule-vulkan")
    return folder


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment's Python, with what ferrule needs and without ferrule."""
    folder = tmp_path_factory.mktemp("bare")
    python, _ = make_environment(folder, needed_by("ferrule"))
    return python


def test_folder_that_pip_was_given(target: Path, bare: Path) -> None:
    assert loaded(run(bare, path=target)).parent == target / "ferrule" / "backends"
    paths = "import ferrule as fe; print(*[row.path for row in fe.load_all().candidates if row.name == 'vulkan'])"
    shown = run(bare, path=target, program=paths).stdout
    assert shown == f"{target / 'ferrule_backends' / 'vulkan' / 'libferrule-vulkan.so'}\n"


def test_folder_with_spaces_and_letters_of_several_alphabets(tmp_path: Path) -> None:
    folder = tmp_path / "mit Leerzeichen, größe 測試 \N{SNOWMAN}"
    environment = Environment(folder)
    assert loaded(run(environment.python)).is_relative_to(folder)
    # With the C locale, too: names of files are bytes there, and Python reads them as UTF-8.
    assert loaded(run(environment.python, LC_ALL="C")).is_relative_to(folder)


def test_environment_that_is_moved(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "first")
    cache = str(tmp_path / "cache")
    assert loaded(run(environment.python, FERRULE_CACHE_DIR=cache)).is_relative_to(tmp_path / "first")
    (tmp_path / "first").rename(tmp_path / "second")
    moved = tmp_path / "second" / environment.python.relative_to(tmp_path / "first")
    assert loaded(run(moved, FERRULE_CACHE_DIR=cache)).is_relative_to(tmp_path / "second")


def test_prefix_that_is_no_environment(tmp_path: Path, bare: Path) -> None:
    """As conda has: lib/python3.x/site-packages of a folder without pyvenv.cfg."""
    pip_install("--prefix", tmp_path, "ferrule")
    [site] = tmp_path.glob("lib*/python*/site-packages")
    assert loaded(run(bare, path=site)).is_relative_to(site)
    script = (tmp_path / "bin" / "ferrule").read_text().splitlines()[0]
    assert script.startswith("#!")


def test_folder_that_nobody_may_write(tmp_path: Path, bare: Path) -> None:
    """Root may write anywhere, so the files are compared, too. There is no folder for the cache either."""
    pip_install("--target", tmp_path, "ferrule")
    before = hashes_in(tmp_path)
    for folder, _, files in os.walk(tmp_path):
        for name in files:
            Path(folder, name).chmod(0o555 if os.access(Path(folder, name), os.X_OK) else 0o444)
        Path(folder).chmod(0o555)
    ended = run(bare, path=tmp_path, HOME="/nonexistent", XDG_CACHE_HOME="/nonexistent/cache")
    for folder, _, _ in os.walk(tmp_path):
        Path(folder).chmod(0o755)
    assert loaded(ended).is_relative_to(tmp_path)
    assert hashes_in(tmp_path) == before


def why_not_imported(python: Path, path: Path) -> str:
    ended = run(python, path=path, program="import ferrule")
    assert ended.returncode == 1
    return ended.stderr.splitlines()[-1].removeprefix("ImportError: ")


def test_zip_file(target: Path, bare: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "packages"), "zip", target))
    said = why_not_imported(bare, archive)
    assert said.startswith(f"ferrule cannot be imported from '{archive}/ferrule', which is no folder")
    assert said.endswith("Install ferrule into a folder, as `pip install --target FOLDER ferrule` does")


def test_extension_of_another_python(target: Path, bare: Path, tmp_path: Path) -> None:
    shutil.copytree(target, tmp_path, dirs_exist_ok=True)
    [extension] = (tmp_path / "ferrule").glob("_ferrule.cpython-*.so")
    extension.rename(extension.with_name("_ferrule.cp399-win_amd64.pyd"))
    said = why_not_imported(bare, tmp_path)
    assert (
        "is for another Python or another system: it has _ferrule.cp399-win_amd64.pyd, and this is cpython 3." in said
    )
    (tmp_path / "ferrule" / "_ferrule.cp399-win_amd64.pyd").unlink()
    assert "it is ferrule's source tree, or an incomplete copy of an installation" in why_not_imported(bare, tmp_path)


def test_libferrule_is_missing(target: Path, bare: Path, tmp_path: Path) -> None:
    shutil.copytree(target, tmp_path, dirs_exist_ok=True)
    (tmp_path / "ferrule" / "libferrule.so").unlink()
    (tmp_path / "ferrule" / "_ferrule.cp399-win_amd64.pyd").touch()  # a copy over that of another Python leaves it
    said = why_not_imported(bare, tmp_path)
    assert said.startswith(f"ferrule's extension in '{tmp_path}/ferrule' cannot be opened: libferrule.so")


AGAIN = "Install ferrule with the pip of this Python"
AARCH64, X86_64 = (0xB7).to_bytes(2, "little"), (0x3E).to_bytes(2, "little")


def test_extension_of_another_machine(target: Path, bare: Path, tmp_path: Path) -> None:
    shutil.copytree(target, tmp_path, dirs_exist_ok=True)
    [extension] = (tmp_path / "ferrule").glob("_ferrule.cpython-*.so")
    data = bytearray(extension.read_bytes())
    data[18:20] = AARCH64 if data[18:20] == X86_64 else X86_64
    extension.write_bytes(data)
    assert f"it is for another machine, and this is {os.uname().machine}. {AGAIN} (" in why_not_imported(bare, tmp_path)


def test_extension_of_another_c_library(target: Path, bare: Path, tmp_path: Path) -> None:
    shutil.copytree(target, tmp_path, dirs_exist_ok=True)
    [extension] = (tmp_path / "ferrule").glob("_ferrule.cpython-*.so")
    data = extension.read_bytes()
    extension.write_bytes(data.replace(b"\0libc.so.6\0", b"\0libc.so\0\0\0"))
    said = why_not_imported(bare, tmp_path)
    assert f"it is for Linux with the C library musl, and this Python uses gnu. {AGAIN} (" in said


def test_folder_of_backends_that_cannot_be_read(target: Path, bare: Path) -> None:
    """As root that installs with umask 077 leaves it. Root may read anything, so the fault is planted."""
    planted = """
import os
list_folder = os.scandir
def refuse(path):
    if str(path).endswith("ferrule_backends"): raise PermissionError(13, "Permission denied", path)
    return list_folder(path)
os.scandir = refuse
"""
    roots = "print(*[root.path for root in report.roots])\n"
    ended = run(bare, path=target, program=planted + PROGRAM + roots)
    assert ended.returncode == 0, ended.stderr
    device, _, searched = ended.stdout.splitlines()
    assert device == "cpu:0"
    assert str(target / "ferrule_backends") in searched.split()


def test_backends_beside_the_package_come_first(target: Path, tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule-vulkan")
    program = "import ferrule as fe; print(*[row.path for row in fe.load_all().candidates if row.name == 'vulkan'])"
    paths = run(environment.python, path=target, program=program).stdout.split()
    places = [target, environment.site]
    assert paths == [str(place / "ferrule_backends/vulkan/libferrule-vulkan.so") for place in places]


def test_lost_and_damaged_files_are_brought_back(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule-vulkan")
    module = environment.site / "ferrule_backends" / "vulkan" / "libferrule-vulkan.so"
    remedy = "Install it again: pip install --force-reinstall --no-deps "

    def advice() -> str:
        return " ".join(run_doctor(environment).stdout.split())

    module.write_bytes(module.read_bytes()[:100_000])
    assert f"{remedy}ferrule-vulkan" in advice()
    module.unlink()
    assert environment.run("import ferrule as fe; print(fe.explain('vulkan'))").endswith(
        f"ferrule-vulkan is installed, but its module is not there. {remedy}ferrule-vulkan\n"
    )
    environment.pip("install", "--force-reinstall", "--no-deps", "ferrule-vulkan")
    assert module.exists()
    probe = environment.site / "ferrule" / "bin" / "ferrule-probe"
    probe.chmod(0o644)
    assert "ferrule-probe is not beside libferrule, or may not be executed" in advice()
    shutil.rmtree(environment.site / "ferrule" / "backends")
    assert f"There is no module for the CPU, which ferrule has in {environment.site}" in advice()


def run_doctor(environment: Environment) -> subprocess.CompletedProcess[str]:
    command = [str(environment.python), "-m", "ferrule", "doctor"]
    variables = {"FERRULE_CACHE_DIR": str(environment.site.parent / "cache"), "COLUMNS": "1000"}
    return subprocess.run(command, env=without_settings() | variables, capture_output=True, text=True, cwd="/")


BACKENDS_OF_SYSTEMS = {
    ("linux", "x86_64"): {"ferrule-cuda", "ferrule-vulkan"},
    ("linux", "aarch64"): {"ferrule-vulkan"},
    ("win32", "AMD64"): {"ferrule-vulkan"},
    ("darwin", "arm64"): {"ferrule-vulkan", "ferrule-metal"},
    ("darwin", "x86_64"): {"ferrule-vulkan"},
}


@pytest.mark.parametrize("system", BACKENDS_OF_SYSTEMS, ids=" ".join)
def test_extras_install_the_backends_that_the_system_can_have(system: tuple[str, str]) -> None:
    variables = {"sys_platform": system[0], "platform_machine": system[1]}
    requirements = [Requirement(line) for line in importlib.metadata.requires("ferrule") or []]

    def of_extra(extra: str) -> set[str]:
        found: set[str] = set()
        for each in requirements:
            if each.marker is None or not each.marker.evaluate({"extra": extra, **variables}):
                continue
            if each.name == "ferrule":  # of the extra "all"
                found = found.union(*map(of_extra, each.extras))
            elif each.marker.evaluate({"extra": "", **variables}) is False:
                found.add(each.name)
        return found

    assert of_extra("all") == BACKENDS_OF_SYSTEMS[system]
    assert of_extra("cuda") == BACKENDS_OF_SYSTEMS[system] & {"ferrule-cuda"}
    assert of_extra("metal") == BACKENDS_OF_SYSTEMS[system] & {"ferrule-metal"}
    assert of_extra("cpu") == set()


def test_all_extras_resolve(tmp_path: Path) -> None:
    """On Linux; the wheels of the other systems are those of BACKENDS_OF_SYSTEMS."""
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule[cpu,cuda,vulkan,metal]")
    names = {path.name.partition("-")[0] for path in environment.site.glob("ferrule*.dist-info")}
    assert names == {"ferrule", "ferrule_cuda", "ferrule_vulkan"}
    environment.pip("install", "ferrule[all]")
