"""`./dev verify`: the slow stages, each whole and resumable; and the one that CI runs for some minutes.

A step that has passed is not run again until a file that its stage reads is changed. When all stages have passed on a
commit, .ci/verified names it, and CI chooses its stage by what changed since then.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
from pathlib import Path

from tools import process
from tools.process import ROOT, CommandError, OutOfTimeError, output_of, say
from tools.stages import STAGES
from tools.steps import Sample, Stage

VERIFIED = ROOT / ".ci" / "verified"
MOST_COMMITS = 300  # since the verified one: after more, any stage may be drawn
# The paths that only some stages read; no other is run again after a change there.
READ_BY = {
    r"^(docs|tests/mutation|\.ci|\.github)/|^(CONTRIBUTING|SECURITY)\.md|^tools/(verify|steps|lint|all_tests)\.py$": (),
    r"^(README|CHANGELOG)\.md$|^tests/wheels/": ("wheels",),
    r"^benchmarks/": ("cuda",),
    r"^tests/fuzz/": ("fuzz", "tidy"),
    r"^tests/ports/|^tools/other_systems\.py$": ("wine", "qemu"),
    r"^tests/(python|hostile)/.*test_\w+\.py$": ("address", "wine", "qemu"),
    r"^tools/sanitizers\.py$": ("address", "thread"),
    r"^tools/wheels\.py$": ("wheels", "wine", "qemu"),
    r"^\.clang-tidy$": ("tidy",),
}
NAMED = {stage.name: stage for stage in STAGES}


def verify(*, stages: list[str], list: bool, one: float | None) -> None:
    if unknown := set(stages) - set(NAMED):
        raise SystemExit(f"there is no stage {', '.join(sorted(unknown))}; there are {', '.join(NAMED)}")
    if list:
        for stage in STAGES:
            print(f"{stage.name:8}  {'passed' if passed(stage) else '-':6}  {stage.shows}")
        return
    if one is not None:
        run_one(one, NAMED[stages[0]] if stages else None)
        return
    for name in stages or NAMED:
        run_whole(NAMED[name])
    if all(map(passed, STAGES)):
        if output_of("git", "status", "--porcelain"):
            say("all stages have passed, on a tree that is not committed: .ci/verified is not written")
            return
        VERIFIED.write_text(output_of("git", "rev-parse", "HEAD") + "\n")
        say("all stages have passed: commit .ci/verified")


def passed(stage: Stage) -> bool:
    return (marks(stage) / "passed").exists()


def marks(stage: Stage) -> Path:
    """The folder of a stage's marks: it names the state of the files that the stage reads."""
    found = hashlib.sha256()
    others = re.compile("|".join(pattern for pattern, names in READ_BY.items() if stage.name not in names))
    for path in output_of("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if not others.search(path) and (ROOT / path).is_file():
            found.update(path.encode() + b"\0" + (ROOT / path).read_bytes())
    return ROOT / "build" / "verified" / f"{stage.name}-{found.hexdigest()[:16]}"


def run_whole(stage: Stage) -> None:
    name = stage.name
    if passed(stage):
        say(f"{name}: has passed on these files")
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
    (folder / "passed").touch()
    print("\n".join(f"{seconds:6} s  {name}: {step}" for seconds, step in times))
    print(f"{sum(seconds for seconds, _ in times):6} s  {name}, passed", flush=True)


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
    """The stage of CI for a commit: one that the changes since the verified commit speak for, else any; by the hash."""
    stages = STAGES
    try:
        verified = VERIFIED.read_text().strip()
        if int(output_of("git", "rev-list", "--count", f"{verified}..{commit}")) <= MOST_COMMITS:
            changed = output_of("git", "diff", "--name-only", verified, commit).splitlines()
            stages = [stage for stage in STAGES if any(re.search(stage.sources, path) for path in changed)] or STAGES
    except (OSError, CommandError):
        pass  # no file, or no commit of this history
    return random.Random(commit).choice(stages)
