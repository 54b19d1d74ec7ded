"""Tests each op of each device: `pytest --pyargs ferrule.testing`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from ferrule.op_rows import OP_ROWS

if TYPE_CHECKING:
    from ferrule.testing.kit import Item, Subject


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    kit: Any = metafunc.config.pluginmanager.get_plugin("ferrule-kit")
    if kit is None:
        return
    if "item" in metafunc.fixturenames:
        items = list(kit.items())
        metafunc.parametrize("item", items, ids=[item.id for item in items])
    elif "op" in metafunc.fixturenames:
        pairs = [
            (subject, op)
            for subject in kit.subjects
            if subject.error is None
            for op in subject.ops or OP_ROWS
            if op in subject.declared or not subject.supported(op, whole=True)
        ]
        metafunc.parametrize(("subject", "op"), pairs, ids=[f"{subject.name}-{op}" for subject, op in pairs])
    elif "subject" in metafunc.fixturenames:
        metafunc.parametrize("subject", kit.subjects, ids=[subject.name for subject in kit.subjects])


def test_opens(subject: Subject) -> None:
    """The module loads and has a device."""
    if subject.error is not None:
        pytest.fail(f"{subject.target.value}: {subject.error}", pytrace=False)
    assert subject.device


def test_listed(subject: Subject, op: str, request: pytest.FixtureRequest) -> None:
    """List what the device does not support; fail if its manifest declares the op and no case is supported."""
    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    kit.list_unsupported(subject, op, request)


def test_op(item: Item, request: pytest.FixtureRequest) -> None:
    kit: Any = request.config.pluginmanager.get_plugin("ferrule-kit")
    kit.check(item, request)
