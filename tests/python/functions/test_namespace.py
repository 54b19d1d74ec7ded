"""The public names of `import ferrule`: all exist and are documented, and no others are visible."""

from __future__ import annotations

from typing import Any

import ferrule as fe
import numpy as np
import pytest


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
