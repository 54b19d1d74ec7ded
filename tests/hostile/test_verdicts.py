"""A probe's verdict is cached exactly as long as it holds."""

from __future__ import annotations

import hashlib
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


def age(cache: Path, seconds: int) -> None:
    """Ages all verdicts."""
    for path in cache.glob("verdict-*"):
        _, _, body = path.read_bytes().partition(b"\n")
        size = 9 + int(body[:8], 16)
        key, (written, line) = body[:size], body[size:].split(b"\n", 1)
        body = key + str(int(written) - seconds).encode() + b"\n" + line
        path.write_bytes(b"ferrule-cache 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_timeout_is_probed_again_after_ten_minutes(runner: LoadRunner, folder: Path, put: Put) -> None:
    file = put("hang_init").file
    assert runner.load(folder).row(file)["probed"] == "yes"
    age(runner.cache, 500)
    assert runner.load(folder).row(file)["probed"] == "cached"
    ran = len(runner.marks())
    age(runner.cache, 101)
    again = runner.load(folder).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")
    assert len(runner.marks()) > ran


@pytest.mark.parametrize("name", ["error_execute", "shared_greed", "killed", "bus_error"])
def test_possibly_transient_failure_is_probed_again_after_ten_minutes(
    runner: LoadRunner, folder: Path, put: Put, name: str
) -> None:
    """Lack of memory or of room on a disk, a busy device or a kill by the system is not the module's fault."""
    file = put(name).file
    assert runner.load(folder).row(file)["probed"] == "yes"
    assert runner.load(folder).row(file)["probed"] == "cached"
    age(runner.cache, 601)
    again = runner.load(folder).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")


@pytest.mark.parametrize("name", ["crash_init", "innocent"])
def test_other_verdicts_do_not_expire(runner: LoadRunner, folder: Path, put: Put, name: str) -> None:
    hostile = put(name)
    runner.load(folder)
    age(runner.cache, 100_000)
    assert runner.load(folder).row(hostile.file)["probed"] == "cached"


def test_reprobe_starts_a_new_probe(runner: LoadRunner, folder: Path, put: Put) -> None:
    file = put("crash_init").file
    runner.load(folder)
    ran = len(runner.marks())
    again = runner.load(folder, reprobe=True).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")
    assert len(runner.marks()) > ran
    assert runner.load(folder).row(file)["probed"] == "cached"


def test_only_variables_that_affect_drivers_cause_a_new_probe(runner: LoadRunner, folder: Path, put: Put) -> None:
    file = put("crash_init").file

    def probed(**environment: str) -> object:
        return runner.load(folder, environment=environment).row(file)["probed"]

    assert probed() == "yes"
    assert probed(EDITOR="ed") == "cached"
    assert probed(CUDA_VISIBLE_DEVICES="") == "yes"
    assert probed(CUDA_VISIBLE_DEVICES="1") == "yes"
    assert probed(VK_ICD_FILENAMES="/nowhere/icd.json") == "yes"
    assert probed(VK_ICD_FILENAMES="/nowhere/icd.json") == "cached"
    assert probed() == "cached"


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
