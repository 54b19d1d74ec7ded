"""All names of the Python array API standard 2024.12 exist, and their signatures accept every call that it defines.

signatures_2024_12.json has the standard's signatures; read_signatures.py made it.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from operator import attrgetter
from pathlib import Path
from typing import Any

import ferrule as fe
import pytest

from tests.python.each import each

STANDARD: dict[str, Any] = json.loads(Path(__file__).with_name("signatures_2024_12.json").read_text())
KINDS = {
    "positional only": (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD),
    "positional": (inspect.Parameter.POSITIONAL_OR_KEYWORD,),
    "keyword only": (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD),
    "any number": (inspect.Parameter.VAR_POSITIONAL,),
}
# Parameters that the standard requires and ferrule does not.
OPTIONAL = {("squeeze", "axis"), ("where", "x1"), ("where", "x2")}
# Operators that are slots of the extension's class, which have no signatures.
OPERATORS = {name for name in STANDARD["methods"]["Array"] if name in vars(fe.Array.__base__)}
CLASSES: dict[str, Callable[[], Any]] = {"Array": lambda: fe.Array, "Info": lambda: fe.__array_namespace_info__()}
METHODS = [(owner, name) for owner, methods in STANDARD["methods"].items() for name in methods if name != "__init__"]


def differences(name: str, function: Callable[..., Any], wanted: list[Any], *, is_method: bool = False) -> list[str]:
    """Return how a signature differs from the standard's. It may have more parameters, all of them optional."""
    given = list(inspect.signature(function).parameters.values())[1 if is_method else 0 :]
    by_name = {parameter.name: parameter for parameter in given}
    found = []
    for parameter, kind, default in wanted:
        own = by_name.pop(parameter, None)
        if own is None:
            found.append(f"{parameter} is missing")
        elif own.kind not in KINDS[kind]:
            found.append(f"{parameter} is {own.kind.description}, not {kind}")
        elif default and (type(own.default), own.default) != (type(default[0]), default[0]):
            found.append(f"{parameter} is {own.default!r} by default, not {default[0]!r}")
        elif not default and own.default is not inspect.Parameter.empty and (name, parameter) not in OPTIONAL:
            found.append(f"{parameter} has a default")
    places = [[parameter, *_] for parameter, *_ in wanted if parameter in {own.name for own in given}]
    positional = [own.name for own in given if own.kind in KINDS["positional only"]]
    expected = [parameter for parameter, kind, _ in places if kind in ("positional only", "positional")]
    if positional[: len(expected)] != expected:
        found.append(f"the positional parameters are {positional}, not {expected}")
    for own in by_name.values():
        is_free = own.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        if own.default is inspect.Parameter.empty and not is_free:
            found.append(f"{own.name}, which the standard does not have, is required")
    return found


@each("name", STANDARD["functions"])
def test_a_function_has_the_signature_of_the_standard(name: str) -> None:
    assert differences(name, attrgetter(name)(fe), STANDARD["functions"][name]) == []


@each("name", [name for name in STANDARD["functions"] if "." not in name])
def test_a_function_is_public(name: str) -> None:
    assert name in fe.__all__
    assert name in dir(fe)


@each("name", STANDARD["names"])
def test_a_constant_or_dtype_exists(name: str) -> None:
    assert hasattr(fe, name)


@each(("owner", "name"), METHODS)
def test_a_method_has_the_signature_of_the_standard(owner: str, name: str) -> None:
    method = getattr(CLASSES[owner](), name)
    if owner == "Array" and name in OPERATORS:
        assert callable(method)
    else:
        # The receiver is bound in a method of an object, and a parameter in one of a class.
        assert (
            differences(name, method, optional_device(STANDARD["methods"][owner][name]), is_method=owner == "Array")
            == []
        )


def optional_device(parameters: list[Any]) -> list[Any]:
    """Return the parameters of a method of Info with the defaults that the text of the standard gives them."""
    return [
        [name, kind, [None] if name in ("device", "kind") and kind == "keyword only" else default]
        for name, kind, default in parameters
    ]


@each("name", STANDARD["properties"]["Array"])
def test_a_property_of_arrays_exists(name: str) -> None:
    assert hasattr(fe.ones((2, 2)), name)


@each(
    "name",
    [
        *("__iadd__", "__isub__", "__imul__", "__itruediv__", "__ifloordiv__", "__ipow__", "__imod__", "__imatmul__"),
        *("__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"),
    ],
)
def test_an_in_place_operator_exists(name: str) -> None:
    assert list(inspect.signature(getattr(fe.Array, name)).parameters) == ["self", "other"]


def test_the_module_says_which_version_it_follows() -> None:
    assert fe.__array_api_version__ == "2024.12"
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12"):
        assert fe.ones(1).__array_namespace__(api_version=version) is fe
    with pytest.raises(fe.InvalidArgumentError, match=r"^__array_namespace__: api_version '1999\.12' is not one of"):
        fe.ones(1).__array_namespace__(api_version="1999.12")


def test_a_comparison_of_signatures_finds_each_kind_of_difference() -> None:
    wanted = [["x", "positional only", []], ["axis", "keyword only", [None]]]

    def right(x: Any, /, *, axis: Any = None, more: int = 1) -> None: ...
    def other_name(x: Any, /, *, axes: Any = None) -> None: ...
    def other_default(x: Any, /, *, axis: Any = 0) -> None: ...
    def positional(x: Any, axis: Any = None, /) -> None: ...
    def required(x: Any, y: Any, /, *, axis: Any = None) -> None: ...

    assert differences("f", right, wanted) == []
    assert differences("f", other_name, wanted) == ["axis is missing"]
    assert differences("f", other_default, wanted) == ["axis is 0 by default, not None"]
    assert differences("f", positional, wanted) == ["axis is positional-only, not keyword only"]
    assert differences("f", required, wanted) == ["y, which the standard does not have, is required"]
