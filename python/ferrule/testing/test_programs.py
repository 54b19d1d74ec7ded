"""Random programs on each device under test, computed in several ways and compared with NumPy: docs/develop/kit.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrule.testing.program_parts import parts_of

if TYPE_CHECKING:
    from ferrule.testing.kit import Subject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kit: Any = metafunc.config.pluginmanager.get_plugin("ferrule-kit")
    if kit is None:
        return
    subjects = [subject for subject in kit.subjects if subject.error is None]
    pairs = [(subject, part) for subject in subjects for part in parts_of(subject.target.level)]
    metafunc.parametrize(("subject", "part"), pairs, ids=[f"{subject.name}-{part}" for subject, part in pairs])


def test_programs(subject: Subject, part: int, request: pytest.FixtureRequest) -> None:
    """Tests the compiler's passes, views, updates and constants with random programs on the device."""
    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    kit.run_programs(subject, part, request)
