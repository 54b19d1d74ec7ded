"""A probe's verdict is cached exactly as long as it holds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from zoo.catalogue import creature_named
from zoo.creature import Creature, Place, compile_module
from zoo.visitor import Visitor, visit_together

Put = Callable[[str], Creature]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "modules").mkdir()
    return tmp_path / "modules"


@pytest.fixture
def put(folder: Path) -> Put:
    def put(name: str) -> Creature:
        creature = creature_named(name)
        creature.put(Place(creature, folder))
        return creature

    return put


def age(cache: Path, seconds: int) -> None:
    """Ages all verdicts."""
    for path in cache.glob("verdict-*"):
        _, _, body = path.read_bytes().partition(b"\n")
        size = 9 + int(body[:8], 16)
        key, (written, line) = body[:size], body[size:].split(b"\n", 1)
        body = key + str(int(written) - seconds).encode() + b"\n" + line
        path.write_bytes(b"ferrule-cache 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


def test_a_timeout_is_asked_again_after_ten_minutes(visitor: Visitor, folder: Path, put: Put) -> None:
    file = put("hang_init").file
    assert visitor.visit(folder).row(file)["probed"] == "yes"
    age(visitor.cache, 500)
    assert visitor.visit(folder).row(file)["probed"] == "cached"
    ran = len(visitor.marks())
    age(visitor.cache, 101)
    again = visitor.visit(folder).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")
    assert len(visitor.marks()) > ran


@pytest.mark.parametrize("name", ["error_execute", "shared_greed", "killed"])
def test_what_may_have_been_an_accident_is_asked_again_after_ten_minutes(
    visitor: Visitor, folder: Path, put: Put, name: str
) -> None:
    """Lack of memory, a busy device or a kill by the system is not the module's fault."""
    file = put(name).file
    assert visitor.visit(folder).row(file)["probed"] == "yes"
    assert visitor.visit(folder).row(file)["probed"] == "cached"
    age(visitor.cache, 601)
    again = visitor.visit(folder).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")


@pytest.mark.parametrize("name", ["crash_init", "innocent"])
def test_what_is_no_timeout_holds(visitor: Visitor, folder: Path, put: Put, name: str) -> None:
    creature = put(name)
    visitor.visit(folder)
    age(visitor.cache, 100_000)
    assert visitor.visit(folder).row(creature.file)["probed"] == "cached"


def test_reprobe_asks_again(visitor: Visitor, folder: Path, put: Put) -> None:
    file = put("crash_init").file
    visitor.visit(folder)
    ran = len(visitor.marks())
    again = visitor.visit(folder, reprobe=True).row(file)
    assert (again["probed"], again["state"]) == ("yes", "probe_failed")
    assert len(visitor.marks()) > ran
    assert visitor.visit(folder).row(file)["probed"] == "cached"


def test_what_changes_a_drivers_answers_asks_again_and_nothing_else_does(
    visitor: Visitor, folder: Path, put: Put
) -> None:
    file = put("crash_init").file

    def probed(**environment: str) -> object:
        return visitor.visit(folder, environment=environment).row(file)["probed"]

    assert probed() == "yes"
    assert probed(EDITOR="ed") == "cached"
    assert probed(CUDA_VISIBLE_DEVICES="") == "yes"
    assert probed(CUDA_VISIBLE_DEVICES="1") == "yes"
    assert probed(VK_ICD_FILENAMES="/nowhere/icd.json") == "yes"
    assert probed(VK_ICD_FILENAMES="/nowhere/icd.json") == "cached"
    assert probed() == "cached"


def test_other_bytes_under_the_same_name_are_asked_again(visitor: Visitor, folder: Path, put: Put) -> None:
    bad = put("crash_init")
    assert visitor.visit(folder).row(bad.file)["state"] == "probe_failed"
    compile_module(Creature("crash_init", "loaded"), folder / "good")
    (folder / "good").rename(folder / bad.file)
    assert visitor.visit(folder).row(bad.file)["state"] == "loaded"


def test_many_processes_at_once_get_the_same_verdict(visitor: Visitor, folder: Path, put: Put) -> None:
    bad, good = put("crash_init"), put("innocent")
    homes = [visitor.home / f"user{i}" for i in range(6)]
    for home in homes:
        home.mkdir()
    visits = visit_together([Visitor(home) for home in homes], folder, {"FERRULE_CACHE_DIR": str(visitor.cache)})
    for visit in visits:
        assert visit.left == []
        assert visit.told["cpu_faults"] == []
        assert [visit.row(creature.file)["state"] for creature in (bad, good)] == ["probe_failed", "loaded"]
    assert visitor.visit(folder).row(bad.file)["probed"] == "cached"


def test_a_whole_zoo_in_one_folder_is_one_report(visitor: Visitor, folder: Path, put: Put) -> None:
    names = ["crash_open", "throw_init", "abort_compile", "exit_execute", "innocent", "flush_to_zero", "empty_file"]
    creatures = [put(name) for name in names]
    visit = visitor.visit(folder, add_on="innocent")
    for creature in creatures:
        row = visit.row(creature.file)
        assert re.fullmatch(creature.state, row["state"]), row
        assert re.search(creature.reason, row["reason"]), row
    assert visit.told["cpu_faults"] == []
    assert visit.told["sum"] == [2, 4, 6]
    assert visit.left == []
