"""Finds expressions by which a function reads values from outside: `c["k"]`, `self.rate`, `time.time()`."""

from __future__ import annotations

import dis
import functools
from collections.abc import Iterator
from types import CodeType
from typing import Any, NamedTuple


class Path(NamedTuple):
    """A name and the attributes and items that the code reads of it, one of the other."""

    name: str
    is_global: bool
    steps: tuple[tuple[str, Any], ...]  # ("attribute", its name) or ("item", the constant index or key)
    line: int
    argument_count: int | None  # of a call without arguments or with one constant; otherwise None


# Instructions between the parts of a path that do not end it.
_BETWEEN = frozenset({"CACHE", "COPY", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL"})
_NAMES = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FAST")
_CONSTANTS = ("LOAD_CONST", "LOAD_SMALL_INT")


@functools.lru_cache(maxsize=4096)
def paths_in(code: CodeType) -> tuple[Path, ...]:
    """Return the paths that a function, and the functions and classes in it, read; each once."""
    return tuple(dict.fromkeys(_paths_in(code)))


def _paths_in(code: CodeType) -> Iterator[Path]:
    name: str | None = None
    is_global, line = False, code.co_firstlineno
    steps: list[tuple[str, Any]] = []
    key: list[Any] = []
    for step in dis.get_instructions(code):
        if step.positions is not None and step.positions.lineno is not None:
            line = step.positions.lineno
        if step.opname in _BETWEEN:
            continue
        if name is not None:
            if step.opname in ("LOAD_ATTR", "LOAD_METHOD") and not key:
                steps.append(("attribute", step.argval))
                continue
            if step.opname in _CONSTANTS and not key:
                key = [step.argval]
                continue
            if key and (step.opname == "BINARY_SUBSCR" or step.argrepr == "[]"):
                steps.append(("item", key.pop()))
                continue
            is_known = step.opname == "CALL" and step.arg == len(key)
            yield Path(name, is_global, tuple(steps), line, step.arg if is_known else None)
        name, steps, key = None, [], []
        if step.opname.startswith(_NAMES):
            # Some instructions load two local names.
            *others, name = step.argval if isinstance(step.argval, tuple) else (step.argval,)
            for other in others:
                yield Path(other, False, (), line, None)
            is_global = step.opname in ("LOAD_GLOBAL", "LOAD_NAME")
        elif step.opname == "STORE_FAST_LOAD_FAST":
            name, is_global = step.argval[-1], False
    for constant in code.co_consts:
        if isinstance(constant, CodeType):  # a nested function or class
            yield from paths_in(constant)
