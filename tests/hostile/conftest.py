"""Fixtures of the tests of hostile modules, which run against the installed package: `./dev hostile`."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest
from zoo.creature import PACKAGE
from zoo.visitor import Visitor


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--zoo-seen", metavar="FOLDER", help="write what is said of each creature there, for its table")


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
def seen(request: pytest.FixtureRequest) -> Path | None:
    folder = request.config.getoption("--zoo-seen")
    if folder is None:
        return None
    os.makedirs(folder, exist_ok=True)
    return Path(folder)


@pytest.fixture
def visitor(tmp_path: Path) -> Visitor:
    (tmp_path / "home").mkdir()
    return Visitor(tmp_path / "home")


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """Descriptors and threads of a process that loaded no hostile module."""
    home = tmp_path_factory.mktemp("undisturbed")
    empty = tmp_path_factory.mktemp("empty")
    visit = Visitor(home).visit(empty)
    assert visit.left == []
    return {key: visit.told[key] for key in ("descriptors", "threads")}
