"""What a cell of the matrix says, and how it is said: in a word, a symbol and its ASCII."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.testing.report.record import Record


class State(Enum):
    """From the worst to the least told."""

    CRASHED = ("crashed", "✕", "X", "the process that ran it ended, or never answered")
    WRONG = ("wrong", "≠", "!=", "a check failed, or a declared capability ran no case")
    WITHIN = ("within bound", "≈", "~", "every check passed; some results were not the nearest number")
    EXACT = ("exact", "=", "=", "every check passed; every result was equal, or the nearest number")
    UNSUPPORTED = ("unsupported", "–", "-", "the device does not take it")  # noqa: RUF001 - a dash is meant
    NOT_RUN = ("not run", "?", "?", "there is a case, and no record of it")
    NO_CASE = ("no case", "", "", "the op does not take this dtype")

    def __init__(self, word: str, symbol: str, ascii_symbol: str, meaning: str) -> None:
        self.word, self.symbol, self.ascii_symbol, self.meaning = word, symbol, ascii_symbol, meaning

    @property
    def key(self) -> str:
        """For a class of CSS or a key of JSON."""
        return self.name.lower().replace("_", "-")

    @property
    def failing(self) -> bool:
        return self in (State.CRASHED, State.WRONG)

    @property
    def ran(self) -> bool:
        return self in (State.CRASHED, State.WRONG, State.WITHIN, State.EXACT)


def state_of(record: Record) -> State:
    """Of one record. Where no distance was measured, as by a check of guard zones, nothing speaks against exactness."""
    if record.state in ("crashed", "hung"):
        return State.CRASHED
    if record.state == "failed":
        return State.WRONG
    if record.state in ("refused", "unsupported"):
        return State.UNSUPPORTED
    return State.WITHIN if record.ulp is not None and not record.exact else State.EXACT


def worst(states: Iterable[State]) -> State:
    ranks = list(State)
    return min(states, key=ranks.index, default=State.NOT_RUN)


def cell_state(records: Sequence[Record], declared: bool) -> State:
    """Of a cell of the matrix: the worst of its records."""
    if not records:
        return State.WRONG if declared else State.NOT_RUN
    state = worst(state_of(record) for record in records)
    if state is State.UNSUPPORTED and declared:
        return State.WRONG
    if state is State.EXACT and not any(record.exact for record in records):
        return State.WITHIN  # exactness is claimed only where it was seen
    return state
