"""What ferrule's own modules take. The kit lists what a device does not support; of ours it is known."""

from __future__ import annotations

from ferrule.testing.kit import subjects_of
from ferrule.testing.target import Target


def test_the_cpu_module_takes_every_case() -> None:
    for subject in subjects_of([Target("device", "cpu")], limit=60.0):
        try:
            assert subject.error is None
            refused = {name: answer.reason for name, answer in subject.support.items() if not answer.supported}
            assert refused == {}
        finally:
            subject.child.close()
