"""Constants of the core that the Python package has copies of, as the extension does not pass them."""

from __future__ import annotations

import re
from pathlib import Path

from ferrule.array.host_memory import MAX_DIMENSIONS
from ferrule.loading.devices import DEVICE_KINDS

CSRC = Path(__file__).resolve().parents[3] / "csrc"


def test_kinds_of_device_are_those_of_the_core() -> None:
    source = (CSRC / "core/registry/device_kind.cpp").read_text(encoding="utf-8")
    [names] = re.findall(r"kind_names = \{([^}]*)\}", source)
    assert tuple(re.findall(r'"(\w+)"', names)) == DEVICE_KINDS


def test_dimensions_are_limited_as_in_the_core() -> None:
    header = (CSRC / "sdk/ferrule/types.h").read_text(encoding="utf-8")
    [limit] = re.findall(r"#define FE_MAX_RANK (\d+)", header)
    assert int(limit) == MAX_DIMENSIONS
