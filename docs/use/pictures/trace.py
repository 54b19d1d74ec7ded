"""Draws the picture of docs/use/tracing.md: traces a run on two simulated devices, and draws the file.

    python docs/use/pictures/trace.py docs/use/pictures/trace.png      (needs matplotlib)

The devices are those of the null backend: their queues are asynchronous, take the time given by the options, by the
host's clock, and compute with the CPU's kernels.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import ferrule as fe
import matplotlib.pyplot as plt
import numpy as np

ROWS, WIDTH, LAYERS, BATCHES = 128, 128, 2, 3
OPTIONS = {
    "late": True,
    "hidden": True,
    "real_time": True,
    "execution_ns": 1_500_000,
    "bytes_per_second": 80_000_000,
}
# Okabe and Ito's colours, which colour-blind people can distinguish; their text has a contrast of at least 4.5.
COLOURS = {
    "segment": ("#cfe3f2", "#000000"),
    "kernel": ("#0072b2", "#ffffff"),
    "transfer": ("#e69f00", "#000000"),
    "evaluate": ("#dddddd", "#000000"),
    "submit": ("#999999", "#000000"),
    "wait": ("#f3d9e6", "#000000"),
    "record": ("#56b4e9", "#000000"),
    "compile": ("#009e73", "#000000"),
    "pass": ("#8fd6bf", "#000000"),
}


def simulated_devices() -> list[fe.Device]:
    kernels = str(fe.device("cpu").backend.path)
    os.environ["FERRULE_NULL_FAULT"] = "two_devices"
    fe.load(Path(fe.__file__).parent / "testing" / "libferrule-null.so", as_name="simulated", probe="never")
    return [fe.device(f"simulated:{i}").open(computes_with=kernels, **OPTIONS) for i in range(2)]


def record(path: Path) -> None:
    """Computes batches on both devices; each batch is uploaded while the previous one is computed."""
    rng = np.random.default_rng(1)
    devices = simulated_devices()
    host = rng.standard_normal((WIDTH, WIDTH), dtype=np.float32) / WIDTH**0.5
    weights = {device.name: fe.asarray(host, device=device) for device in devices}
    batches = [rng.standard_normal((ROWS, WIDTH), dtype=np.float32) for _ in range(BATCHES)]
    layer = fe.graph(lambda x, w: fe.relu(x @ w))
    with fe.trace(path):
        results = []
        for batch in batches:
            for device in devices:
                x = fe.asarray(batch, device=device)
                for _ in range(LAYERS):
                    x = layer(x, weights[device.name])
                results.append(x)
        for result in results:
            np.asarray(result)


def draw(events: list[dict[str, Any]], path: Path) -> None:
    names = {(e["pid"], e["tid"], e["name"]): e["args"]["name"] for e in events if e["ph"] == "M"}
    processes = {pid: name for (pid, _, what), name in names.items() if what == "process_name"}
    tracks = defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(event)
    end = max(e["ts"] + e["dur"] for e in events if e["ph"] == "X") / 1e3
    figure, axes = plt.subplots(figsize=(12, 6))
    row, used = 0, set()
    for (pid, tid), track in sorted(tracks.items(), key=lambda item: (processes[item[0][0]], item[0])):
        first = row
        ends: list[float] = []  # of the events that contain the next one
        for event in sorted(track, key=lambda e: (e["ts"], -e["dur"])):
            while ends and ends[-1] <= event["ts"] + 0.0005:  # half a nanosecond
                ends.pop()
            level = len(ends)
            ends.append(event["ts"] + event["dur"])
            row = max(row, first + level + 1)
            bar(axes, event, first + level, letter=end / 150)
            used.add(event["cat"])
        label = f"{processes[pid]}: {names[pid, tid, 'thread_name']}"
        axes.text(-end / 150, (first + row - 1) / 2, label, ha="right", va="center")
        axes.axhline(row - 0.3, color="#cccccc", linewidth=0.8)
        row += 0.4
    axes.set_ylim(row - 0.4, -0.7)
    axes.set_xlim(0, max(e["ts"] + e["dur"] for e in events if e["ph"] == "X") / 1e3)
    axes.set_xlabel("milliseconds")
    axes.set_yticks([])
    for side in ("left", "right", "top"):
        axes.spines[side].set_visible(False)
    shown = [kind for kind in COLOURS if kind in used]
    handles = [plt.Rectangle((0, 0), 1, 1, color=COLOURS[kind][0]) for kind in shown]
    axes.legend(handles, shown, ncols=len(shown), loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def bar(axes: plt.Axes, event: dict[str, Any], row: float, letter: float) -> None:
    """`letter` is the width of a letter in milliseconds."""
    begin, length = event["ts"] / 1e3, event["dur"] / 1e3
    fill, ink = COLOURS[event["cat"]]
    axes.barh(row, length, left=begin, height=0.8, color=fill, edgecolor="white", linewidth=0.4)
    if length > letter * len(event["name"]):
        axes.text(begin + length / 2, row, event["name"], ha="center", va="center", fontsize=7, color=ink, clip_on=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("picture", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run.json"
        record(run)
        draw(json.loads(run.read_text())["traceEvents"], options.picture)
