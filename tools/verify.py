"""`./dev verify`: the slow stages, each whole and resumable; and the one that CI runs for some minutes.

A step that has passed is not run again until a file that its stage reads is changed. .ci/verified has a line for each
stage: the last commit on which it passed whole. CI chooses its stage by what changed since then.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from pathlib import Path

from tools import backends, process
from tools.process import ROOT, CommandError, OutOfTimeError, output_of, say
from tools.stages import STAGES
from tools.steps import Sample, Stage

VERIFIED = ROOT / ".ci" / "verified"
# The paths that only some stages read; no other is run again after a change there. Who changes a list of steps runs it.
READ_BY = {
    r"^(docs|examples/chat|\.ci|\.github)/|^(CONTRIBUTING|SECURITY)\.md$": (),
    r"^tests/mutation/": ("faults",),
    r"^tools/(all_tests|lint|stages|steps|verify)\.py$": (),
    r"^(README|CHANGELOG)\.md$|^tests/wheels/": ("wheels",),
    r"^benchmarks/": ("cuda",),
    r"^python/": ("address", "thread", "wheels", *backends.names(), "wine", "qemu", "faults"),
    r"^tests/fuzz/": ("fuzz", "tidy"),
    r"^tests/cpp/(?!loader/driver).*_test\.cpp$": ("address", "thread", "static", "wine", "qemu", "tidy"),
    r"^tests/ports/.*windows": ("wine",),
    r"^tests/ports/.*(arm64|debian|emulated|musl)": ("qemu",),
    r"^tests/ports/|^tools/other_systems\.py$": ("wine", "qemu"),
    r"^tests/(python|hostile)/.*test_\w+\.py$": ("address", "wine"),
    r"^tools/sanitizers\.py$": ("address", "thread"),
    r"^(tools/wheels\.py|cmake/toolchains/zig\.cmake)$": ("wheels", "wine", "qemu"),
    r"^\.clang-tidy$": ("tidy",),
    **{
        f"^csrc/backends/{name}/": (name, "address", "thread", "wheels", "wine", "qemu", "faults", "tidy")
        for name in backends.names()
    },
}
NAMED = {stage.name: stage for stage in STAGES}


def verify(*, stages: list[str], list: bool, one: float | None) -> None:
    if unknown := set(stages) - set(NAMED):
        raise SystemExit(f"there is no stage {', '.join(sorted(unknown))}; there are {', '.join(NAMED)}")
    if list:
        for stage in STAGES:
            state = "passed" if passed(stage) else "changed" if stage.name in verified() else "never"
            print(f"{stage.name:8}  {state:7}  {stage.shows}")
        return
    if one is not None:
        run_one(one, NAMED[stages[0]] if stages else None)
        return
    for name in stages or NAMED:
        run_whole(NAMED[name])


def verified() -> dict[str, str]:
    """The last commit on which each stage passed."""
    lines = VERIFIED.read_text().splitlines() if VERIFIED.exists() else []
    return dict(line.split() for line in lines)


def is_read(stage: Stage, path: str) -> bool:
    return all(stage.name in names or not re.search(pattern, path) for pattern, names in READ_BY.items())


def passed(stage: Stage) -> bool:
    """Whether no file that the stage reads has changed since it passed."""
    paths = changes(verified().get(stage.name))
    return paths is not None and not any(is_read(stage, path) for path in paths)


def changes(commit: str | None) -> list[str] | None:
    """The files that changed since a commit; None if it is no commit of this history."""
    try:
        return output_of("git", "diff", "--name-only", commit).splitlines() if commit else None
    except CommandError:
        return None


def marks(stage: Stage) -> Path:
    """The folder with a mark for each step that has passed: its name tells the state of the files that are read."""
    found = hashlib.sha256()
    for path in output_of("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if is_read(stage, path) and (ROOT / path).is_file():
            found.update(path.encode() + b"\0" + (ROOT / path).read_bytes())
    return ROOT / "build" / "verified" / f"{stage.name}-{found.hexdigest()[:16]}"


def run_whole(stage: Stage) -> None:
    name = stage.name
    if passed(stage):
        say(f"{name}: has passed, and nothing that it reads has changed since")
        return
    folder = marks(stage)
    folder.mkdir(parents=True, exist_ok=True)
    times = []
    for step in stage.steps(Sample()):
        mark = folder / re.sub("[^a-z0-9]+", "_", step.name.lower())
        if not mark.exists():
            say(f"{name}: {step.name}")
            begin = time.monotonic()
            step.run()
            mark.write_text(f"{time.monotonic() - begin:.0f}")
        times.append((int(mark.read_text()), step.name))
    print("\n".join(f"{seconds:6} s  {name}: {step}" for seconds, step in times))
    print(f"{sum(seconds for seconds, _ in times):6} s  {name}, passed", flush=True)
    if any(is_read(stage, path) for path in changes("HEAD") or []):
        say(f"{name} has passed on files that are not committed: .ci/verified does not say so")
        return
    commits = {**verified(), name: output_of("git", "rev-parse", "HEAD")}
    VERIFIED.write_text("".join(f"{stage.name} {commits[stage.name]}\n" for stage in STAGES if stage.name in commits))
    say(f"{name} has passed on this commit: commit .ci/verified, too")


def run_one(minutes: float, stage: Stage | None) -> None:
    """A stage, by default that of CI: its steps until the time ends. What was not reached is named."""
    commit = output_of("git", "rev-parse", "HEAD")
    stage = stage or choose(commit)
    name, steps = stage.name, [*stage.steps(Sample(commit))]
    process.deadline = time.monotonic() + 60 * minutes
    times: list[str] = []
    try:
        for step in steps:
            say(f"{name}: {step.name}")
            begin = time.monotonic()
            try:
                step.run()
            except OutOfTimeError:
                break
            times.append(f"{time.monotonic() - begin:6.0f} s  {name}: {step.name}")
    finally:
        process.deadline = None
        print("\n".join(times))
    if left := [step.name for step in steps[len(times) :]]:
        print(f"{name} was not finished in {minutes:g} minutes; not reached: {', '.join(left)}", flush=True)


def choose(commit: str) -> Stage:
    """The stage of CI: by the hash one that the changes since its verified commit speak for, else any."""

    def has_changed(stage: Stage) -> bool:
        paths = changes(verified().get(stage.name))
        return paths is None or any(re.search(stage.sources, path) for path in paths)

    return random.Random(commit).choice([stage for stage in STAGES if has_changed(stage)] or STAGES)
