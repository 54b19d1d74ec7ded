"""Fixtures of the tests of hostile modules, which run against the installed package: `./dev hostile`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from hostile_modules.hostile_module import PACKAGE
from hostile_modules.load_runner import LoadRunner


@pytest.fixture(scope="session", autouse=True)
def package() -> Path:
    """The folder of the installed package, whose headers the hostile modules are compiled with."""
    spec = importlib.util.find_spec("ferrule")
    assert spec is not None
    assert spec.origin is not None
    folder = Path(spec.origin).parent
    os.environ[PACKAGE] = str(folder)
    return folder


@pytest.fixture
def runner(tmp_path: Path) -> LoadRunner:
    (tmp_path / "home").mkdir()
    return LoadRunner(tmp_path / "home")


@pytest.fixture(scope="session")
def clean_process(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Descriptors and threads of a process that loaded no hostile module."""
    home = tmp_path_factory.mktemp("clean_process")
    empty = tmp_path_factory.mktemp("empty")
    result = LoadRunner(home).load(empty)
    assert result.left == []
    return {key: result.reported[key] for key in ("descriptors", "threads")}
