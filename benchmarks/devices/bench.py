"""Measures all cases on one device."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import ferrule as fe
from rich.progress import Progress

from benchmarks.contenders import NotOfferedError
from benchmarks.devices.cases import DeviceCase, cases_of
from benchmarks.devices.contenders import MODULES
from benchmarks.devices.gpu_targets import OURS
from benchmarks.devices.sizes import SCALES, Sizes, fitting
from benchmarks.devices.worker import DeviceWorker
from benchmarks.interleaving import ContenderError, Heat, Pace, Remote, run_heat
from benchmarks.machine import describe_machine

SIMULATED = ("software", "test")  # kinds of devices whose speed means nothing


class SetupError(Exception):
    """There is no such device, or not enough memory."""


@dataclass(frozen=True)
class Setup:
    device: str
    info: Mapping[str, Any]  # of fe.Device
    sizes: Sizes

    @property
    def is_hopper(self) -> bool:
        return self.info["kind"] not in SIMULATED and "compute capability 9.0" in str(self.info["detail"])


@dataclass(frozen=True)
class DeviceRun:
    """All measurements of a run."""

    machine: Mapping[str, object]
    setup: Setup
    contenders: Mapping[str, Mapping[str, str]]  # those that take part, described
    absent: Mapping[str, str]  # the others, and why
    heats: Sequence[Heat[DeviceCase]]


def set_up(name: str, scale: str | None) -> Setup:
    """Finds the device without opening it, and the sizes that fit into its memory."""
    fe.load_all()
    try:
        info = fe.device(name).info
    except fe.Error as error:
        raise SetupError(str(error)) from None
    memory = int(info["total_memory"])
    sizes = SCALES[scale] if scale else fitting(memory, info["kind"] in SIMULATED)
    if 0 < memory < sizes.memory:
        raise SetupError(
            f"--scale {sizes.name} needs {sizes.memory / 1e9:.3g} GB, and {info['name']} has {memory / 1e9:.3g} GB"
        )
    return Setup(info["name"], info, sizes)


def measure_device(
    setup: Setup, only: Sequence[str] | None, peers_only: bool, pace: Pace, progress: Progress
) -> DeviceRun:
    """Runs the cases whose names have one of the texts of `only`, and those that are limits of others."""
    wanted = [
        case
        for case in cases_of(setup.sizes)
        if case.is_limit or not only or any(text.lower() in case.name.lower() for text in only)
    ]
    if setup.info["kind"] in SIMULATED:
        pace = Pace(rounds=2, turn_seconds=0.0)
    task = progress.add_task("", total=len(wanted) * pace.rounds)
    names = [name for name in MODULES if not (peers_only and name.startswith(OURS))]
    uuid = str(setup.info["uuid"])
    remotes = {name: Remote(name, partial(DeviceWorker, name, setup.device, uuid)) for name in names}
    described: dict[str, dict[str, str]] = {}
    absent: dict[str, str] = {}
    heats: list[Heat[DeviceCase]] = []
    try:
        for name, remote in remotes.items():
            try:
                described[name] = remote.ask("describe")
            except NotOfferedError as reason:
                absent[name] = str(reason)
            except ContenderError as reason:
                described[name] = {"failure": str(reason)}
        running = [remote for name, remote in remotes.items() if name not in absent]
        for case in wanted:
            progress.update(task, description=case.name)
            heats.append(run_heat(case, 1, running, pace, _advancing(progress, task)))
    finally:
        for remote in remotes.values():
            remote.close()
    return DeviceRun(describe_machine(), setup, described, absent, heats)


def _advancing(progress: Progress, task: Any) -> Callable[[], None]:
    return lambda: progress.advance(task)
