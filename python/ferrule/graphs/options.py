"""The options of `ferrule.graph` that name arguments: which ones are donated, and which ones are static."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

from ferrule.errors import InvalidArgumentError


def donated_places(donate: int | Sequence[int]) -> tuple[int, ...]:
    """Return the sorted places of the arguments that are donated."""
    places = (donate,) if type(donate) is int else donate
    if not isinstance(places, (tuple, list)) or any(type(place) is not int or place < 0 for place in places):
        raise InvalidArgumentError(f"graph: donate is the places of positional arguments, from 0 on, not {donate!r}")
    return tuple(sorted({*places}))


def static_arguments(function: Callable[..., Any], given: Sequence[int | str]) -> frozenset[int | str]:
    """Return the places and the names of the static arguments; one given by name has both, if it may be passed so."""
    try:
        parameters = [*inspect.signature(function).parameters.values()]
    except (TypeError, ValueError):
        return frozenset(given)
    by_place = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    by_name = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    has_more = {p.kind for p in parameters}
    found: set[int | str] = set()
    for one in given:
        if isinstance(one, str):
            if one not in by_name and one not in by_place and inspect.Parameter.VAR_KEYWORD not in has_more:
                raise InvalidArgumentError(f"graph: static_argnames: the function has no argument {one!r}")
            found |= {one, by_place.index(one)} if one in by_place else {one}
        else:
            if one >= len(by_place) and inspect.Parameter.VAR_POSITIONAL not in has_more:
                raise InvalidArgumentError(
                    f"graph: static_argnums: there is no argument {one}; the function has {len(by_place)} by position"
                )
            found |= {one, by_place[one]} if one < len(by_place) else {one}
    return frozenset(found)


def static_options(nums: int | Sequence[int], names: str | Sequence[str]) -> tuple[int | str, ...]:
    """Return the options static_argnums and static_argnames as one tuple."""
    places = (nums,) if type(nums) is int else nums
    if not isinstance(places, (tuple, list)) or any(type(place) is not int or place < 0 for place in places):
        raise InvalidArgumentError(f"graph: static_argnums is places of arguments, from 0 on, not {nums!r}")
    words = (names,) if isinstance(names, str) else names
    if not isinstance(words, (tuple, list)) or not all(isinstance(word, str) for word in words):
        raise InvalidArgumentError(f"graph: static_argnames is names of arguments, not {names!r}")
    return (*places, *words)
