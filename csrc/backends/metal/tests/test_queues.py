"""Queues that wait for each other: the waits end, and errors stay with the queue whose work failed."""

from __future__ import annotations

from pathlib import Path

import pytest
from ferrule.testing import module_slots


@pytest.mark.parametrize("check", ["queue_wait_event.errors", "event_errors"])
def test_error_of_an_execution_is_that_of_its_own_event_alone(check: str, module: Path) -> None:
    result = module_slots.run(module, check)
    assert result.outcome == "passed", result


def test_work_on_one_memory_is_in_order_whatever_the_buffer(module: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FERRULE_EMULATION_METAL_DELAY_MICROSECONDS", "1000")
    result = module_slots.run(module, "queue_memory", seed=0, time_limit=60.0)
    assert result.outcome == "passed", result.sentences


@pytest.mark.parametrize(("number", "verb"), [(1, "copies"), (42, "reads")])
def test_queue_that_waits_for_a_command_buffer_that_failed_goes_on(
    number: int, verb: str, module: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Metal signals no event of such a command buffer: each of these is the last that the other queue waits for. The
    host asks whether the copy of that queue is done, and is blocked by what reads."""
    monkeypatch.setenv("FERRULE_EMULATION_METAL_FAULT", f"page_fault:{number}")
    # A wait that does not end is a timeout, which is then the first problem.
    result = module_slots.run(module, "queue_wait_event")
    of_bytes, of_copy = result.sentences
    assert of_bytes.startswith(f"what a queue {verb} that has waited for another's event")
    assert of_copy.startswith("a copy: internal")
    assert "PageFault" in of_copy
