"""Each hostile module is loaded by a separate process, which reports the expected reason and keeps working."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from zoo.catalogue import CREATURES
from zoo.creature import Creature, Place
from zoo.table import documented, sentence
from zoo.visitor import PROBE_TIMEOUT, Visit, Visitor

# Covers a load, the computations after it and the start of Python, with other tests running.
SECONDS_OF_A_VISIT = 10


def meet(creature: Creature, folder: Path, visitor: Visitor) -> Visit:
    environment = {name: value.replace("{folder}", str(folder)) for name, value in creature.environment.items()}
    add_on = creature.name if creature.name == "innocent" else None
    return visitor.visit(folder, environment=environment, add_on=add_on)


def check_process(visit: Visit, undisturbed: dict[str, list[str]], state: str, environment_changes: bool) -> None:
    """The loading process is unchanged, computes correctly, and leaves nothing behind."""
    assert visit.left == [], "no process is left"
    assert visit.told["cpu_faults"] == []
    changed = visit.told["changed"]
    if environment_changes:
        changed.pop("LANG", None)
    assert changed == {}
    assert visit.told["descriptors"] == undisturbed["descriptors"]
    assert visit.told["threads"] == undisturbed["threads"]
    assert visit.seconds < SECONDS_OF_A_VISIT + PROBE_TIMEOUT


def check_row(creature: Creature, row: dict[str, Any]) -> None:
    said = f"{row['state']}: {row['reason']}; notes: {row['notes']}; output: {row['output'][:500]}"
    assert re.fullmatch(creature.state, row["state"]), said
    assert re.search(creature.reason, row["reason"]), said
    assert "\n" not in row["reason"], "one sentence"
    assert len(row["reason"]) <= 600, "of bounded length"
    if row["state"] == "loaded":
        assert row["reason"] == ""
        assert len(row["devices"]) == 1
    else:
        assert len(row["reason"]) > 15, said
        assert row["devices"] == []
    if creature.note:
        assert any(re.search(creature.note, note) for note in row["notes"]), said


@pytest.mark.parametrize("creature", CREATURES, ids=lambda creature: creature.name)
def test_a_creature_gets_its_row_and_the_process_goes_on(
    creature: Creature, tmp_path: Path, visitor: Visitor, undisturbed: dict[str, list[str]], seen: Path | None
) -> None:
    folder = tmp_path / "modules"
    folder.mkdir()
    creature.put(Place(creature, folder))
    first = meet(creature, folder, visitor)
    row = first.row(creature.file)
    said = sentence(row, folder)
    if seen is not None:
        told = {"state": row["state"], "sentence": said, "milliseconds": row["milliseconds"]}
        (seen / f"{creature.name}.json").write_text(json.dumps(told), encoding="utf-8")
    check_row(creature, row)
    check_process(first, undisturbed, row["state"], creature.name == "environment")
    creature.check(first, row)
    marks = visitor.marks()
    if not creature.runs:
        assert marks == [], "nothing of it may run"
    elif row["state"] in ("probe_failed", "error"):
        assert first.told["pid"] not in {process for process, _ in marks}, "nothing of it ran in the process that loads"
    if creature.is_steady and creature.runs:
        check_second_visit(creature, folder, visitor, undisturbed, row)
    if seen is None:
        assert documented()[creature.name] == (row["state"], said), "docs/hostile.md says otherwise: run ./dev zoo"


def check_second_visit(
    creature: Creature, folder: Path, visitor: Visitor, undisturbed: dict[str, list[str]], first: dict[str, Any]
) -> None:
    """The verdict is cached: the module is not executed again, unless it is good and is opened in this process."""
    before = visitor.marks()
    second = meet(creature, folder, visitor)
    row = second.row(creature.file)
    check_row(creature, row)
    check_process(second, undisturbed, row["state"], creature.name == "environment")
    assert (row["state"], row["reason"], row["notes"]) == (first["state"], first["reason"], first["notes"])
    if first["probed"] != "no":
        assert row["probed"] == "cached"
    ran = {process for process, _ in visitor.marks()[len(before) :]}
    assert ran <= ({second.told["pid"]} if row["state"] in ("loaded", "outranked") else set())


def test_the_table_in_the_docs_lists_the_creatures_of_the_zoo(seen: Path | None) -> None:
    if seen is not None:
        pytest.skip("it is about to be written")
    assert list(documented()) == [creature.name for creature in CREATURES]


def test_no_two_creatures_have_one_name() -> None:
    assert len({creature.name for creature in CREATURES}) == len(CREATURES)
