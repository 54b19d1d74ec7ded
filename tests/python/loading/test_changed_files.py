"""Installations whose files other tools changed, or that find another libferrule."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the tools and variables are those of Linux")

PROGRAM = """
import json, ferrule as fe
row = next(row for row in fe.load_all({arguments}).candidates if row.state != "outranked")
print(json.dumps([fe.__file__, row.state, row.reason, row.probed, row.notes]))
assert row.state != "loaded" or (fe.ones(2) + 1).tolist() == [2, 2]
"""
NOTE = "the file was changed after its manifest was written, as by strip or patchelf; its code was not"


@pytest.fixture
def site(package: Path, tmp_path: Path) -> Path:
    shutil.copytree(package, tmp_path / "site" / "ferrule", ignore=shutil.ignore_patterns("__pycache__", "testing"))
    return tmp_path / "site"


def loaded(run_python: Run, site: Path, arguments: str = "probe='auto'", **variables: object) -> list[Any]:
    import json

    found: list[Any] = json.loads(run_python(PROGRAM.format(arguments=arguments), PYTHONPATH=site, **variables).stdout)
    assert found[0] == str(site / "ferrule" / "__init__.py")
    return found[1:]


def other_version(site: Path, to: Path) -> Path:
    """A libferrule whose version is 0.0.7."""
    data = (site / "ferrule" / "libferrule.so").read_bytes()
    to.mkdir()
    (to / "libferrule.so").write_bytes(data.replace(b"\x000.1.0\x00", b"\x000.0.7\x00"))
    return to


def modules(site: Path) -> list[Path]:
    return sorted((site / "ferrule" / "backends").glob("*.so"))


@pytest.mark.parametrize("change", ["--add-section=.more=/bin/true", "--remove-section=.comment", "--strip-all"])
def test_modules_that_a_tool_rewrote_are_loaded_after_a_probe(
    run_python: Run, site: Path, tmp_path: Path, change: str
) -> None:
    for file in site.rglob("*.so"):
        subprocess.run(["objcopy", change, str(file)], check=True)
    state, reason, probed, notes = loaded(run_python, site, FERRULE_CACHE_DIR=tmp_path / "cache")
    assert (state, reason) == ("loaded", "")
    assert (probed, notes) in [("yes", [NOTE]), ("no", [])]  # it may have nothing to strip
    state, reason, _, _ = loaded(run_python, site, "trust='manifest-hash'")
    assert state == ("error" if notes else "loaded"), reason


def test_modules_whose_code_was_changed_are_refused(run_python: Run, site: Path) -> None:
    for file in modules(site):
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(data)
    state, reason, _, _ = loaded(run_python, site)
    assert (state, reason.partition(":")[0]) == ("error", "its SHA-256 is not the one in its manifest")


@pytest.mark.parametrize("keeps_run_path", [True, False])
def test_own_libferrule_comes_before_that_of_the_library_path(
    run_python: Run, site: Path, tmp_path: Path, keeps_run_path: bool
) -> None:
    if not keeps_run_path:  # as patchelf --set-rpath
        [extension] = (site / "ferrule").glob("_ferrule.*.so")
        extension.write_bytes(extension.read_bytes().replace(b"$ORIGIN\0", b"/absent\0"))
    others = [other_version(site, tmp_path / "other"), tmp_path / "empty"]
    others[1].mkdir()
    (others[1] / "libferrule.so").write_bytes(b"no library")
    for other in others:
        assert loaded(run_python, site, "probe='always'", LD_LIBRARY_PATH=other)[:3] == ["loaded", "", "yes"]


def test_another_version_in_the_process_is_named(run_python: Run, site: Path, tmp_path: Path) -> None:
    other = other_version(site, tmp_path / "other") / "libferrule.so"
    code = f"import ctypes; ctypes.CDLL({str(other)!r})\ntry: import ferrule\nexcept ImportError as e: print(e)"
    said = run_python(code, PYTHONPATH=site).stdout
    assert f"it needs the libferrule beside it, and finds {other}, which another program installed" in said
    assert "it is of version 0.1.0, and the libferrule of this process is of version 0.0.7" in said
