"""Formats the results of a device: JSON with everything, and a table for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from benchmarks.devices.bench import DeviceRun
from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.gpu_targets import OURS
from benchmarks.interleaving import Heat
from benchmarks.timing import Timing


@dataclass(frozen=True)
class Limit:
    """A rate of the device, and who reached it in this run, in which case."""

    rate: float
    by: str
    case: str


def limits_of(run: DeviceRun) -> dict[str, Limit]:
    """The best rate of any contender: "bytes", of copies; "float32" and "half", flops of the large products."""
    limits: dict[str, Limit] = {}
    for heat in run.heats:
        if not heat.case.is_limit:
            continue
        work = heat.case.bytes if heat.case.limit == "bytes" else heat.case.flops
        for name, timing in heat.timings.items():
            key, rate = _limit_key(heat.case), work / timing.median
            if key not in limits or rate > limits[key].rate:
                limits[key] = Limit(rate, name, heat.case.name)
    return limits


def any_failure(run: DeviceRun) -> bool:
    """Whether a contender raised, died, or gave a wrong result."""
    return any(heat.failures for heat in run.heats) or any("failure" in about for about in run.contenders.values())


def as_json(run: DeviceRun) -> dict[str, Any]:
    """The run as plain data; times in seconds of one op, sizes in bytes."""
    limits = limits_of(run)
    return {
        "machine": run.machine,
        "device": {**run.setup.info, "options": None},
        "scale": run.setup.sizes.name,
        "contenders": run.contenders,
        "absent": run.absent,
        "limits": {key: vars(limit) for key, limit in limits.items()},
        "cases": [_heat_as_json(heat, limits, run.setup.is_hopper) for heat in run.heats],
    }


def show(run: DeviceRun, console: Console) -> None:
    info = run.setup.info
    console.print(f"{info['name']}: {info['description']}, {info['detail']}; sizes: {run.setup.sizes.name}")
    for key, limit in limits_of(run).items():
        rate, unit = _scale(limit.rate, key == "bytes")
        console.print(f"limit of {key}: {rate} {unit}, reached by {limit.by} in {limit.case}")
    for name, reason in run.absent.items():
        console.print(Text(f"without {name}: {reason}", style="dim"))
    console.print(_table(run))
    for heat in run.heats:
        for name, reason in heat.failures.items():
            console.print(Text(f"{name} failed in {heat.case.name}: {reason}", style="red"))


def _table(run: DeviceRun) -> Table:
    limits = limits_of(run)
    table = Table(title="median time of an op ± half the interquartile range", title_justify="left")
    table.add_column("case", no_wrap=True)
    names = [OURS, *(name for name in run.contenders if name != OURS)]
    for column in (*names, "rate", "of limit", "best peer/ours", "target", ""):
        table.add_column(column, justify="right")
    for heat in run.heats:
        times = [_time(heat.timings.get(name), name in heat.failures) for name in names]
        share, ratio = share_of_limit(heat, limits), peer_ratio(heat)
        table.add_row(
            heat.case.name,
            *times,
            _rate(heat),
            "" if share is None else f"{share:.2f}",
            "" if ratio is None else f"{ratio:.2f}",
            *_target(heat, run.setup.is_hopper),
        )
    return table


def share_of_limit(heat: Heat[DeviceCase], limits: dict[str, Limit]) -> float | None:
    """The share of the device's limit that ferrule reaches; None without a limit, or without ferrule."""
    limit = limits.get(_limit_key(heat.case))
    if heat.case.limit == "none" or limit is None or OURS not in heat.timings:
        return None
    work = heat.case.bytes if heat.case.limit == "bytes" else heat.case.flops
    return work / heat.timings[OURS].median / limit.rate


def peer_ratio(heat: Heat[DeviceCase]) -> float | None:
    """The best peer's time over ferrule's: above 1 ferrule is faster."""
    peers = [timing.median for name, timing in heat.timings.items() if not name.startswith(OURS)]
    return min(peers) / heat.timings[OURS].median if peers and OURS in heat.timings else None


def _limit_key(case: DeviceCase) -> str:
    if case.limit == "flops":
        return "float32" if case.dtype == "float32" else "half"
    return case.limit


def _judge(heat: Heat[DeviceCase]) -> tuple[float, str, bool] | None:
    """The value of the target, whose best it is compared with, and whether it is reached."""
    target = heat.case.target
    if target is None:
        return None
    work = heat.case.flops if target.measure == "flops" else heat.case.bytes
    value = target.value({name: timing.median for name, timing in heat.timings.items()}, work)
    return None if value is None else (*value, target.reached(value[0]))


def _target(heat: Heat[DeviceCase], is_hopper: bool) -> tuple[str, Text]:
    target, judged = heat.case.target, _judge(heat)
    if target is None:
        return "", Text()
    if not is_hopper or judged is None:
        return str(target), Text("-")
    value, whose, is_met = judged
    word, style = ("met", "green") if is_met else ("not met", "bold yellow")
    return str(target), Text(f"{word}: {value:.2f}x {whose}", style=style)


def _rate(heat: Heat[DeviceCase]) -> str:
    timing = heat.timings.get(OURS)
    if timing is None or (heat.case.limit == "none" and "load" not in heat.case.op):
        return ""
    is_bytes = heat.case.limit != "flops"
    return " ".join(_scale((heat.case.bytes if is_bytes else heat.case.flops) / timing.median, is_bytes))


def _scale(rate: float, is_bytes: bool) -> tuple[str, str]:
    scale, unit = (1e9, "GB/s") if is_bytes else (1e12, "TFLOP/s")
    return f"{rate / scale:.4g}", unit


def _time(timing: Timing | None, has_failed: bool) -> Text:
    if timing is None:
        return Text("failed", style="red") if has_failed else Text("-", style="dim")
    first, third = timing.quartiles
    unit, scale = next(((u, s) for u, s in (("s", 1.0), ("ms", 1e3)) if timing.median * s >= 1), ("us", 1e6))
    return Text(f"{timing.median * scale:.2f} ±{(third - first) / 2 * scale:.2f} {unit}", no_wrap=True)


def _heat_as_json(heat: Heat[DeviceCase], limits: dict[str, Limit], is_hopper: bool) -> dict[str, Any]:
    case, judged = heat.case, _judge(heat)
    results: dict[str, dict[str, Any]] = {}
    for name, timing in heat.timings.items():
        rates = {"flops": case.flops / timing.median, "bytes_per_second": case.bytes / timing.median}
        results[name] = {**timing.as_json(), **rates, "greatest_error": heat.greatest_errors[name]}
    value, whose, is_met = judged or (None, None, None)
    target = {"target": str(case.target), "value": value, "best": whose, "reached": is_met if is_hopper else None}
    return {
        "case": case.name,
        "op": case.op,
        "dtype": case.dtype,
        "blocks": case.blocks or None,
        "shapes": case.shapes,
        "method": case.method,
        "operands": case.operands,
        "ops_per_call": case.ops,
        "flops": case.flops,
        "bytes": case.bytes,
        "limit": case.limit,
        "share_of_limit": share_of_limit(heat, limits),
        "contenders": results,
        "failures": heat.failures,
        "absent": heat.absent,
        "target": target if case.target else None,
    }
