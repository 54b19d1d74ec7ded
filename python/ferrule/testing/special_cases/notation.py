"""The notation of the special cases: one row for each sentence of the standard.

A header in brackets names a function and its operands: `x`; `x1 x2`; `a+bj` for the parts of one complex number,
`a+bj c+dj` for two; `...` for the elements of a reduction. After a semicolon:

- `odd`, `even`: f(-x) is -f(x), or f(x). `conj`: f of a conjugate is the conjugate of f. `commutes`: f(x1, x2) is
  f(x2, x1). The rows hold for the other operands, too, and finite results have the same bits.
- `parts`: the rows of the function of real numbers hold for the real parts and for the imaginary parts.
- `as EXPRESSION`: the rows are those of another function. `1j * z` exchanges the parts and changes one sign.

A row is `conditions -> results`. It has a condition for each operand; ` or ` separates alternatives. Instead,
`some P` stands for any operand of which P holds, `all P` for all operands, and `rest` for what no other row covers.

A condition is one or more of these, joined with `&`; `!` negates one:

- `nan`, `inf`, `0`, a number; with a sign, only those of the sign: `-nan`, `+0`
- `any`; `fin`, finite; `+fin` and `-fin`, finite, nonzero and of the sign; `nonzero`, finite and nonzero
- `>1`, `<0`; `magnitude<1`, `magnitude=1`, `magnitude>1`
- `int`, an integer; `odd`, an odd integer; `halfway` between two integers; `subnormal`
- `x1` or `-x1`, equal to it; `like x1` and `unlike x1`, of the same and of the other sign

A result has a value for each part, or alternatives separated by ` or `:

- `nan`, and with a sign `-nan`, `+nan`; `any`
- `+0`, `-0`, `+inf`, `-inf`, and `0`, `inf` where the sign is unspecified; a number
- `+pi`, `-3pi/4`, ..., within the tolerance of the case; `pi/2` of either sign
- an operand: `x1`, `-x1`, `abs(x1)`, `-abs(x1)`
- `positive`, `negative`: any number of the sign, zero included; `inf*sign`, an infinity with the sign of the product
- `inf*cos(b)`, `0*sin(b)`: with the sign of the function
- `even`: the nearest even integer; `truncated`: the integer part; `true`, `false`
- the name of an error that is raised
- `oracle`: what the oracle of the case has, within its tolerance; `cmath`: Python's function of that name
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache

from ferrule.testing.special_cases.branch_cuts import BRANCH_CUTS
from ferrule.testing.special_cases.complex import COMPLEX
from ferrule.testing.special_cases.conversions import CONVERSIONS
from ferrule.testing.special_cases.real import REAL
from ferrule.testing.special_cases.reductions import REDUCTIONS

COMPLEX_OPERANDS = ("a+bj", "a+bj c+dj", "...+...j")


@dataclass(frozen=True)
class Row:
    """One row. Each of `conditions` is an alternative; each alternative has a condition for each operand."""

    text: str
    conditions: tuple[str, ...]
    results: tuple[str, ...]

    @property
    def is_rest(self) -> bool:
        return self.conditions == ("rest",)


@dataclass(frozen=True)
class Entry:
    """The special cases of a function of real or of complex numbers."""

    name: str
    operands: tuple[str, ...]  # the names of real operands, or of the parts of complex ones
    is_complex: bool
    rows: tuple[Row, ...]
    symmetries: frozenset[str] = frozenset()
    by_parts: bool = False
    same_as: str = ""  # the expression whose rows hold
    cuts: tuple[Row, ...] = field(default=())

    @property
    def is_reduction(self) -> bool:
        return self.operands[0] == "..."


def parsed(text: str) -> list[Entry]:
    """Parse the blocks of a text."""
    entries = []
    for block in re.split(r"^\[", text, flags=re.MULTILINE)[1:]:
        head, _, body = block.partition("]")
        what, _, options = head.partition(";")
        name, _, operands = what.strip().partition(" ")
        lines = [line for line in body.splitlines() if line.strip() and not line.startswith("#")]
        option = options.strip()
        same_as = option.removeprefix("as ") if option.startswith("as ") else ""
        words = frozenset() if same_as else frozenset(filter(None, (word.strip() for word in option.split(","))))
        entries.append(
            Entry(
                name,
                tuple(re.findall(r"\.\.\.|\w+", operands.replace("j", ""))),
                operands in COMPLEX_OPERANDS,
                tuple(map(row_of, lines)),
                words - {"parts"},
                "parts" in words,
                same_as,
            )
        )
    return entries


def row_of(line: str) -> Row:
    conditions, arrow, results = line.partition(" -> ")
    assert arrow, line
    alternatives = tuple(part.strip() for part in conditions.split(" or "))
    return Row(line, alternatives, tuple(part.strip() for part in results.split(",")))


@cache
def entries() -> dict[tuple[str, bool], Entry]:
    """The entries, by name and whether they are for complex numbers."""
    cuts = {entry.name: entry.rows for entry in parsed(BRANCH_CUTS)}
    found = {}
    for entry in (*parsed(REAL), *parsed(COMPLEX), *parsed(REDUCTIONS), *parsed(CONVERSIONS)):
        key = entry.name, entry.is_complex
        assert key not in found, key
        if entry.is_complex and entry.name in cuts:
            entry = Entry(**{**vars(entry), "cuts": cuts[entry.name]})
        found[key] = entry
    return found
