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
from tools.stages import SHOWS, STAGES
from tools.steps import Choice

VERIFIED = ROOT / ".ci" / "verified"
OLDEST = 300  # commits: after more, whatever changed since says little
# The paths whose change speaks for a stage.
PATHS = {
    "address": r"csrc/(core|bindings|sdk|module_file|probe|backends/(cpu|null))/",
    "thread": r"csrc/(bindings|core/(threads|executor|sync|lazy|memory|registry|loader|cache|trace))/",
    "fuzz": r"csrc/(module_file|manifest|core/loader/(candidate|options))/|tests/fuzz/",
    "static": r"cmake/|CMakeLists|csrc/backends/(cpu|null)/|tests/(c|foreign)/",
    "wheels": r"wheels/|cmake/|pyproject|licenses/|tests/wheels/|tools/wheels",
    "vulkan": r"csrc/backends/vulkan/",
    "cuda": r"csrc/backends/cuda/|tests/emulation/(?!metal/)",
    "metal": r"csrc/backends/metal/|tests/emulation/metal/",
    "wine": r"csrc/(windows|probe|module_file|core/(platform|loader))/|cmake/|tests/ports/.*windows",
    "qemu": r"aarch64|arm|csrc/(probe|core/platform)/|cmake/|tests/ports/",
    "tidy": r"\.(c|cpp|h|hpp)$|\.clang-tidy$",
}
# The paths that only some stages read.
READ_BY = {
    r"\.md$|^\.ci/|^\.github/|^docs/|^benchmarks/|^tests/mutation/|^tools/(verify|steps|lint)\.py$": (),
    r"^tests/wheels/": ("wheels",),
    r"^tests/fuzz/": ("fuzz", "tidy"),
    r"^tests/ports/|^tools/other_systems\.py$": ("wine", "qemu"),
    r"^tests/(emulation|python|hostile)/.*test_\w+\.py$": ("address", "cuda", "metal", "wine", "qemu"),
    r"^tools/sanitizers\.py$": ("address", "thread"),
    r"^tools/wheels\.py$": ("wheels", "wine", "qemu"),
    r"^\.clang-tidy$": ("tidy",),
}


def verify(*, stages: list[str], list: bool, one: float | None) -> None:
    if unknown := set(stages) - set(STAGES):
        raise SystemExit(f"there is no stage {', '.join(sorted(unknown))}; there are {', '.join(STAGES)}")
    if list:
        for name in STAGES:
            print(f"{name:8}  {'passed' if passed(name) else '-':6}  {SHOWS[name]}")
        return
    if one is not None:
        run_one(one, *stages[:1])
        return
    for name in stages or STAGES:
        run_whole(name)
    if all(passed(name) for name in STAGES):
        if output_of("git", "status", "--porcelain"):
            say("all stages have passed, on a tree that is not committed: .ci/verified is not written")
            return
        VERIFIED.write_text(output_of("git", "rev-parse", "HEAD") + "\n")
        say("all stages have passed: commit .ci/verified")


def passed(name: str) -> bool:
    return (marks(name) / "passed").exists()


def marks(name: str) -> Path:
    """The folder of a stage's marks: it names the state of the files that the stage reads."""
    found = hashlib.sha256()
    others = re.compile("|".join(pattern for pattern, stages in READ_BY.items() if name not in stages))
    for path in output_of("git", "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if not others.search(path) and (ROOT / path).is_file():
            found.update(path.encode() + b"\0" + (ROOT / path).read_bytes())
    return ROOT / "build" / "verified" / f"{name}-{found.hexdigest()[:16]}"


def run_whole(name: str) -> None:
    if passed(name):
        say(f"{name}: has passed on these files")
        return
    folder = marks(name)
    folder.mkdir(parents=True, exist_ok=True)
    times = []
    for step in STAGES[name](Choice()):
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


def run_one(minutes: float, name: str = "") -> None:
    """The stage of CI, or a given one: its steps until the time ends. What was not reached is named."""
    commit = output_of("git", "rev-parse", "HEAD")
    name = name or choose(commit)
    steps = [*STAGES[name](Choice(commit))]
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


def choose(commit: str) -> str:
    """The stage of CI for a commit: one that the changes since the verified commit speak for, else any; by the hash."""
    names = [*STAGES]
    try:
        verified = VERIFIED.read_text().strip()
        if int(output_of("git", "rev-list", "--count", f"{verified}..{commit}")) <= OLDEST:
            changed = output_of("git", "diff", "--name-only", verified, commit).splitlines()
            touched = [name for name in names if any(re.search(PATHS[name], path) for path in changed)]
            names = touched or names
    except (OSError, CommandError):
        pass  # no file, or no commit of this history
    return random.Random(commit).choice(names)
