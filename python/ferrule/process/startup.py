"""What the extension is told of this process when ferrule is imported: its main thread, and where log lines go."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.later import later

if TYPE_CHECKING:
    from ferrule.process import log_lines
else:
    log_lines = later("ferrule.process.log_lines")  # it imports `logging`


def _deliver_log_line(level: int, message: str) -> None:
    log_lines.deliver(level, message)


def prepare_extension() -> None:
    """Called once, when ferrule is imported."""
    _ferrule.set_main_thread(threading.main_thread().ident or 0)
    _ferrule.set_log_function(_deliver_log_line)
