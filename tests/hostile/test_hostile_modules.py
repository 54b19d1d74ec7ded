"""Each hostile module is loaded by a separate process, which reports the expected reason and keeps working."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hostile_modules.catalogue import HOSTILE_MODULES
from hostile_modules.docs_table import documented, sentence
from hostile_modules.hostile_module import HostileModule, Place
from hostile_modules.load_runner import PROBE_TIMEOUT, LoadResult, LoadRunner

# Covers a load, the computations after it and the start of Python, with other tests running.
SECONDS_PER_LOAD = 60


def load_module(hostile: HostileModule, folder: Path, runner: LoadRunner) -> LoadResult:
    environment = {name: value.replace("{folder}", str(folder)) for name, value in hostile.environment.items()}
    add_on = hostile.name if hostile.name == "innocent" else None
    return runner.load(folder, environment=environment, add_on=add_on)


def check_process(
    result: LoadResult, clean_process: dict[str, list[str]], state: str, environment_changes: bool
) -> None:
    """The loading process is unchanged, computes correctly, and leaves nothing behind."""
    assert result.left == [], "no process is left"
    assert result.reported["cpu_faults"] == []
    changed = result.reported["changed"]
    if environment_changes:
        changed.pop("LANG", None)
    assert changed == {}
    assert result.reported["descriptors"] == clean_process["descriptors"]
    assert result.reported["threads"] == clean_process["threads"]
    assert result.seconds < SECONDS_PER_LOAD + PROBE_TIMEOUT


def check_row(hostile: HostileModule, row: dict[str, Any]) -> None:
    message = f"{row['state']}: {row['reason']}; notes: {row['notes']}; output: {row['output'][:500]}"
    assert re.fullmatch(hostile.state, row["state"]), message
    assert re.search(hostile.reason, row["reason"]), message
    assert "\n" not in row["reason"], "one sentence"
    assert len(row["reason"]) <= 600, "of bounded length"
    if row["state"] == "loaded":
        assert row["reason"] == ""
        assert len(row["devices"]) == 1
    else:
        assert len(row["reason"]) > 15, message
        assert row["devices"] == []
    if hostile.note:
        assert any(re.search(hostile.note, note) for note in row["notes"]), message


@pytest.mark.parametrize("hostile", HOSTILE_MODULES, ids=lambda hostile: hostile.name)
def test_hostile_module_gets_its_row_and_the_process_stays_intact(
    hostile: HostileModule, tmp_path: Path, runner: LoadRunner, clean_process: dict[str, list[str]], seen: Path | None
) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    hostile.put(Place(hostile, folder))
    first = load_module(hostile, folder, runner)
    row = first.row(hostile.file)
    message = sentence(row, folder)
    if seen is not None:
        reported = {"state": row["state"], "sentence": message, "milliseconds": row["milliseconds"]}
        (seen / f"{hostile.name}.json").write_text(json.dumps(reported), encoding="utf-8")
    check_row(hostile, row)
    check_process(first, clean_process, row["state"], hostile.name == "environment")
    hostile.check(first, row)
    marks = runner.marks()
    if not hostile.runs:
        assert marks == [], "nothing of it may run"
    elif row["state"] in ("probe_failed", "error"):
        assert first.reported["pid"] not in {process for process, _ in marks}, "no step runs in the process that loads"
    if hostile.is_steady and hostile.runs:
        check_second_load(hostile, folder, runner, clean_process, row)
    if seen is None:
        assert documented()[hostile.name] == (row["state"], message), "run ./dev hostile --write-page"


def check_second_load(
    hostile: HostileModule, folder: Path, runner: LoadRunner, clean_process: dict[str, list[str]], first: dict[str, Any]
) -> None:
    """The verdict is cached: the module is not executed again, unless it is good and is opened in this process."""
    before = runner.marks()
    second = load_module(hostile, folder, runner)
    row = second.row(hostile.file)
    check_row(hostile, row)
    check_process(second, clean_process, row["state"], hostile.name == "environment")
    assert (row["state"], row["reason"], row["notes"]) == (first["state"], first["reason"], first["notes"])
    if first["probed"] != "no":
        assert row["probed"] == "cached"
    ran = {process for process, _ in runner.marks()[len(before) :]}
    assert ran <= ({second.reported["pid"]} if row["state"] in ("loaded", "outranked") else set())


def test_the_table_in_the_docs_lists_every_hostile_module(seen: Path | None) -> None:
    if seen is not None:
        pytest.skip("this run writes the rows of the page that this test compares")
    assert list(documented()) == [hostile.name for hostile in HOSTILE_MODULES]


def test_names_of_hostile_modules_are_unique() -> None:
    assert len({hostile.name for hostile in HOSTILE_MODULES}) == len(HOSTILE_MODULES)
