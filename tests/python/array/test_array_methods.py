"""The methods that ferrule.functions.methods attaches to `Array`. The build declares them for type checkers."""

from __future__ import annotations

import inspect
from types import FunctionType

import ferrule as fe
from ferrule.functions import methods


def test_methods_are_attributes_of_the_class() -> None:
    attached = [item for source in methods.SOURCES for item in vars(source).items()]
    functions = {name: member for name, member in attached if isinstance(member, (FunctionType, property))}
    assert {"sum", "swapaxes", "clip", "T", "__contains__"} <= functions.keys()
    for name, source in functions.items():
        member = vars(fe.Array)[name]
        assert isinstance(member, type(source))
        function, written = (x.fget if isinstance(x, property) else x for x in (member, source))
        assert inspect.unwrap(function) is written
        assert written.__qualname__ == f"Array.{name}"


def test_a_method_of_a_function_takes_its_other_arguments_by_name_and_position() -> None:
    assert list(inspect.signature(fe.Array.swapaxes).parameters) == ["self", "axis1", "axis2"]
    assert fe.ones((2, 3, 4)).swapaxes(axis2=2, axis1=0).shape == (4, 3, 2)
    x = fe.asarray([1.5])
    assert x.astype(dtype="float32", copy=False) is x
    assert x.astype("int32").dtype == "int32"


def test_a_method_of_a_function_is_documented_as_a_method() -> None:
    text = inspect.getdoc(fe.Array.swapaxes) or ""
    assert "axis1, axis2 : int\n" in text
    assert "x : Array" not in text
    assert ">>> fe.ones((2, 3, 4)).swapaxes(0, 2).shape\n" in text
    assert "Parameters" not in (inspect.getdoc(fe.Array.conj) or "")
