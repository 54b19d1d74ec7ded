"""A cache folder in any state: loading may be slower, but its results and messages are the same."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hostile_modules.catalogue import hostile_module_named
from hostile_modules.hostile_module import Place
from hostile_modules.load_runner import LoadResult, LoadRunner
from hostile_modules.public_folder import NOBODY, public_folder


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


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 20)


def grow(path: Path) -> None:
    os.truncate(path, 200 << 20)


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
        pytest.param(break_with(b"\xff\x00rubbish" * 999), id="rubbish"),
        pytest.param(break_with(b"[" * 60_000), id="nested"),
        pytest.param(cut, id="cut"),
        pytest.param(flip, id="one bit"),
        pytest.param(grow, id="200 MB"),
        pytest.param(replace_with(os.mkfifo), id="fifo"),
        pytest.param(replace_with(os.mkdir), id="folder"),
        pytest.param(replace_with(lambda path: os.symlink("/dev/zero", path)), id="device"),
        pytest.param(replace_with(lambda path: os.symlink(path, path)), id="loop"),
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


def file_at(path: Path) -> None:
    path.write_text("no folder")


def dangling_at(path: Path) -> None:
    path.symlink_to("nowhere/at/all")


def open_to_all_at(path: Path) -> None:
    path.mkdir()
    path.chmod(0o777)


@pytest.mark.parametrize("make", [file_at, dangling_at, open_to_all_at, os.mkfifo])
def test_cache_folder_that_is_not_private_is_not_used(
    runner: LoadRunner, folder: Path, make: Callable[[Path], object]
) -> None:
    make(runner.cache)
    check(runner.load(folder), "yes")
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


def test_cache_under_a_file_size_limit_is_not_used(runner: LoadRunner, folder: Path) -> None:
    """Every write fails, as on a full disk or over quota."""
    environment = {"HOSTILE_MARKS": "/dev/null"}
    check(runner.load(folder, environment=environment, file_limit=0), "yes")
    check(runner.load(folder, environment=environment), "yes")
    assert not any(path.name.endswith(".unfinished") for path in runner.cache.iterdir())


def fill(path: Path) -> None:
    with contextlib.suppress(OSError), open(path, "wb", buffering=0) as filler:
        while filler.write(bytes(4096)):
            continue


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system without free blocks."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=8k,mode=0700", "small", str(disk)]
    if os.getuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root may mount a file system here")
    try:
        (disk / "cache").mkdir(mode=0o700)
        fill(disk / "filler")
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_cache_on_a_full_disk_is_not_used(runner: LoadRunner, folder: Path, full_disk: Path) -> None:
    environment = {"FERRULE_CACHE_DIR": str(full_disk / "cache")}
    check(runner.load(folder, environment=environment), "yes")
    check(runner.load(folder, environment=environment), "yes")
    assert list((full_disk / "cache").iterdir()) == [], "not even an empty file"


@pytest.mark.skipif(os.getuid() != 0, reason="root may become somebody else")
@pytest.mark.parametrize("owner", [0, NOBODY])
def test_a_read_only_cache_is_not_used(owner: int) -> None:
    """The cache folder is not writable, whoever owns it."""
    with public_folder() as public:
        modules = public / "modules"
        modules.mkdir()
        put_both(modules)
        runner = LoadRunner(public / "home")
        runner.cache.mkdir(parents=True)
        runner.home.chmod(0o777)
        runner.cache.chmod(0o555)
        os.chown(runner.cache, owner, owner)
        check(runner.load(modules, user=NOBODY), "yes")
        check(runner.load(modules, user=NOBODY), "yes")
        assert list(runner.cache.iterdir()) == []
