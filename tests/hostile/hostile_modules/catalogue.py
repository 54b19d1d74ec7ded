"""All hostile modules."""

from __future__ import annotations

from hostile_modules import faulty_files, process_faults, step_faults, wrong_data
from hostile_modules.hostile_module import HostileModule

HOSTILE_MODULES: list[HostileModule] = [
    *step_faults.HOSTILE_MODULES,
    *process_faults.HOSTILE_MODULES,
    *wrong_data.HOSTILE_MODULES,
    *faulty_files.HOSTILE_MODULES,
]


def hostile_module_named(name: str) -> HostileModule:
    [found] = [hostile for hostile in HOSTILE_MODULES if hostile.name == name]
    return found
