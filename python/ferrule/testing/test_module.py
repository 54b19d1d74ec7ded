"""A module file against the binary interface: what its file says, then what its slots do."""

from __future__ import annotations

from pathlib import Path

import pytest

from ferrule.testing import module_file, module_slots


@pytest.mark.parametrize("check", module_file.CHECKS)
def test_file(ferrule_module: Path, check: str) -> None:
    try:
        problems = module_file.CHECKS[check](ferrule_module)
    except module_file.NotChecked as reason:
        pytest.skip(f"not checked: {reason}")
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("check", [check.name for check in module_slots.checks()])
def test_slots(ferrule_module: Path, check: str) -> None:
    result = module_slots.run(ferrule_module, check)
    if result.outcome == "not applicable":
        pytest.skip(f"not applicable: {'; '.join(result.sentences)}")
    assert result.outcome == "passed", str(result)
