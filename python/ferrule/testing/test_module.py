"""Tests each module against the binary interface: its file, then its slots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrule.testing import module_slots
from ferrule.tools import module_file

if TYPE_CHECKING:
    from ferrule.testing.kit import Subject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kit: Any = metafunc.config.pluginmanager.get_plugin("ferrule-kit")
    if kit is None:
        return
    modules = {subject.module: subject for subject in kit.subjects if subject.module}
    checks = module_file.CHECKS if metafunc.function is test_file else [c.name for c in module_slots.checks()]
    pairs = [(subject, check) for subject in modules.values() for check in checks]
    metafunc.parametrize(("subject", "check"), pairs, ids=[f"{subject.name}-{check}" for subject, check in pairs])


def test_file(subject: Subject, check: str, request: pytest.FixtureRequest) -> None:
    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    kit.check_file(subject, check, request)


def test_slots(subject: Subject, check: str, request: pytest.FixtureRequest) -> None:
    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    kit.check_slots(subject, check, request)
