"""Runs Python programs in their own process, in which ferrule finds the Vulkan module."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import backend_processes

# The module's row in a report.
ROW = """
[row] = [row for row in fe.load_all().candidates if row.name == "vulkan"]
print(row.state, "|", row.reason)
"""


class Processes(backend_processes.Processes):
    """With Vulkan's validation layer, whose messages are in the log, too."""

    SETTINGS: ClassVar[Mapping[str, str]] = {"FERRULE_VULKAN_VALIDATE": "1"}
