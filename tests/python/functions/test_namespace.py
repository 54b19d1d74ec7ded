"""The public names of `import ferrule`: all exist and are documented, and no others are visible."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
import pytest

PACKAGES = ("functions", "linalg", "fft", "random")


def test_dir_lists_the_public_names() -> None:
    assert dir(fe) == sorted(fe.__all__)
    assert len(set(fe.__all__)) == len(fe.__all__)


@pytest.mark.parametrize("name", ["fft", "io", "linalg", "random"])
def test_dir_of_a_module_lists_its_public_names(name: str) -> None:
    module = getattr(fe, name)
    assert dir(module) == sorted(module.__all__)
    assert all(getattr(module, public).__doc__ for public in dir(module))


def test_every_public_name_exists_with_a_docstring() -> None:
    for name in fe.__all__:
        value = getattr(fe, name)
        if callable(value):
            assert value.__doc__, name


def package_of(function: Any) -> str:
    return str(inspect.unwrap(function).__module__).split(".")[1]


def test_the_page_of_functions_lists_each_once() -> None:
    page = Path(__file__).resolve().parents[3] / "docs/use/functions.md"
    listed = re.findall(r"^\| `([\w.]+)\(", page.read_text("utf-8"), re.MULTILINE)
    public: dict[Any, str] = {}
    for prefix, module in (("linalg.", fe.linalg), ("fft.", fe.fft), ("random.", fe.random), ("", fe)):
        public |= {getattr(module, name): prefix + name for name in module.__all__}
    functions = {function: name for function, name in public.items() if inspect.isfunction(function)}
    assert sorted(listed) == sorted(name for f, name in functions.items() if package_of(f) in PACKAGES)


@pytest.mark.parametrize("axes", [None, (0, 2, 1), [-1, 0, 1]])
def test_transpose_works_and_is_no_public_name(axes: Any) -> None:
    """xarray calls it, for which the standard has permute_dims."""
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(np.asarray(fe.transpose(fe.asarray(x), axes)), np.transpose(x, axes))
    assert "transpose" not in {*fe.__all__, *dir(fe)}
    with pytest.raises(fe.InvalidArgumentError, match=r"^transpose: "):
        fe.transpose(fe.asarray(x), (0, 1))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(fe, "unique_rows")  # absent, never a stub
