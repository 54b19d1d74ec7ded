"""Makes faults in one kernel file, each a small edit of a line, and shows which ones the kit misses for the file's ops.

A fault that is missed is a gap in the kit, or has no effect that can be seen; who tries it judges that. What was a gap
becomes an entry of faults.py, or of the backend's mutation.toml, with the check that catches it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

import ferrule.testing
from rich.console import Console
from rich.markup import escape

from .backends import ROOT, Backend
from .workspace import BuildError, Workspace

# Patterns and replacements. clang-format puts spaces around binary operators, and none beside pointers.
_OPERATORS = "+ -, - +, * +, / *, % /, & |, | &, ^ |, < <=, <= <, > >=, >= >, == !=, != ==, && ||, || &&, << >>, >> <<"
_FUNCTIONS = "min max, max min, floor ceil, round trunc, Add Sub, Sub Add, Mul Add, Lt Le, Gt Ge, any_of all_of"
_EDITS = [
    *((rf" {re.escape(before)} ", f" {after} ") for before, after in map(str.split, _OPERATORS.split(","))),
    *((rf"\b{before}\(", f"{after}(") for before, after in map(str.split, _FUNCTIONS.split(","))),
    (r"(?<=[(=,+*/<>-] )-(?=\w)", ""),
    (r"(?<![\w.])!(?=\w)", ""),
    (r"\bif \((?!constexpr)([^;{}]*)\)(?= )", r"if (!(\1))"),
    (r"\btrue\b", "false"),
    (r"\bfalse\b", "true"),
    (r"^( *)(?:\w*[bB]arrier\w*\(.*\)|__syncthreads\(\)|\w[\w.\[\]]* [-+*|&]?= [^;]*|continue|break);$", r"\1{}"),
]
_NUMBER = re.compile(r"(?<![\w.])(\d+)(?![\w.])")
_NO_CODE = re.compile(r"^\s*(?://|#|\*|/\*|static_assert|template|KERNEL|ELEMENTWISE)")


@dataclass(frozen=True)
class GeneratedFault:
    line: int
    before: str  # the whole line
    after: str


def faults_of(text: str) -> Iterator[GeneratedFault]:
    """All faults of a file, in the order of its lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if _NO_CODE.match(line):
            continue
        code = line.split("//")[0].rstrip()
        changed = {
            code[: found.start()] + found.expand(replacement) + code[found.end() :]
            for pattern, replacement in _EDITS
            for found in re.finditer(pattern, code)
        }
        for found in _NUMBER.finditer(code):
            changed.add(f"{code[: found.start()]}{int(found[1]) + 1}{code[found.end() :]}")
        yield from (GeneratedFault(number, line, after) for after in sorted(changed - {code}))


def run(
    backend: Backend, file: str, ops: list[str], count: int, seed: int, level: str, variant: str, console: Console
) -> int:
    """Returns the number of faults that the kit missed. `file` is relative to the backend's kernels."""
    workspace = Workspace(backend.name, variant)
    workspace.prepare()
    for op in ops:
        if not (clean := ferrule.testing.check(op, backend=workspace.clean, level=level)).ok:
            raise SystemExit(f"{op} fails without a fault:\n{clean}")
    path = f"{backend.kernels}/{file}"
    text = (ROOT / path).read_text()
    faults = list(faults_of(text))
    missed = 0
    for fault in random.Random(seed).sample(faults, min(count, len(faults))):
        lines = text.splitlines()
        lines[fault.line - 1] = fault.after
        with workspace.planted(path, "\n".join([*lines, ""])):
            outcome = _outcome(workspace, ops, level)
        missed += outcome == MISSED
        edit = f"{fault.before.strip()} -> {fault.after.strip()}"
        console.print(f"{file}:{fault.line}  {escape(edit)}: {outcome}", soft_wrap=True, highlight=False)
    return missed


MISSED = "[bold red]missed[/]"


def _outcome(workspace: Workspace, ops: list[str], level: str) -> str:
    try:
        workspace.build()
    except BuildError:
        return "does not compile"
    if workspace.is_identical:
        return "the module is the same"
    for op in ops:
        failures = ferrule.testing.check(op, backend=workspace.product, level=level).failures
        if failures:
            return f"caught by {op} {failures[0].check}"
    return MISSED
