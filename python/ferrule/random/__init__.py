"""Random numbers by key: the same key gives the same numbers on every device, at any thread count and in every process.

A key is an ordinary array of two uint32. `split` makes new keys from one; no function changes a key.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Never

from ferrule import _ferrule
from ferrule.random import distributions, keys, selections
from ferrule.random.distributions import *
from ferrule.random.keys import *
from ferrule.random.selections import *
from ferrule.text import other_names

__all__: list[str] = []
__all__ += distributions.__all__
__all__ += keys.__all__
__all__ += selections.__all__

for _name in __all__:
    globals()[_name] = _ferrule.public(globals()[_name], __name__)


if not TYPE_CHECKING:  # a type checker would accept any name

    def __getattr__(name: str) -> Never:
        raise other_names.missing_name("random", name, __all__)


def __dir__() -> list[str]:
    return sorted(__all__)  # without the modules that the imports set here
