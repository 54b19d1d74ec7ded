"""All hostile modules, in the order of the table."""

from __future__ import annotations

from zoo import faults, files, process, tables
from zoo.creature import Creature

CREATURES: list[Creature] = [*faults.CREATURES, *process.CREATURES, *tables.CREATURES, *files.CREATURES]


def creature_named(name: str) -> Creature:
    [found] = [creature for creature in CREATURES if creature.name == name]
    return found
