"""The public names of `import ferrule`: all exist and are documented, and no others are visible."""

from __future__ import annotations

import ferrule as fe


def test_dir_is_what_is_public() -> None:
    assert dir(fe) == sorted(fe.__all__)
    assert len(set(fe.__all__)) == len(fe.__all__)


def test_every_name_is_there_and_says_what_it_is() -> None:
    for name in fe.__all__:
        value = getattr(fe, name)
        if callable(value):
            assert value.__doc__, name


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(fe, "unique_all")  # absent, never a stub
