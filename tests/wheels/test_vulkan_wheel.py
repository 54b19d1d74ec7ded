"""The wheel of the Vulkan backend, installed beside ferrule."""

from __future__ import annotations

from pathlib import Path

from backend_wheels import Environment

LOADED = """
import ferrule as fe
[row] = [row for row in fe.load_all().candidates if row.name == "vulkan"]
print(row.state, "|", row.reason)
print((fe.ones(3, device="vulkan") + 1).sum().item())
"""


# Probed in its own process, because it was not installed with ferrule.
def test_the_installed_backend_computes(tmp_path: Path) -> None:
    environment = Environment(tmp_path / "environment")
    environment.pip("install", "ferrule[vulkan]")
    row, total = environment.run(LOADED).splitlines()
    assert row == "loaded | "
    assert total == "6.0"
