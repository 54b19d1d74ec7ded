"""Formats results: JSON with everything, and a table for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.cases import NOMINAL_FLOPS, Case
from benchmarks.interleaving import Heat
from benchmarks.latency import LATENCIES
from benchmarks.targets import OURS, PEERS, Target
from benchmarks.timing import Timing


@dataclass(frozen=True)
class Limits:
    """The machine's limits with one number of threads."""

    copy_bytes_per_second: float
    peer_flops: float | None


@dataclass(frozen=True)
class Run:
    """All measurements of a run."""

    machine: Mapping[str, object]
    contenders: Mapping[str, Mapping[str, str]]
    limits: Mapping[int, Limits]
    heats: Sequence[Heat[Case]]
    latencies: Mapping[str, Timing | str]


def as_json(run: Run) -> dict[str, Any]:
    """The run as plain data; times in seconds, sizes in bytes."""
    return {
        "machine": run.machine,
        "contenders": run.contenders,
        "limits": {str(threads): vars(limits) for threads, limits in run.limits.items()},
        "cases": [_heat_as_json(heat) for heat in run.heats],
        "latencies": {name: _latency_as_json(name, timing) for name, timing in run.latencies.items()},
    }


def show(run: Run, console: Console) -> None:
    for threads, limits in run.limits.items():
        flops = f", best matmul of a peer {limits.peer_flops / 1e9:.1f} GFLOP/s" if limits.peer_flops else ""
        copied = f"copy {limits.copy_bytes_per_second / 1e9:.1f} GB/s"
        console.print(f"limits with {threads} thread{'s' * (threads > 1)}: {copied}{flops}")
    if run.heats:
        console.print(_case_table(run))
    if run.latencies:
        console.print(_latency_table(run))
    for heat in run.heats:
        for name, reason in heat.failures.items():
            console.print(Text(f"{name} failed in {heat.case.name}, threads {heat.threads}: {reason}", style="red"))


def _case_table(run: Run) -> Table:
    table = Table(title="median time of a call ± half the interquartile range", title_justify="left")
    table.add_column("case", no_wrap=True)
    for column in ("threads", OURS, *PEERS, "rate", "of limit", "measure", "target"):
        table.add_column(column, justify="right")
    for heat in run.heats:
        times = [_time(heat.timings.get(name), name in heat.failures) for name in (OURS, *PEERS)]
        measure, target = _judge(heat.case.target, _medians(heat))
        table.add_row(
            heat.case.name, str(heat.threads), *times, *_rate(heat, run.limits[heat.threads]), measure, target
        )
    return table


def _latency_table(run: Run) -> Table:
    table = Table(title="median of fresh processes ± half the interquartile range", title_justify="left")
    table.add_column("latency", no_wrap=True)
    for column in ("time", "measure", "target"):
        table.add_column(column, justify="right")
    targets = {latency.name: latency.target for latency in LATENCIES}
    for name, timing in run.latencies.items():
        if isinstance(timing, str):
            table.add_row(name, Text(timing, style="red"), "", "")
            continue
        target = targets[name]
        judged = _judge(target, {OURS: timing.median}) if target else ("", Text())
        table.add_row(name, _time(timing), *judged)
    return table


def _judge(target: Target, seconds: Mapping[str, float]) -> tuple[str, Text]:
    value = target.value(seconds)
    if value is None:
        return f"{target}", Text("-")
    word, style = ("pass", "green") if target.reached(value) else ("short", "bold yellow")
    return f"{value:.2f} ({target})", Text(word, style=style)


def _rate(heat: Heat[Case], limits: Limits) -> tuple[str, str]:
    """The rate of ferrule (without it, of the fastest peer), and its share of the machine's limit."""
    name = OURS if OURS in heat.timings else min(heat.timings, key=lambda name: heat.timings[name].median, default=None)
    if name is None or heat.case.target.measure == "microseconds":
        return "", ""
    seconds = heat.timings[name].median
    if heat.case.is_bound_by_arithmetic:
        rate, unit, limit = heat.case.flops / seconds, "GFLOP/s", limits.peer_flops
    elif heat.case.op in NOMINAL_FLOPS:
        rate, unit, limit = heat.case.flops / seconds, "GFLOP/s", None
    else:
        rate, unit, limit = heat.case.bytes / seconds, "GB/s", limits.copy_bytes_per_second
    return f"{rate / 1e9:.1f} {unit}", f"{rate / limit:.2f}" if limit else ""


def _time(timing: Timing | None, failed: bool = False) -> Text:
    if timing is None:
        return Text("failed", style="red") if failed else Text("-", style="dim")
    first, third = timing.quartiles
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e3)) if timing.median * s >= 1), ("us", 1e6))
    return Text(f"{timing.median * scale:.2f} ±{(third - first) / 2 * scale:.2f} {unit}", no_wrap=True)


def _medians(heat: Heat[Case]) -> dict[str, float]:
    return {name: timing.median for name, timing in heat.timings.items()}


def _heat_as_json(heat: Heat[Case]) -> dict[str, Any]:
    value = heat.case.target.value(_medians(heat))
    results: dict[str, dict[str, Any]] = {}
    for name, timing in heat.timings.items():
        rates = {"flops": heat.case.flops / timing.median, "bytes_per_second": heat.case.bytes / timing.median}
        results[name] = {**timing.as_json(), **rates, "greatest_error": heat.greatest_errors[name]}
    return {
        "case": heat.case.name,
        "op": heat.case.op,
        "shapes": heat.case.shapes,
        "threads": heat.threads,
        "flops": heat.case.flops,
        "bytes": heat.case.bytes,
        "contenders": results,
        "failures": heat.failures,
        "absent": heat.absent,
        "target": _target_as_json(heat.case.target, value),
    }


def _latency_as_json(name: str, timing: Timing | str) -> dict[str, Any]:
    if isinstance(timing, str):
        return {"failure": timing}
    target = next(latency.target for latency in LATENCIES if latency.name == name)
    judged = {"target": _target_as_json(target, target.value({OURS: timing.median}))} if target else {}
    return {**timing.as_json(), **judged}


def _target_as_json(target: Target, value: float | None) -> dict[str, Any]:
    return {"target": str(target), "value": value, "reached": None if value is None else target.reached(value)}
