"""A cache folder in any state: loading may be slower, but its results and messages are the same."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_modules.catalogue import hostile_module_named
from hostile_modules.hostile_module import Place
from hostile_modules.load_runner import LoadResult, LoadRunner


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a bad module and a good one."""
    folder = tmp_path / "modules"
    folder.mkdir()
    put_both(folder)
    return folder


def put_both(folder: Path) -> None:
    for name in ("crash_init", "innocent"):
        hostile = hostile_module_named(name)
        hostile.put(Place(hostile, folder))


def check(result: LoadResult, probed: str) -> None:
    bad, good = result.row("libferrule-crash_init.so"), result.row("libferrule-innocent.so")
    assert (bad["state"], good["state"]) == ("probe_failed", "loaded")
    assert "SIGSEGV" in bad["reason"]
    assert (bad["probed"], good["probed"]) == (probed, probed)
    assert result.reported["cpu_faults"] == []
    assert result.reported["changed"] == {}
    assert result.left == []


def break_with(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)


def replace_with(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def replace(path: Path) -> None:
        path.unlink()
        make(path)

    return replace


@pytest.mark.parametrize(
    "corrupt",
    [
        pytest.param(break_with(b""), id="empty"),
        pytest.param(break_with(b"[" * 60_000), id="nested"),
        pytest.param(flip, id="one bit"),
        pytest.param(replace_with(os.mkfifo), id="fifo"),
        pytest.param(replace_with(lambda path: os.symlink("/dev/zero", path)), id="device"),
    ],
)
def test_corrupted_cache_is_treated_as_empty(
    runner: LoadRunner, folder: Path, corrupt: Callable[[Path], object]
) -> None:
    check(runner.load(folder), "yes")
    entries = list(runner.cache.iterdir())
    assert len(entries) >= 2
    for entry in entries:
        corrupt(entry)
    check(runner.load(folder), "yes")


@pytest.mark.parametrize("named", ["/dev/full", "/proc/nowhere/at/all", "relative/to/what"])
def test_impossible_cache_folder_is_not_used(runner: LoadRunner, folder: Path, named: str) -> None:
    environment = {"FERRULE_CACHE_DIR": named}
    first = runner.load(folder, environment=environment)
    check(first, "yes")
    assert "FERRULE_CACHE_DIR" in first.printed
    assert first.printed.count("nothing is cached") == 1
    check(runner.load(folder, environment=environment), "yes")
    assert list((runner.home / "here").iterdir()) == []
