"""Module locations: unusual names, and folders that the process may not read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hostile_modules.catalogue import hostile_module_named
from hostile_modules.hostile_module import Place
from hostile_modules.load_runner import LoadResult, LoadRunner
from hostile_modules.public_folder import NOBODY, public_folder

INNOCENT = "libferrule-innocent.so"
become_somebody_else = pytest.mark.skipif(os.getuid() != 0, reason="root may become somebody else")


def put(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        hostile = hostile_module_named(name)
        hostile.put(Place(hostile, folder))
    return folder


def check_goes_on(result: LoadResult) -> None:
    assert result.reported["cpu_faults"] == []
    assert result.reported["changed"] == {}
    assert result.left == []


@pytest.mark.parametrize(
    "name", ["with spaces", "Lücken und Größen ☃", "quotes ' \" $HOME `id`", "a line\nand another", "-rf", "%s%n{}"]
)
def test_a_folder_may_have_any_name(runner: LoadRunner, tmp_path: Path, name: str) -> None:
    folder = put(tmp_path / name, "innocent", "crash_compile")
    result = runner.load(folder, add_on="innocent")
    assert result.row(INNOCENT)["state"] == "loaded"
    assert Path(result.row(INNOCENT)["path"]) == folder / INNOCENT
    assert result.reported["sum"] == [2, 4, 6]
    bad = result.row("libferrule-crash_compile.so")
    assert (bad["state"], "SIGSEGV" in bad["reason"]) == ("probe_failed", True)
    check_goes_on(result)


@pytest.fixture
def public() -> Iterator[Path]:
    with public_folder() as folder:
        (folder / "home").mkdir()
        (folder / "home").chmod(0o777)
        yield folder


@become_somebody_else
def test_unreadable_folder_is_one_sentence_in_the_report(public: Path) -> None:
    folder = put(public / "modules", "innocent")
    folder.chmod(0o700)
    result = LoadRunner(public / "home").load(folder, user=NOBODY)
    [root] = [root for root in result.reported["report"]["roots"] if root["path"] == str(folder)]
    assert "cannot be read: Permission denied" in root["problem"]
    assert root["candidates"] == 0
    check_goes_on(result)


@become_somebody_else
def test_unreadable_module_is_a_row_in_the_report(public: Path) -> None:
    folder = put(public / "modules", "innocent")
    (folder / INNOCENT).chmod(0o700)
    result = LoadRunner(public / "home").load(folder, user=NOBODY)
    row = result.row(INNOCENT)
    assert (row["state"], row["reason"]) == ("error", "it cannot be read: Permission denied")
    check_goes_on(result)


def test_module_writable_by_others_is_unsafe(runner: LoadRunner, tmp_path: Path) -> None:
    folder = put(tmp_path / "modules", "innocent")
    (folder / INNOCENT).chmod(0o666)
    check_unsafe(runner, folder)


def check_unsafe(runner: LoadRunner, folder: Path) -> None:
    result = runner.load(folder)
    row = result.row(INNOCENT)
    assert row["state"] == "unsafe", row
    assert len(row["reason"]) > 20
    assert runner.marks() == [], "nothing of it may run, not even in a probe"
    check_goes_on(result)
    assert runner.load(folder, trust="any").row(INNOCENT)["state"] == "loaded"
    named = runner.load(folder.parent / "home", environment={"FERRULE_BACKEND_PATH": str(folder / INNOCENT)}).row(
        INNOCENT
    )
    assert named["state"] == "loaded", "who names a file is warned only"
