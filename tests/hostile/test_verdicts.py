"""Verdicts of probes: of a file that is replaced, of processes that probe at once, of many modules in one folder."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hostile_modules.catalogue import hostile_module_named
from hostile_modules.hostile_module import HostileModule, Place, compile_module
from hostile_modules.load_runner import LoadRunner, load_together

Put = Callable[[str], HostileModule]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "modules").mkdir()
    return tmp_path / "modules"


@pytest.fixture
def put(folder: Path) -> Put:
    def put(name: str) -> HostileModule:
        hostile = hostile_module_named(name)
        hostile.put(Place(hostile, folder))
        return hostile

    return put


def test_changed_file_under_the_same_name_is_probed_again(runner: LoadRunner, folder: Path, put: Put) -> None:
    bad = put("crash_init")
    assert runner.load(folder).row(bad.file)["state"] == "probe_failed"
    compile_module(HostileModule("crash_init", "loaded"), folder / "good")
    (folder / "good").rename(folder / bad.file)
    assert runner.load(folder).row(bad.file)["state"] == "loaded"


def test_many_processes_at_once_get_the_same_verdict(runner: LoadRunner, folder: Path, put: Put) -> None:
    bad, good = put("crash_init"), put("innocent")
    homes = [runner.home / f"user{i}" for i in range(6)]
    for home in homes:
        home.mkdir()
    results = load_together([LoadRunner(home) for home in homes], folder, {"FERRULE_CACHE_DIR": str(runner.cache)})
    for result in results:
        assert result.left == []
        assert result.reported["cpu_faults"] == []
        assert [result.row(hostile.file)["state"] for hostile in (bad, good)] == ["probe_failed", "loaded"]
    assert runner.load(folder).row(bad.file)["probed"] == "cached"


def test_many_hostile_modules_in_one_folder_give_one_report(runner: LoadRunner, folder: Path, put: Put) -> None:
    names = ["crash_open", "throw_init", "abort_compile", "exit_execute", "innocent", "flush_to_zero", "empty_file"]
    modules = [put(name) for name in names]
    result = runner.load(folder, add_on="innocent")
    for hostile in modules:
        row = result.row(hostile.file)
        assert re.fullmatch(hostile.state, row["state"]), row
        assert re.search(hostile.reason, row["reason"]), row
    assert result.reported["cpu_faults"] == []
    assert result.reported["sum"] == [2, 4, 6]
    assert result.left == []
