"""Answers requests about random programs in the child process that runs them."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import ferrule as fe
from ferrule.testing.cases import all_cases
from ferrule.testing.model.case import Case
from ferrule.testing.model.dtypes import REALS
from ferrule.testing.programs.compute import Fault, Places, Refused, faults_of, source_of
from ferrule.testing.programs.draw import draw_program
from ferrule.testing.programs.program import Program
from ferrule.testing.running.check_attempt import Attempt

MOST_REFUSALS = 30  # refused steps to drop from one program before giving up
DRAWING = "drawing"  # in place of a way: drawing asks the device which ops it supports


class ProgramRequests:
    """The requests `programs`, `program` and `source`. `devices` are those of the target, by name."""

    def __init__(self, devices: Mapping[str, fe.Device], at: Callable[[str], None]) -> None:
        self._devices, self._at = devices, at
        self._takes: dict[str, Callable[..., bool]] = {}
        self._loaded: dict[str, fe.Device] = {}

    def programs(self, device: str, second: str | None, first: int, count: int) -> dict[str, Any]:
        """The faults of the programs of `count` seeds from `first` on."""
        self._at(f"program {first} {DRAWING}")
        places, refused, found = self._places(device, second), 0, []
        for seed in range(first, first + count):
            self._at(f"program {seed} {DRAWING}")
            program, faults = self._faults(self._draw(places, seed), places)
            refused += program is None
            if faults:
                found.append([seed, [vars(fault) for fault in faults]])
        return {"refused": refused, "faults": found}

    def program(
        self, device: str, second: str | None, seed: int, program: dict[str, Any] | None, ways: list[str]
    ) -> dict[str, Any]:
        """The faults of a program in the given ways, with its code. Without a program, draw that of the seed."""
        places = self._places(device, second)
        drawn = self._draw(places, seed) if program is None else Program.from_json(program)
        if program is None:
            return {"program": drawn.to_json(), "faults": []}
        faults = self._faults(drawn, places, ways)[1]
        shown = [{**vars(fault), "source": source_of(drawn, places, fault)} for fault in faults]
        return {"program": drawn.to_json(), "faults": shown}

    def source(self, device: str, second: str | None, program: dict[str, Any], way: str, kind: str) -> dict[str, Any]:
        places = self._places(device, second)
        return {"source": source_of(Program.from_json(program), places, Fault(way, kind, ""))}

    def _faults(
        self, program: Program, places: Places, ways: list[str] | None = None
    ) -> tuple[Program | None, list[Fault]]:
        """The program without the steps that the device refuses, and its faults; None if no step remains."""
        seed = program.seed

        def at(way: str) -> None:
            self._at(f"program {seed} {way}")

        for _ in range(MOST_REFUSALS):
            try:
                return program, faults_of(program, places, at, ways)
            except Refused as refusal:
                found = without_step(program, refusal.step)
                if found is None:
                    break
                program = found
        return None, []

    def _draw(self, places: Places, seed: int) -> Program:
        warnings.simplefilter("ignore", RuntimeWarning)
        return draw_program(seed, self._takes_of(places.device))

    def _takes_of(self, device: fe.Device) -> Callable[..., bool]:
        if device.name not in self._takes:
            self._takes[device.name] = _takes(device)
        return self._takes[device.name]

    def _places(self, device: str, second: str | None) -> Places:
        first = self._devices.get(device) or fe.device(device)
        takes = self._takes_of(first)
        takes_all = all(takes(op, dtype) for op in ("astype", "copy") for dtype in REALS)
        return Places(first, None if second is None else self._second(second), takes_all)

    def _second(self, name: str) -> fe.Device:
        """A device by name, or the first device of a module by its file."""
        if not name.endswith((".so", ".dylib", ".dll")):
            return fe.device(name)
        if name not in self._loaded:
            backend = fe.load(name, probe="never")
            self._loaded[name] = next(one for one in fe.devices(unified=False) if one.backend == backend)
        return self._loaded[name]


def _takes(device: fe.Device) -> Callable[..., bool]:
    """A function that says whether the device supports an op for the dtypes of its first inputs: it compiles a plain
    problem of a matching case, or no case matches."""

    @cache
    def takes(op: str, *dtypes: str) -> bool:
        cases = [
            case
            for case in all_cases().values()
            if case.op == op and dtypes == tuple(map(case.dtype, range(len(dtypes)))) and case.dtypes
        ]
        return not cases or any(_is_supported(device, case) for case in cases)

    return takes


def _is_supported(device: fe.Device, case: Case) -> bool:
    attempt = Attempt(device, case, "programs", "brief", 0, lambda text: None)
    return any(attempt.try_prepare(problem, attempt.inputs(problem)) for problem in case.family.plain[:3])


def without_step(program: Program, name: str) -> Program | None:
    """Remove a step and the steps that depend on it; None if nothing useful remains."""
    gone = {name}
    for step in program.steps:
        if gone & {*step.reads}:
            gone.add(step.name)
    steps = tuple(step for step in program.steps if step.name not in gone)
    outputs = tuple(one for one in program.outputs if one not in gone) or tuple(step.name for step in steps[-1:])
    if not steps or not outputs or len(steps) == len(program.steps):
        return None
    raises = program.raises and any(step.name == program.steps[-1].name for step in steps)
    return dataclasses.replace(program, steps=steps, outputs=outputs, raises=raises).without_unread()
