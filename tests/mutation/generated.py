"""Generated faults: which files they change, how they are drawn, and how they are named."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .backends import BACKENDS
from .edits import KINDS, Edit, edits_of
from .ops_of_files import near, ops_in, ops_with_rows
from .source_text import SourceText

# The files that are changed in each area, as patterns relative to the root; and exceptions, each with its reason.
PASSES = "passes"
AREAS = {
    **{b.name: tuple(f"{b.folder}/{files}" for files in b.files) for b in BACKENDS.values() if b.files},
    PASSES: ("csrc/core/compiler/*.cpp", "csrc/core/compiler/*.h"),
}
# The percentage of faults in each area when only one number is given for all.
SHARES = {**{b.name: b.share for b in BACKENDS.values() if b.files}, PASSES: 30}
LEFT_OUT = {
    **{f"{b.folder}/{file}": reason for b in BACKENDS.values() for file, reason in b.left_out.items()},
    "csrc/core/compiler/plan_text.cpp": "writes text for people",
}


@dataclass(frozen=True)
class GeneratedFault:
    """One edit of one file. `fingerprint` does not change when lines are inserted elsewhere in the file."""

    area: str
    file: str  # relative to the root, with slashes
    line: int
    edit: Edit
    fingerprint: str

    @property
    def kind(self) -> str:
        return self.edit.kind

    @property
    def name(self) -> str:
        return f"{Path(self.file).name}:{self.line}-{self.kind}-{self.fingerprint}"

    @property
    def what(self) -> str:
        return f"{_one_line(self.edit.before)} -> {_one_line(self.edit.after) or 'nothing'}"


def files_of(area: str, root: Path) -> list[Path]:
    found = {path for pattern in AREAS[area] for path in root.glob(pattern) if path.is_file()}
    return sorted(path for path in found if path.relative_to(root).as_posix() not in LEFT_OUT)


def faults_in(area: str, file: str, text: str) -> list[GeneratedFault]:
    """All possible faults of one file, in the order of its text."""
    source = SourceText(text)
    seen: Counter[str] = Counter()
    faults = []
    for edit in edits_of(source):
        fingerprint = _fingerprint(file, text, edit)
        seen[fingerprint] += 1
        if seen[fingerprint] > 1:
            fingerprint = f"{fingerprint}.{seen[fingerprint]}"
        faults.append(GeneratedFault(area, file, source.line_of(edit.start), edit, fingerprint))
    return faults


def all_faults(area: str, root: Path) -> list[GeneratedFault]:
    """The faults of an area, except those in kernels of ops without a row, which nothing runs."""
    found = []
    for path in files_of(area, root):
        text = path.read_text()
        waiting = ops_in(text) - ops_with_rows(root)
        of_file = faults_in(area, path.relative_to(root).as_posix(), text)
        found += [fault for fault in of_file if not near(text, fault.line, waiting)]
    return found


def draw(faults: Iterable[GeneratedFault], seed: int) -> Iterator[GeneratedFault]:
    """Draws faults so that any number of the first ones is a fair sample: the kinds take turns, and within a kind the
    files. A larger sample with the same seed begins with the smaller one."""
    ordered = list(faults)
    random.Random(seed).shuffle(ordered)
    by_kind = {kind: _turns([fault for fault in ordered if fault.kind == kind]) for kind in KINDS}
    while by_kind:
        for kind in list(by_kind):
            fault = next(by_kind[kind], None)
            if fault is None:
                del by_kind[kind]
            else:
                yield fault


def _turns(faults: list[GeneratedFault]) -> Iterator[GeneratedFault]:
    by_file: dict[str, list[GeneratedFault]] = {}
    for fault in faults:
        by_file.setdefault(fault.file, []).append(fault)
    while by_file:
        for file in list(by_file):
            yield by_file[file].pop()
            if not by_file[file]:
                del by_file[file]


def _fingerprint(file: str, text: str, edit: Edit) -> str:
    """A hash of the edited line and its neighbours, without indentation or line numbers."""
    begin = text.rfind("\n", 0, edit.start) + 1
    end = text.find("\n", edit.start + len(edit.before))
    end = len(text) if end < 0 else end
    line = f"{text[begin : edit.start]}\1{edit.before}\2{edit.after}\3{text[edit.start + len(edit.before) : end]}"
    above = next((x for x in reversed(text[:begin].splitlines()) if x.strip()), "")
    below = next((x for x in text[end:].splitlines() if x.strip()), "")
    words = [file, edit.kind, *(" ".join(part.split()) for part in (above, line, below))]
    return hashlib.sha256("\0".join(words).encode()).hexdigest()[:10]


def _one_line(text: str) -> str:
    joined = " ".join(text.split())
    return joined if len(joined) <= 70 else f"{joined[:67]}..."
