"""The states of a cell of the matrix, with a word, a symbol and an ASCII symbol for each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ferrule.testing.report.record import Record


class State(Enum):
    """From the worst to the least informative."""

    CRASHED = ("crashed", "✕", "X", "the process that ran it ended, or never answered")
    WRONG = ("wrong", "≠", "!=", "a check failed, or a declared capability ran no case")
    WITHIN = ("within bound", "≈", "~", "every check passed; some results were not the nearest number")
    EXACT = ("exact", "=", "=", "every check passed; every result was equal, or the nearest number")
    UNSUPPORTED = ("unsupported", "–", "-", "the device does not take it")  # noqa: RUF001 - a dash is meant
    NOT_RUN = ("not run", "?", "?", "there is a case but no record of it")
    NO_CASE = ("no case", "", "", "the op does not take this dtype")

    def __init__(self, word: str, symbol: str, ascii_symbol: str, meaning: str) -> None:
        self.word, self.symbol, self.ascii_symbol, self.meaning = word, symbol, ascii_symbol, meaning

    @property
    def key(self) -> str:
        """The name for CSS classes and JSON keys."""
        return self.name.lower().replace("_", "-")

    @property
    def failing(self) -> bool:
        return self in (State.CRASHED, State.WRONG)

    @property
    def ran(self) -> bool:
        return self in (State.CRASHED, State.WRONG, State.WITHIN, State.EXACT)


def state_of(record: Record) -> State:
    """The state of one record. A passed record without a measured distance, as of `guards`, counts as exact."""
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
    """The state of a cell: that of its worst record."""
    if not records:
        return State.WRONG if declared else State.NOT_RUN
    state = worst(state_of(record) for record in records)
    if state is State.UNSUPPORTED and declared:
        return State.WRONG
    if state is State.EXACT and not any(record.exact for record in records):
        return State.WITHIN  # EXACT needs at least one record that measured it
    return state
