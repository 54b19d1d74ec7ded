"""Initialization when ferrule is imported: the extension's main thread and log function, and shorter tracebacks."""

from __future__ import annotations

import copyreg
import os
import threading
from operator import attrgetter
from typing import TYPE_CHECKING

from ferrule import _ferrule
from ferrule.later import later
from ferrule.process import tracebacks

if TYPE_CHECKING:
    from ferrule.process import log_lines
    from ferrule.text import argument_names
else:
    argument_names = later("ferrule.text.argument_names")
    log_lines = later("ferrule.process.log_lines")  # late, because it imports `logging`


def _deliver_log_line(level: int, message: str) -> None:
    log_lines.deliver(level, message)


def prepare_extension() -> None:
    """Initialize the extension, and tracebacks. Called once, when ferrule is imported."""
    _ferrule.set_main_thread(threading.main_thread().ident or 0)
    if hasattr(os, "register_at_fork"):  # the child's main thread is the one that forked
        os.register_at_fork(after_in_child=lambda: _ferrule.set_main_thread(threading.get_ident()))
    _ferrule.set_log_function(_deliver_log_line)
    _ferrule.set_call_advice(lambda *call: argument_names.advice(*call))
    copyreg.pickle(_ferrule.PublicFunction, attrgetter("__qualname__"))  # pickle and copy find it by its name
    tracebacks.install()
