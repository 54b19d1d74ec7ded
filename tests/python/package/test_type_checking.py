"""Type checkers know the public names, and find names that ferrule does not have."""

from __future__ import annotations

from collections.abc import Callable

import ferrule as fe

MISSPELT = """\
import ferrule as fe
x = fe.ones(3)
fe.summ(x)
fe.random.nromal(fe.random.key(0), (3,))
fe.linalg.sovle(x, x)
fe.fft.ftt(x)
fe.io.open_safetensor("a")
word: int = "the rest is checked, too"
"""
MODULES = ("fft", "io", "linalg", "random", "testing")


def test_misspelt_names_are_errors_and_the_rest_is_checked(check_types: Callable[[str], list[str]]) -> None:
    errors = [line for line in check_types(MISSPELT) if "error:" in line]
    assert [int(line.partition(":")[0]) for line in errors] == [3, 4, 5, 6, 7, 8], errors
    assert all("has no attribute" in line for line in errors[:-1])


def test_all_public_names_are_known(check_types: Callable[[str], list[str]]) -> None:
    names = [f"fe.{name}" for name in fe.__all__]
    names += [f"fe.{module}.{name}" for module in MODULES for name in getattr(fe, module).__all__]
    assert check_types("import ferrule as fe\n" + "".join(f"print({name})\n" for name in names)) == []
